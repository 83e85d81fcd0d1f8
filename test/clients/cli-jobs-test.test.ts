/** easel jobs test: a script on this machine against the real data, which stays as it is. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callData, publishArtifact } from '../support/data-client.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type CommandLine, commandLine } from './command-line.ts';

/** The thread of scripts is a file beside the program. */
const AS_PROCESS = { asProcess: true };
let easel: TestEasel;
let cli: CommandLine;
beforeAll(async () => {
  easel = await startTestEasel();
  cli = await commandLine(easel.baseUrl);
});
afterAll(async () => {
  await cli?.close();
  await easel?.close();
});

it('shows what the script prints, returns, would write and would call', async () => {
  const owner = await easel.newUser('pro');
  const artifact = await publishArtifact(easel, owner);
  await callData(easel, artifact, 'PUT', '/json/votes', { token: owner.token, body: 3 });
  await cli.write({
    'nightly.js': `console.log('adding', params.by);
const votes = await easel.json.increment('votes', params.by);
await easel.fetch('https://example.com/hook', { method: 'POST' });
return { votes };`,
  });
  const env = { EASEL_TOKEN: owner.token };
  const args = ['jobs', 'test', 'nightly.js', '--artifact', artifact.slug, '--params', '{"by":2}'];
  const { code, out, err } = await cli.run(args, { env, ...AS_PROCESS });
  expect([code, err]).toEqual([0, '']);
  expect(out).toBe(`adding 2
Returned: {"votes":5}
Would write json votes: 3 -> 5
Would call POST https://example.com/hook
2 calls, 1 change.
`);
  expect(await cli.json(args, { env, ...AS_PROCESS })).toEqual({
    ok: true,
    value: '{"votes":5}',
    output: 'adding 2',
    error: null,
    calls: 2,
    would: {
      write: [{ channel: 'json', name: 'votes', before: 3, after: 5 }],
      call: [{ method: 'POST', url: 'https://example.com/hook' }],
    },
  });
  expect((await callData(easel, artifact, 'GET', '/json/votes', { token: owner.token })).body.data.value).toBe(3);
});

it('works without an artifact, and fails with the line where the script fails', async () => {
  await cli.write({ 'bad.js': 'await easel.json.set("a", 1);\nthrow new Error("broken");', 'worse.js': 'let a = ;' });
  const { code, out, err } = await cli.run(['jobs', 'test', 'bad.js'], AS_PROCESS);
  expect([code, out]).toEqual([1, 'Would write json a: nothing -> 1\n1 call, 1 change.\n']);
  expect(err).toContain('The script failed: Error: broken (line 2)');
  const failed = await cli.run(['jobs', 'test', 'worse.js', '--json'], AS_PROCESS);
  expect([failed.code, JSON.parse(failed.out).error, JSON.parse(failed.err).code]).toEqual([
    1,
    { code: 'SCRIPT_SYNTAX', message: expect.any(String), line: 1 },
    'SCRIPT_SYNTAX',
  ]);
  expect((await cli.run(['jobs', 'test', 'bad.js', '--params', '{'], AS_PROCESS)).code).toBe(2);
  expect((await cli.run(['jobs', 'test', 'missing.js'], AS_PROCESS)).code).toBe(2);
  expect((await cli.run(['jobs', 'test', 'bad.js', '--artifact', 'nobody-has-this'], AS_PROCESS)).code).toBe(3);
});
