/** `easel comments` against the real service. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type CommandLine, commandLine } from './command-line.ts';

// Every step starts a process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

let service: TestEasel;
let easel: CommandLine;
let artifactId: string;
beforeAll(async () => {
  service = await startTestEasel();
  easel = await commandLine(service.baseUrl);
  await easel.json(['login', '--token', (await service.newUser('pro')).token]);
  await easel.write({ 'index.html': '<title>talk</title><p>last year' });
  artifactId = ((await easel.json(['publish', '--slug', 'talk', '--visibility', 'public'])) as { artifact_id: string }).artifact_id;
});
afterAll(async () => {
  await easel.close();
  await service.close();
});

it('writes, lists in threads, and resolves', async () => {
  expect(await easel.run(['comments', 'list'])).toEqual({ code: 0, out: 'No comments.\n', err: '' });
  const first = (await easel.json(['comments', 'add', 'Which year?', '--quote', 'last year'])) as { id: string };
  const second = (await easel.json(['comments', 'add', '-', '--context', 'index.html'], { input: 'Two\nlines\n' })) as { id: string };
  await easel.json(['comments', 'add', 'The one before.', '--reply', first.id, '-a', 'talk']);
  const { out } = await easel.run(['comments', 'list']);
  expect(out.split('\n').filter((line) => !line.includes('cmt_'))).toEqual([
    '  "last year"',
    'Which year?',
    '',
    '    The one before.',
    '',
    'Two',
    'lines',
    '',
  ]);
  expect(await easel.json(['comments', 'resolve', second.id])).toMatchObject({ resolved: true });
  expect(((await easel.json(['comments', 'list', '--open'])) as { comments: object[] }).comments).toHaveLength(2);
  expect((await easel.run(['comments', 'resolve', second.id, '--reopen'])).out).toBe(`Reopened: ${second.id}\n`);
  expect((await easel.run(['comments', 'list', '--limit', '1'])).err).toContain('3 comments in all');
  expect((await easel.run(['comments', 'resolve', `cmt_${'a'.repeat(24)}`])).code).toBe(4);
});

it('prints comments without their terminal control characters', async () => {
  const stranger = await service.newUser();
  await service.fetch(`/v1/data/${artifactId}/comments`, {
    method: 'POST',
    token: stranger.token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ content: 'red \u001b[31m\u0007\r\u009b2J' }),
  });
  const { out } = await easel.run(['comments', 'list']);
  expect(out).toContain('red  [31m');
  expect(out).toMatch(/^[^\p{Cc}\n]*(?:\n[^\p{Cc}\n]*)*$/u);
});
