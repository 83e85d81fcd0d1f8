/** `easel data` against the real service. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type CommandLine, commandLine } from './command-line.ts';

// Every step starts a process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

let service: TestEasel;
let easel: CommandLine;
beforeAll(async () => {
  service = await startTestEasel();
  easel = await commandLine(service.baseUrl);
  await easel.json(['login', '--token', (await service.newUser()).token]);
  await easel.write({ 'index.html': '<title>data</title>' });
  await easel.json(['publish', '--slug', 'data-site']);
});
afterAll(async () => {
  await easel.close();
  await service.close();
});

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const etag = expect.stringMatching(/^(W\/)?"/);

describe('set and get', () => {
  it.each([
    ['a word', ['hello'], 'hello'],
    ['JSON', ['{"a":[1,null]}'], { a: [1, null] }],
    ['a number', ['7'], 7],
    ['text that looks like JSON', ['7', '--text'], '7'],
    ['a file', ['--file', 'value.json'], { from: 'file' }],
  ])('store %s and print it again', async (_what, args, value) => {
    await easel.write({ 'value.json': '{"from":"file"}' });
    expect(await easel.json(['data', 'set', 'kinds', ...args])).toEqual({
      key: 'kinds',
      created: expect.any(Boolean),
      updatedAt: time,
      etag,
    });
    expect(await easel.json(['data', 'get', 'kinds', '-a', 'data-site'])).toEqual({ key: 'kinds', value, updatedAt: time, etag });
  });

  it('take standard input and a path, and print text without quotes with --raw', async () => {
    await easel.json(['data', 'set', 'deep', '-'], { input: '{"a":{"b":"text"}}' });
    expect(await easel.run(['data', 'get', 'deep', '--path', '$.a.b'])).toEqual({ code: 0, out: '"text"\n', err: '' });
    expect(await easel.run(['data', 'get', 'deep', '--path', '$.a.b', '--raw'])).toEqual({ code: 0, out: 'text\n', err: '' });
  });

  it('refuse a file that is not JSON instead of storing it as text', async () => {
    await easel.write({ 'broken.json': '{"a":' });
    const { code, err } = await easel.run(['data', 'set', 'broken', '--file', 'broken.json']);
    expect(code).toBe(2);
    expect(err).toContain('The value is not JSON');
    expect((await easel.run(['data', 'get', 'broken'])).code).toBe(4);
  });

  it('write only if the condition holds', async () => {
    const first = await easel.json(['data', 'set', 'guarded', '1', '--create']);
    expect((await easel.run(['data', 'set', 'guarded', '2', '--create'])).code).toBe(5);
    await easel.json(['data', 'set', 'guarded', '2', '--if-match', first.etag]);
    const late = await easel.run(['data', 'set', 'guarded', '3', '--if-match', first.etag, '--json']);
    expect([late.code, JSON.parse(late.err).code]).toEqual([5, 'VERSION_CONFLICT']);
    expect((await easel.json(['data', 'get', 'guarded'])).value).toBe(2);
  });

  it('store a key that deletes itself', async () => {
    await easel.json(['data', 'set', 'brief', '1', '--ttl', '60']);
    service.clock.advance(61_000);
    expect((await easel.run(['data', 'get', 'brief'])).code).toBe(4);
  });
});

describe('patch', () => {
  it('merges an object, applies a JSON patch, and does one operation', async () => {
    await easel.json(['data', 'set', 'game', '{"score":1,"list":[],"old":true}']);
    const patched = async (...args: string[]) => (await easel.json(['data', 'patch', 'game', ...args])).value;
    expect(await patched('{"old":null,"level":2}')).toEqual({ score: 1, list: [], level: 2 });
    expect(await patched('[{"op":"replace","path":"/level","value":3}]')).toEqual({ score: 1, list: [], level: 3 });
    expect(await patched('--increment', '4', '--path', '$.score')).toEqual({ score: 5, list: [], level: 3 });
    expect(await patched('--append', 'word', '--path', '$.list')).toEqual({ score: 5, list: ['word'], level: 3 });
    expect(await patched('--remove', '--path', '$.level')).toEqual({ score: 5, list: ['word'] });
  });

  it('exits with 2 if the patch does not apply', async () => {
    await easel.json(['data', 'set', 'plain', '"text"']);
    const { code, err } = await easel.run(['data', 'patch', 'plain', '--increment', '1', '--json']);
    expect([code, JSON.parse(err).code]).toEqual([2, 'PATCH_FAILED']);
  });
});

describe('ls and rm', () => {
  it('list more keys than one page, by prefix, with values on request', async () => {
    const user = await commandLine(service.baseUrl);
    const { token } = await service.newUser();
    await user.json(['login', '--token', token]);
    await user.write({ 'index.html': '' });
    const { artifact_id: id } = await user.json(['publish']);
    for (let index = 0; index < 105; index += 1) {
      await service.fetch(`/v1/data/${id}/json/n.${String(index).padStart(3, '0')}`, {
        method: 'PUT',
        token,
        body: String(index),
        headers: { 'content-type': 'application/json' },
      });
    }
    await user.json(['data', 'set', 'other', '1']);
    const all = await user.json(['data', 'ls', 'n.', '--limit', '500']);
    expect([all.keys.length, all.keys.at(-1), all.count, all.hasMore]).toEqual([105, 'n.104', 105, false]);
    const first = await user.json(['data', 'ls', 'n.', '--limit', '2', '--values']);
    expect(first).toMatchObject({ keys: ['n.000', 'n.001'], hasMore: true, entries: [{ key: 'n.000', value: 0 }, { value: 1 }] });
    expect(await user.json(['data', 'rm', 'other'])).toEqual({ deleted: true });
    expect((await user.run(['data', 'rm', 'other'])).code).toBe(4);
    expect(await user.json(['data', 'rm', '--all', '--yes'])).toEqual({ deleted: 105 });
    expect(await user.run(['data', 'ls'])).toEqual({ code: 0, out: 'No keys.\n', err: '' });
    await user.close();
  });

  it('finds the artifact by id, slug, folder, or current folder', async () => {
    await easel.json(['data', 'set', 'where', '1']);
    const { artifact_id: id } = await easel.json(['data', 'ls']);
    for (const name of [id, 'data-site', '.', easel.home]) {
      expect((await easel.json(['data', 'get', 'where', '-a', name])).value).toBe(1);
    }
    await easel.write({ 'elsewhere/note.txt': '' });
    const outside = await easel.run(['data', 'get', 'where'], { cwd: join(easel.home, 'elsewhere') });
    expect(outside.code).toBe(4);
  });
});
