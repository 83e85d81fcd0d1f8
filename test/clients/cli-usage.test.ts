/** The command line without a service: help, wrong usage, folders that cannot be published. */
import { mkdir, symlink } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../../src/clients/cli/program.ts';
import { type CommandLine, commandLine } from './command-line.ts';
import { runInProcess, shellOf } from './in-process.ts';

let easel: CommandLine;
let address: string;

/** An address where nothing listens: that of a server that was just closed. */
async function closedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

beforeAll(async () => {
  address = await closedAddress();
  easel = await commandLine(address);
});
afterAll(() => easel.close());

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runInProcess(args, { HOME: easel.home, EASEL_URL: address, ...env });

describe('help', () => {
  it('is the same guide without arguments, with help and with --help', async () => {
    const pages = await Promise.all([[], ['help'], ['--help']].map((args) => run(args)));
    const [first] = pages;
    expect(pages).toEqual(Array(3).fill({ code: 0, out: first?.out, err: '' }));
    await expect(first?.out).toMatchFileSnapshot('fixtures/help.txt');
  });

  it('is printed by the built program too', async () => {
    expect(await easel.run([])).toEqual(await run([]));
  });

  it('has a description and examples for every command', async () => {
    const leaves = (command: Command): Command[] => (command.commands.length === 0 ? [command] : command.commands.flatMap(leaves));
    const program = buildProgram(shellOf({}).shell, false);
    const nameOf = (command: Command): string =>
      command.parent === program || command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
    const names = leaves(program).map(nameOf);
    expect(names.length).toBeGreaterThan(40);
    for (const name of names) {
      const { code, out } = await run([...name.split(' '), '--help']);
      const found = { code, hasExample: out.includes(`\n  easel ${name}`), hasDescription: /^Usage: .*\n\n[A-Z]/.test(out) };
      expect({ name, ...found }).toEqual({ name, code: 0, hasExample: true, hasDescription: true });
    }
  });
});

describe('wrong usage exits with 2 and a hint', () => {
  it.each([
    [['publihs'], 'Did you mean publish?'],
    [['ls', '--nope'], "Unknown option '--nope'"],
    [['ls', '--limit', '0'], 'at least 1'],
    [['rollback'], "Missing required argument 'version'"],
    [['rollback', 'yesterday'], '"yesterday" is not a version'],
    [['data'], 'A command is missing'],
    [['data', 'set', 'key'], 'Give either a value or --file'],
    [['data', 'set', 'key', '--file', 'nope.json', '-a', `art_${'a'.repeat(24)}`], 'There is no file "nope.json"'],
    [['data', 'patch', 'key', '{nope'], 'The patch is not JSON'],
    [['data', 'patch', 'key', '{}', '--remove'], 'Give one change'],
    [['data', 'rm', '--all'], 'cannot be undone'],
    [['data', 'rm'], 'Give either a key or --all'],
    [['visibility', 'everyone'], 'private, workspace, public, password'],
    [['login', '--token', 'password'], 'A token begins with so_'],
    [['login', '--headless', '--token', 'so_x'], '--headless makes a new account'],
    [['whoami', '--url', 'ftp://x'], 'not the address of a server'],
    [['help', 'nosuch'], 'There is no command "nosuch"'],
    [['help', 'data', 'nosuch'], 'There is no command "data nosuch"'],
    [['data', 'help', 'nosuch'], 'It has: get, ls, set, patch, rm'],
    [['data', 'set', 'key', '--file', '.', '-a', `art_${'a'.repeat(24)}`], '"." cannot be read: it is a folder'],
    [['import', '.'], '"." cannot be read: it is a folder'],
    [['import', 'nope.zip'], 'There is no file "nope.zip"'],
    [['ls', '--account', 'nobody'], 'is saved on this machine'],
    [['logout', '--all'], 'Add --yes'],
    [['publish', 'nowhere'], 'There is no folder or file "nowhere"'],
  ])('%j', async (args, words) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(words);
  });

  it('prints it as one JSON document on standard error with --json', async () => {
    const { code, out, err } = await run(['rollback', 'yesterday', '--json']);
    expect({ code, out, report: JSON.parse(err) }).toEqual({
      code: 2,
      out: '',
      report: {
        success: false,
        error: '"yesterday" is not a version number.',
        code: 'INVALID_VERSION',
        hint: 'Give its number, for example 3; "easel versions" lists them.',
        exit_code: 2,
      },
    });
  });
});

