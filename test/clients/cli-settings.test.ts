/** The command line changes of its files on this machine what it has to, and nothing else. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type CommandLine, commandLine } from './command-line.ts';

// Every step starts a process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

let service: TestEasel;
let easel: CommandLine;
beforeAll(async () => {
  service = await startTestEasel();
  easel = await commandLine();
});
afterAll(async () => {
  await easel?.close();
  await service?.close();
});

const stored = async (path: string) => JSON.parse(await readFile(join(easel.home, path), 'utf8'));
const CONFIG = '.config/easel/config.json';

test('[W7] settings of this machine and of a folder that the command line does not know stay as they are', async () => {
  const { token } = await service.newUser('pro');
  await easel.write({ [CONFIG]: JSON.stringify({ url: 'http://127.0.0.1:9', editor: 'vi', proxy: { host: 'localhost' } }) });
  await easel.json(['login', '--token', token, '--url', service.baseUrl]);
  expect(await stored(CONFIG)).toEqual({ url: service.baseUrl, editor: 'vi', proxy: { host: 'localhost' } });

  const site = join(easel.home, 'site');
  await easel.write({
    'site/index.html': '<h1>one</h1>',
    'site/.easel.json': JSON.stringify({
      notes: ['ours'],
      publications: [{ server: 'https://easel.example', source: '.', artifact_id: 'art_elsewhere', slug: 'elsewhere', theme: 'dark' }],
    }),
  });
  const first = await easel.json(['publish', '.', '--slug', 'settings-kept'], { cwd: site });
  const after = await stored('site/.easel.json');
  expect(after.notes).toEqual(['ours']);
  expect(after.publications[0]).toEqual({
    ...{ server: 'https://easel.example', source: '.', artifact_id: 'art_elsewhere', slug: 'elsewhere', theme: 'dark' },
  });
  const mine = { ...after.publications[1], comment: 'the live one' };
  await easel.write({ 'site/.easel.json': JSON.stringify({ ...after, publications: [after.publications[0], mine] }) });
  const second = await easel.json(['publish', '.'], { cwd: site });
  expect(second.artifact_id).toBe(first.artifact_id);
  expect((await stored('site/.easel.json')).publications[1]).toEqual(mine);
});

test('[W7] an address that is named for one command is not remembered for the next', async () => {
  const before = await stored(CONFIG);
  await easel.run(['ls', '--url', 'http://127.0.0.1:9']);
  await easel.run(['whoami'], { env: { EASEL_URL: 'http://127.0.0.1:9' } });
  expect(await stored(CONFIG)).toEqual(before);
  expect((await easel.run(['ls'])).code).toBe(0);
});

test('[W7] a file that cannot be read is not replaced', async () => {
  await easel.write({ 'broken/index.html': '<h1>one</h1>', 'broken/.easel.json': '{ "publications": [' });
  const done = await easel.run(['publish', '.'], { cwd: join(easel.home, 'broken') });
  expect(done.code).not.toBe(0);
  expect(await readFile(join(easel.home, 'broken/.easel.json'), 'utf8')).toBe('{ "publications": [');
});
