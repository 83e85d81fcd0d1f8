/** Where the context files of a workspace begin. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, post, refusal } from '../../../support/requests.ts';
import { newAgent, newWorkspace } from '../../../support/workspaces.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

test('owners and admins choose the entry, members and agents read it, null and empty reset it', async () => {
  const [owner, admin, member, stranger] = [await easel.newUser(), await easel.newUser(), await easel.newUser(), await easel.newUser()];
  const id = await newWorkspace(easel, { [owner.userId]: 'owner', [admin.userId]: 'admin', [member.userId]: 'member' });
  const agent = await newAgent(easel, id, ['artifacts:read']);
  const path = `/v1/workspaces/${id}/context`;
  const read = async (who: { token: string }) => json(await easel.fetch(path, { token: who.token }));
  const choose = (who: { token: string }, body: object, method = 'PUT', headers: Record<string, string> = {}) =>
    easel.fetch(path, { token: who.token, ...post(body), method, headers: { 'content-type': 'application/json', ...headers } });
  expect(await read(member)).toEqual({ entry: 'index.md' });
  expect(await json(await choose(owner, { entry: 'guides/start.md' }))).toEqual({ entry: 'guides/start.md' });
  expect([await read(member), await read(agent)]).toEqual([{ entry: 'guides/start.md' }, { entry: 'guides/start.md' }]);
  expect(await json(await choose(admin, { entry: '' }, 'PATCH'))).toEqual({ entry: 'index.md' });
  await choose(admin, { entry: 'other.md' });
  expect(await json(await choose(admin, { entry: null }))).toEqual({ entry: 'index.md' });
  for (const entry of ['/etc/passwd', '../up.md', 'a//b.md', 'a\\b', '%2e%2e/x']) {
    expect(await refusal(choose(owner, { entry }))).toEqual([400, 'INVALID_REQUEST', 'entry']);
  }
  expect((await refusal(choose(member, { entry: 'x.md' })))[1]).toBe('FORBIDDEN');
  expect((await refusal(choose(agent, { entry: 'x.md' })))[1]).toBe('FORBIDDEN');
  expect((await refusal(choose(stranger, { entry: 'x.md' })))[1]).toBe('WORKSPACE_NOT_FOUND');
  const etag = (await easel.fetch(path, { token: owner.token })).headers.get('etag') ?? '';
  expect((await choose(owner, { entry: 'a.md' }, 'PATCH', { 'if-match': etag })).status).toBe(200);
  expect((await refusal(choose(owner, { entry: 'b.md' }, 'PATCH', { 'if-match': etag })))[1]).toBe('VERSION_CONFLICT');
});
