/** jobs test: runs a script on this machine, in the sandbox of the service, and shows what it would do. */
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { RehearsalWorld, Would } from '../../features/automation/scripts/rehearsal-world.ts';
import type { ScriptOutcome, ScriptSandbox } from '../../features/automation/scripts/sandbox.ts';
import { bodyTextOf, type ScriptWorld, type WorldCall } from '../../features/automation/scripts/world.ts';
import { artifactIdOf } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { readGiven } from './given-files.ts';
import type { OpenSession, Session } from './session.ts';
import { countText } from './text.ts';

interface TestOptions {
  readonly artifact?: string;
  readonly params?: string;
}

/** Longer values are cut in what is printed for people. */
const SHOWN_CHARS_MAX = 200;

export function addJobTestCommand(group: Command, open: OpenSession): void {
  group
    .command('test')
    .summary('try a script on this machine')
    .description(
      'Runs the script of a job in the same sandbox as the service, and shows what it would write and call. Nothing is changed and no other host is called: easel.fetch gets an empty answer.',
    )
    .argument('<script>', 'the file; its text is the body of an async function')
    .option('-a, --artifact <artifact>', 'slug or id of the artifact whose data it reads (default: one without data)')
    .option('--params <json>', 'the global "params" (default: null)')
    .addHelpText(
      'after',
      '\nExamples:\n  easel jobs test nightly.js --artifact my-site\n  easel jobs test nightly.js --params \'{"days": 7}\'',
    )
    .action(async (file, options, command) => test(await open(command), file, options));
}

async function test(session: Session, file: string, options: TestOptions): Promise<void> {
  const source = (await readGiven(file)).toString('utf8');
  const params = paramsOf(options.params);
  const artifactId = options.artifact === undefined ? undefined : await artifactIdOf(session, options.artifact);
  // Loaded here, because no other command needs it.
  const [{ ScriptSandbox: Sandbox }, { RehearsalWorld: World }, { EMPTY_ARTIFACT }, { systemClock }] = await Promise.all([
    import('../../features/automation/scripts/sandbox.ts'),
    import('../../features/automation/scripts/rehearsal-world.ts'),
    import('../../features/automation/scripts/rehearsal/empty-artifact.ts'),
    import('../../platform/clock.ts'),
  ]);
  const real = artifactId === undefined ? undefined : new RealArtifact(session, artifactId);
  const world = new World(real ?? EMPTY_ARTIFACT);
  const log = { error: (details: object) => session.remark(JSON.stringify(details)) };
  const sandbox = new Sandbox({ builtDir: fileURLToPath(new URL('.', import.meta.url)), clock: systemClock, log, threads: 1 });
  const outcome = await runIn(sandbox, { source, params, world, signal: session.shell.signal });
  if (real?.failure !== undefined) throw real.failure;
  say(session, outcome, world.would());
}

async function runIn(
  sandbox: ScriptSandbox,
  run: { source: string; params: unknown; world: RehearsalWorld; signal: AbortSignal },
): Promise<ScriptOutcome> {
  try {
    return await sandbox.run(run, '');
  } finally {
    await sandbox.close();
  }
}

function say(session: Session, outcome: ScriptOutcome, would: Would): void {
  const { ok, value, output, error } = outcome;
  const lines = [
    ...(output === '' ? [] : [output]),
    ...(value === null ? [] : [`Returned: ${short(value)}`]),
    ...would.write.map(
      ({ channel, name, before, after }) => `Would write ${channel} ${name}: ${short(text(before))} -> ${short(text(after))}`,
    ),
    ...would.call.map(({ method, url }) => `Would call ${method} ${url}`),
    `${countText(outcome.calls, 'call')}, ${countText(would.write.length, 'change')}.`,
  ];
  session.answer({ ok, value, output, error, calls: outcome.calls, would }, lines.join('\n'));
  if (error === null) return;
  const where = error.line === undefined ? '' : ` (line ${error.line})`;
  throw new CliFailure('unexpected', error.code, `The script failed: ${error.message}${where}`);
}

/** The data of an artifact by the API, as the caller sees it. */
class RealArtifact implements Pick<ScriptWorld, 'call'> {
  /** The first call that got no answer. */
  failure: unknown;
  readonly #session: Session;
  readonly #artifactId: string;

  constructor(session: Session, artifactId: string) {
    this.#session = session;
    this.#artifactId = artifactId;
  }

  async call(call: WorldCall) {
    const { method, path, headers } = call;
    const body = bodyTextOf(call);
    const { url, token, shell } = this.#session;
    const own = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    try {
      const reply = await fetch(`${url}/v1/data/${this.#artifactId}${path}`, {
        method,
        headers: { ...own, ...headers },
        signal: shell.signal,
        ...(body !== undefined && { body }),
      });
      return { status: reply.status, body: (await reply.json()) as unknown };
    } catch (error) {
      this.failure ??= new CliFailure('network', 'NETWORK_ERROR', `${url} did not answer.`, 'Check the address and the connection.');
      throw error;
    }
  }
}

function paramsOf(given: string | undefined): unknown {
  if (given === undefined) return null;
  try {
    return JSON.parse(given);
  } catch {
    throw new CliFailure('usage', 'INVALID_JSON', 'The params are not JSON.', 'For example: --params \'{"days": 7}\'');
  }
}

function text(value: unknown): string {
  return value === null ? 'nothing' : JSON.stringify(value);
}

function short(value: string): string {
  return value.length > SHOWN_CHARS_MAX ? `${value.slice(0, SHOWN_CHARS_MAX)}...` : value;
}