describe('publish fails before it sends anything for', () => {
  it.each([
    ['empty', {}, 'contains no files to publish'],
    ['only-hidden', { '.env': 'SECRET=1', 'node_modules/a/index.html': '' }, 'contains no files to publish'],
    ['no-index', { 'a.html': '', 'b.html': '' }, 'Found: a.html, b.html'],
    ['unbuilt', { 'src/a.ts': '', 'dist/index.html': '' }, 'easel publish '],
    ['large', { 'index.html': '', 'film.mp4': Buffer.alloc(25 * 1024 * 1024 + 1) }, 'film.mp4 has 25 MB'],
  ])('%s', async (name, files, words) => {
    await mkdir(join(easel.home, name));
    await easel.write(Object.fromEntries(Object.entries(files).map(([path, content]) => [`${name}/${path}`, content])));
    const { code, err } = await run(['publish', join(easel.home, name)]);
    expect(code).toBe(2);
    expect(err).toContain(words);
  });

  it('more than 1000 files', async () => {
    const files = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`many/${index}.txt`, '']));
    await easel.write(files);
    const { code, err } = await run(['publish', join(easel.home, 'many')]);
    expect(code).toBe(2);
    expect(err).toContain('more than 1000 files');
  });

  it('a file that is not a page', async () => {
    await easel.write({ 'notes.txt': 'x' });
    const { code, err } = await run(['publish', join(easel.home, 'notes.txt')]);
    expect(code).toBe(2);
    expect(err).toContain('neither a folder nor an .html file');
  });

  it('an entry page that does not exist', async () => {
    await easel.write({ 'entry/index.html': '' });
    const { code, err } = await run(['publish', join(easel.home, 'entry'), '--entry', 'start.html']);
    expect(code).toBe(2);
    expect(err).toContain('no file "start.html"');
  });
});

describe('environment', () => {
  it('exits with 7 and a hint if nothing listens at the address', async () => {
    const { code, err } = await run(['whoami']);
    expect(code).toBe(7);
    expect(err).toContain(`${address}. Nothing is listening there.`);
    expect(err).toContain('Start the server');
  });

  it('exits with 4 if the folder was never published', async () => {
    const { code, err } = await easel.run(['versions']);
    expect(code).toBe(4);
    expect(err).toContain('easel publish');
  });

  it('names a credentials file that is not valid', async () => {
    await easel.write({ 'broken/easel/credentials.json': '{"token":' });
    const { code, err } = await run(['whoami'], { XDG_CONFIG_HOME: join(easel.home, 'broken') });
    expect(code).toBe(2);
    expect(err).toContain(join(easel.home, 'broken/easel/credentials.json'));
  });

  it('names a circular link, or a folder in place of a file, and says why it cannot be used', async () => {
    await symlink('loop.json', join(easel.home, 'loop.json'));
    const looped = await run(['data', 'set', 'key', '--file', join(easel.home, 'loop.json'), '-a', `art_${'a'.repeat(24)}`]);
    expect([looped.code, looped.err]).toEqual([2, expect.stringContaining('loop.json" cannot be read: it is a circular symbolic link')]);
    await easel.write({ 'odd/index.html': '', 'odd/.easelignore/x': '' });
    const odd = await run(['publish', join(easel.home, 'odd')]);
    expect([odd.code, odd.err]).toEqual([2, expect.stringContaining('.easelignore" cannot be read: it is a folder')]);
    await mkdir(join(easel.home, 'strange/easel/credentials.json'), { recursive: true });
    const strange = await run(['whoami'], { XDG_CONFIG_HOME: join(easel.home, 'strange') });
    expect([strange.code, strange.err]).toEqual([2, expect.stringContaining('credentials.json" cannot be read: it is a folder')]);
  });

  it('excludes symbolic links, which can point outside the folder, and says so', async () => {
    await easel.write({ 'links/index.html': '' });
    await symlink('/etc/hostname', join(easel.home, 'links/host.txt'));
    const { err } = await run(['publish', join(easel.home, 'links')]);
    expect(err).toContain('Left out 1 symbolic link.');
  });
});
