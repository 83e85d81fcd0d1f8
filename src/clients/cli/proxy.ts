/** proxy: read, hosts. */
import { type Command, InvalidArgumentError } from 'commander';
import { artifactIdOf, artifactOption } from './artifact-name.ts';
import type { OpenSession, Session } from './session.ts';

type Config = Awaited<ReturnType<Session['api']['proxy']['getConfig']>>['body']['data'];

interface Of {
  readonly artifact?: string;
}

async function read(session: Session, url: string, { artifact }: Of): Promise<void> {
  const artifactId = await artifactIdOf(session, artifact);
  const { body, status, headers } = await session.api.proxy.get({ params: { artifactId }, query: { url }, signal: session.shell.signal });
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body);
  const type = headers.get('content-type');
  const cache = headers.get('x-proxy-cache');
  if (session.json) {
    session.answer({ status, content_type: type, cache, size_bytes: bytes.length, body_base64: bytes.toString('base64') }, '');
    return;
  }
  session.shell.stdout.write(bytes);
  session.remark(`${status} ${type ?? ''} (${cache ?? 'not kept'})`);
}

function textOf({ hosts, cacheS }: Config): string {
  const allowed = hosts === 'any' ? 'any host of the public internet' : hosts.length === 0 ? 'no host' : hosts.join('\n  ');
  return `The page may read\n  ${allowed}\nAnswers that do not say how long they are fresh are kept for ${cacheS} s.`;
}

interface HostsOptions extends Of {
  readonly any?: boolean;
  readonly none?: boolean;
  readonly cache?: number;
}

async function hosts(session: Session, given: readonly string[], { artifact, any, none, cache }: HostsOptions): Promise<void> {
  const { signal } = session.shell;
  const params = { artifactId: await artifactIdOf(session, artifact) };
  const before = (await session.api.proxy.getConfig({ params, signal })).body.data;
  const wanted = any ? 'any' : none ? [] : given.length > 0 ? [...given] : undefined;
  if (wanted === undefined && cache === undefined) return session.answer(before, textOf(before));
  const body = { hosts: wanted ?? before.hosts, cacheS: cache ?? before.cacheS };
  const after = (await session.api.proxy.putConfig({ params, body, signal })).body.data;
  session.answer(after, textOf(after));
}

function secondsOf(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of seconds.');
}

export function addProxyCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Automation');
  const group = program
    .command('proxy')
    .summary('what a page may read of other hosts')
    .description('Reads other hosts as a page does, and sets which it may read.');
  group
    .command('read')
    .summary('read a URL as the page does')
    .description('Writes what a host answers to standard output.')
    .argument('<url>', 'of http or https')
    .addOption(artifactOption())
    .addHelpText('after', '\nExample:\n  easel proxy read https://api.example.com/weather -a my-site')
    .action(async (url, options, command) => read(await open(command), url, options));
  group
    .command('hosts')
    .summary('show or set the hosts that the page may read')
    .description('Shows which hosts the page may read. With hosts, or an option, sets them.')
    .argument('[hosts...]', 'names such as api.example.com, or *.example.com for all below it')
    .addOption(artifactOption())
    .option('--any', 'every host of the public internet')
    .option('--none', 'no host')
    .option('--cache <seconds>', 'how long answers are kept that do not say it themselves', secondsOf)
    .addHelpText(
      'after',
      '\nExamples:\n  easel proxy hosts -a my-site\n  easel proxy hosts api.example.com *.example.org -a my-site --cache 60',
    )
    .action(async (given, options, command) => hosts(await open(command), given, options));
}
