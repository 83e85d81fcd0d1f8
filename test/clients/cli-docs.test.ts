/** `easel docs` against the real service. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as Y from 'yjs';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type CommandLine, commandLine } from './command-line.ts';

// Every step starts a process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

let service: TestEasel;
let easel: CommandLine;
let write: (...ops: readonly object[]) => Promise<Response>;
beforeAll(async () => {
  service = await startTestEasel();
  easel = await commandLine(service.baseUrl);
  const { token } = await service.newUser('pro');
  await easel.json(['login', '--token', token]);
  await easel.write({ 'index.html': '<title>docs</title>' });
  const { artifact_id: id } = (await easel.json(['publish', '--slug', 'docs-site'])) as { artifact_id: string };
  write = (...ops) =>
    service.fetch(`/v1/data/${id}/documents/notes`, {
      method: 'POST',
      token,
      body: JSON.stringify({ ops }),
      headers: { 'content-type': 'application/json' },
    });
});
afterAll(async () => {
  await easel.close();
  await service.close();
});

it('lists and prints documents, saves and restores versions', async () => {
  expect((await easel.run(['docs', 'list'])).out).toBe('No documents.\n');
  await write({ op: 'text.append', type: 'content', text: 'first' }, { op: 'map.set', type: 'meta', key: 'a', value: 1 });
  expect((await easel.run(['docs', 'list', '-a', 'docs-site'])).out).toMatch(/^NAME {3}CHANGED {11}SIZE {2}OPEN\nnotes {2}.* B {2}0\n$/);
  expect(JSON.parse((await easel.run(['docs', 'get', 'notes'])).out)).toEqual({ content: 'first', meta: { a: 1 } });
  expect((await easel.run(['docs', 'versions', 'notes'])).out).toBe('No versions.\n');
  const { seq } = await easel.json(['docs', 'versions', 'notes', '--keep', 'before']);
  await write({ op: 'text.append', type: 'content', text: ' second' });
  expect((await easel.run(['docs', 'get', 'notes', '--text'])).out).toBe('first second\n');
  expect((await easel.run(['docs', 'get', 'notes', '--text', 'content', '--seq', String(seq)])).out).toBe('first\n');
  expect((await easel.run(['docs', 'versions', 'notes'])).out).toContain('before');
  expect((await easel.run(['docs', 'restore', 'notes', String(seq)])).out).toBe(`Restored notes to version ${seq}.\n`);
  expect((await easel.json(['docs', 'get', 'notes'])).content).toEqual({ content: 'first', meta: { a: 1 } });
});

it('writes a whole document to a file, and reports wrong arguments', async () => {
  await write({ op: 'array.push', type: 'list', values: ['kept'] });
  await easel.json(['docs', 'get', 'notes', '--update', 'notes.bin']);
  const copy = new Y.Doc();
  Y.applyUpdate(copy, await readFile(join(easel.home, 'notes.bin')));
  expect(copy.getArray('list').toJSON()).toEqual(['kept']);
  expect((await easel.run(['docs', 'get', 'none'])).code).toBe(4);
  expect((await easel.run(['docs', 'get', 'notes', '--text', '--update', 'x'])).code).toBe(2);
  expect((await easel.run(['docs', 'restore', 'notes', 'first'])).code).toBe(2);
});
