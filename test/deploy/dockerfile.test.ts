/** deploy/Dockerfile, without a container engine: what it copies exists, and the program runs from just that as the last stage starts it. */
import { execFile as execFileCallback, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDir } from '../support/database.ts';
import { keepablePort } from '../support/ports.ts';

const execFile = promisify(execFileCallback);
const root = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8');

/** Instructions with their words, continued lines joined. */
const INSTRUCTIONS = read('Dockerfile')
  .replace(/^\s*#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => ({ name: line.slice(0, line.indexOf(' ')), text: line.slice(line.indexOf(' ') + 1) }));
const LAST_STAGE = INSTRUCTIONS.slice(INSTRUCTIONS.findLastIndex(({ name }) => name === 'FROM'));
const textsOf = (list: typeof INSTRUCTIONS, wanted: string) => list.filter(({ name }) => name === wanted).map(({ text }) => text);
const last = (wanted: string) => textsOf(LAST_STAGE, wanted).at(-1) ?? '';

/** `!name` lets a name in that an earlier line keeps out. */
function isIgnored(path: string): boolean {
  let ignored = false;
  for (const line of read('Dockerfile.dockerignore').split('\n')) {
    const pattern = line.trim().replace(/^!/, '').replace(/\/$/, '');
    if (pattern === '' || pattern.startsWith('#')) continue;
    const matcher = new RegExp(
      `^${pattern
        .replace(/[.+]/g, '\\$&')
        .replace(/\*\*\/?/g, '§')
        .replace(/\*/g, '[^/]*')
        .replace(/§/g, '(?:.*/)?')}(?:/|$)`,
    );
    if (matcher.test(path)) ignored = !line.trim().startsWith('!');
  }
  return ignored;
}

test('is Debian 13 with Node 24 in all stages, and not root in the last', () => {
  for (const image of textsOf(INSTRUCTIONS, 'FROM')) expect(image).toMatch(/^node:24-trixie/);
  expect(last('USER')).toBe('node');
  expect(last('VOLUME')).toBe('/data');
  // Nothing is installed or changed as root after the user has changed.
  expect(LAST_STAGE.findIndex(({ name }) => name === 'RUN')).toBeLessThan(LAST_STAGE.findIndex(({ name }) => name === 'USER'));
});

/** What the COPY instructions of the first stage take from the repository, as the ignore file leaves it. */
function contextOf(): readonly string[] {
  const sources = textsOf(INSTRUCTIONS, 'COPY')
    .filter((text) => !text.startsWith('--from'))
    .flatMap((text) => text.split(' ').slice(0, -1));
  return sources.flatMap((source) => {
    const folder = dirname(source);
    const name = new RegExp(`^${basename(source).replace(/[.]/g, '\\.').replace(/\*/g, '.*')}$`);
    const found = readdirSync(join(root, folder))
      .filter((entry) => name.test(entry))
      .map((entry) => join(folder, entry));
    expect(found.filter((path) => !isIgnored(path)).length, source).toBeGreaterThan(0);
    return found.filter((path) => !isIgnored(path));
  });
}

test('ignores what the image does not need', () => {
  for (const path of ['node_modules', 'data', 'test/app', 'bench/main.ts', '.git']) expect([path, isIgnored(path)]).toEqual([path, true]);
});

test('builds from what it copies; the program runs from the last stage alone, writes nowhere but in its data folder, and says when it is healthy', async () => {
  const folder = temporaryDir();
  const built = await build(join(folder.path, 'build'));
  const app = join(folder.path, 'easel');
  mkdirSync(app);
  for (const text of textsOf(LAST_STAGE, 'COPY')) {
    const target = join(app, text.split(' ').at(-1) ?? '');
    if (text.includes('/easel/dist')) cpSync(built, target, { recursive: true });
    else if (text.includes('/easel/node_modules')) symlinkSync(join(root, 'node_modules'), target);
    else
      cpSync(
        join(root, text.includes('package.json') ? 'package.json' : 'LICENSE'),
        join(app, text.includes('package.json') ? 'package.json' : 'LICENSE'),
      );
  }
  const before = treeOf(app);
  const [node = '', ...args] = JSON.parse(last('CMD')) as string[];
  expect([node, existsSync(join(app, args.at(-1) ?? ''))]).toEqual(['node', true]);
  const set = Object.fromEntries(
    last('ENV')
      .split(' ')
      .map((pair) => pair.split('=')),
  ) as Record<string, string>;
  expect(set).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0', DATA_DIR: '/data' });
  const env = {
    PATH: process.env.PATH,
    ...set,
    HOST: '127.0.0.1',
    PORT: String(await keepablePort()),
    DATA_DIR: join(folder.path, 'data'),
  };
  const child = spawn(process.execPath, args, { cwd: app, env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    folder.remove();
  });
  const [, check = ''] = /CMD (\[.*\])$/.exec(last('HEALTHCHECK')) ?? [];
  const [, ...words] = JSON.parse(check) as string[];
  const isHealthy = () =>
    execFile(process.execPath, words, { env }).then(
      () => true,
      () => false,
    );
  await expect.poll(isHealthy, { interval: 200 }).toBe(true);
  child.kill(last('STOPSIGNAL') as NodeJS.Signals);
  expect((await ended)[0]).toBe(0);
  expect(treeOf(app)).toEqual(before);
});

/** Runs the command of the first stage that builds. Returns the folder of the program. */
async function build(folder: string): Promise<string> {
  for (const path of contextOf()) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const [, command = ''] = /(node deploy\/build\.mjs [^&]*)/.exec(textsOf(INSTRUCTIONS, 'RUN').join('\n')) ?? [];
  const [, ...words] = command.trim().split(' ');
  await execFile(process.execPath, words, { cwd: folder });
  return join(folder, 'dist');
}

function treeOf(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('node_modules'))
    .map((path) => `${path} ${statSync(join(directory, path)).mtimeMs}`)
    .sort();
}
