/** `easel skills` and `easel ask` against the real service. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { indexed } from '../features/library/search/search-stage.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../support/easel.ts';
import { published } from '../support/requests.ts';
import { seededWorkspace, type TestWorkspace } from '../support/seeded-workspace.ts';
import { runInProcess } from './in-process.ts';

let easel: TestEasel;
let acme: TestWorkspace;
beforeAll(async () => {
  easel = await startTestEasel();
  acme = await seededWorkspace(easel, 'acme');
});
afterAll(() => easel.close());

const run = (by: TestUser, args: readonly string[], input?: string) =>
  runInProcess(args, { EASEL_URL: easel.baseUrl, EASEL_TOKEN: by.token }, input === undefined ? {} : { input });
const source = (text: string) => `---\nname: Notes\ndescription: How we write.\n---\n${text}`;

it('makes, lists and shows a skill; proposes, compares, merges and rejects changes', async () => {
  const made = await run(acme.owner, ['skills', 'create', 'acme', '-', '--json'], source('One.\n\nTwo.\n\nThree.\n'));
  const { id } = JSON.parse(made.out) as { id: string };
  expect((await run(acme.member, ['skills', 'list', 'acme'])).out).toMatch(/NAME +VERSION +ABOUT +ID\n.*Notes +1 +How we write\. /);
  expect((await run(acme.member, ['skills', 'show', 'acme/Notes'])).out).toBe(source('One.\n\nTwo.\n\nThree.\n'));
  const propose = async (text: string) => {
    const done = await run(acme.member, ['skills', 'propose', 'acme/Notes', '-', '--title', 'Better', '--json'], source(text));
    return (JSON.parse(done.out) as { id: string }).id;
  };
  const [third, first] = [await propose('One.\n\nTwo.\n\nThird.\n'), await propose('First.\n\nTwo.\n\nThree.\n')];
  expect((await run(acme.owner, ['skills', 'diff', id, third])).out).toMatch(/^Better \(open, on version 1\)\n.*-Three\.\n\+Third\.\n/s);
  expect((await run(acme.member, ['skills', 'merge', id, third])).err).toContain('SKILL_REQUIRES_APPROVAL');
  expect((await run(acme.owner, ['skills', 'merge', id, third])).out).toBe('Merged Better. It is version 2.\n');
  expect((await run(acme.owner, ['skills', 'edit', id, '-'], source('Ours.\n\nTwo.\n\nThird.\n'))).out).toContain('version 3');
  const conflict = await run(acme.owner, ['skills', 'merge', id, first]);
  expect([conflict.code, conflict.err]).toEqual([5, expect.stringContaining('<<<<<<< live version\nOurs.\n')]);
  expect((await run(acme.owner, ['skills', 'changes', id])).out).toContain('Better');
  expect((await run(acme.owner, ['skills', 'reject', id, first])).out).toBe('Rejected Better.\n');
  expect((await run(acme.owner, ['skills', 'changes', id])).out).toBe('Nothing is proposed.\n');
});

it('says what a skill is attached to', async () => {
  const made = (await run(acme.owner, ['skills', 'create', 'acme', '-'], source('One.\n').replace('Notes', 'Attached'))).out;
  const id = /skl_\w+/.exec(made)?.[0] ?? '';
  expect((await run(acme.owner, ['skills', 'uses', id])).out).toBe('Attached to nothing.\n');
  const page = (await published(easel, acme.owner, { workspace_id: 'acme', visibility: 'workspace', name: 'Changelog' })).id;
  await run(acme.owner, ['skills', 'attach', id, page]);
  await easel.fetch(`/v1/workspaces/acme/skills/${id}`, { method: 'PUT', token: acme.owner.token });
  expect((await run(acme.member, ['skills', 'uses', id])).out).toBe(`The whole workspace\nChangelog  ${page}\n`);
});

it('asks, and names the pages', async () => {
  await run(acme.owner, ['skills', 'create', 'acme', '-'], source('Zebras drink twelve litres of water.\n').replace('Notes', 'Zebra care'));
  await indexed(easel);
  const { out } = await run(acme.member, ['ask', 'How much water do zebras drink?', '--workspace', 'acme']);
  expect((await run(acme.member, ['ask', 'how', 'much', 'water', 'do', 'zebras', 'drink', '--workspace', 'acme'])).out).toBe(out);
  expect(out).toMatch(
    /^No model writes answers here\. .*\[1\] Zebra care: .*twelve litres.*\n\n\[1\] Zebra care {2}http:\/\/zebra-care\./s,
  );
});
