/** A suspended page or workspace: what its people, its visitors and strangers get, and that everything comes back. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChannelClient } from '../../../realtime/channel-client.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { wire } from '../../../support/page-requests.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';
import { mailsTo, ok } from '../../../support/visitor.ts';
import { agentOf, workspaceOf } from '../../../support/workspaces.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

const change = (path: string, suspended: { reason: string } | null) =>
  ok(easel.fetch(`/v1/admin/${path}`, { token: easel.adminToken, ...patch({ suspended }) }));

async function visit(slug: string, headers: Record<string, string> = {}) {
  const answer = await wire(easel.port, new URL(easel.contentUrl(slug)).host, '/', { headers });
  return { status: answer.status, text: answer.body.toString(), cache: answer.headers['cache-control'] };
}

test('visitors of a suspended page see a page of ours, its people a code, strangers what they saw before', async () => {
  const [owner, stranger] = [await easel.newUser('pro'), await easel.newUser()];
  await easel.sql`update account set email = 'owner@example.com' where id = ${owner.userId}`;
  const open = await published(easel, owner, { slug: 'bad-page', visibility: 'public' });
  const closed = await published(easel, owner, { slug: 'closed-page', visibility: 'private' });
  const socket = await ChannelClient.open(easel.port, open.id);
  expect((await visit('bad-page')).status).toBe(200);

  await change(`artifacts/${open.id}`, { reason: 'Copied without permission' });
  await change(`artifacts/${closed.id}`, { reason: 'Copied without permission' });
  await expect.poll(() => socket.ended?.code).toBe(4403);
  const shown = await visit('bad-page');
  expect([shown.status, shown.cache, shown.text.includes('has been suspended')]).toEqual([403, 'private, no-store', true]);
  expect(shown.text).not.toContain('Copied without permission');
  // Both themes come with the colours of all our pages.
  expect(shown.text).toContain('prefers-color-scheme');
  expect((await visit('closed-page')).status).toBe(404);
  for (const { id } of [open, closed]) {
    for (const [path, init] of [
      [`/v1/artifacts/${id}`, {}],
      [`/v1/data/${id}/json/a`, {}],
      [`/v1/data/${id}/json/a`, { ...post(1), method: 'PUT' }],
      [`/v1/artifacts/${id}`, { method: 'DELETE' }],
      [`/v1/artifacts/${id}/export`, {}],
    ] as const) {
      expect([path, await refusal(easel.fetch(path, { token: owner.token, ...init }))]).toEqual([
        path,
        [403, 'ARTIFACT_SUSPENDED', undefined],
      ]);
    }
  }
  expect((await easel.fetch(`/v1/data/${closed.id}/json/a`, { token: stranger.token })).status).toBe(404);
  expect(
    await refusal(
      easel.fetch('/v1/publish', { token: owner.token, ...post({ slug: 'bad-page', files: [{ path: 'index.html', content: 'x' }] }) }),
    ),
  ).toEqual([403, 'ARTIFACT_SUSPENDED', undefined]);
  const [mail] = await mailsTo(easel, 'owner@example.com');
  expect(mail?.text).toContain('Copied without permission');

  await change(`artifacts/${open.id}`, null);
  expect((await visit('bad-page')).status).toBe(200);
  expect((await easel.fetch(`/v1/data/${open.id}/json`, { token: owner.token })).status).toBe(200);
});

test('artifacts are found by slug, id, name and owner, also in the trash', async () => {
  const owner = await easel.newUser('pro');
  const { id } = await published(easel, owner, { slug: 'findable', name: 'Some Plan' });
  await ok(easel.fetch(`/v1/artifacts/${id}`, { token: owner.token, method: 'DELETE' }));
  for (const query of ['q=finda', `q=${id}`, 'q=some%20plan', `owner_id=${owner.userId}`]) {
    const { artifacts } = await json(await ok(easel.fetch(`/v1/admin/artifacts?${query}`, { token: easel.adminToken })));
    expect([query, artifacts]).toMatchObject([
      query,
      [{ id, slug: 'findable', owner: { id: owner.userId }, deleted_at: expect.any(String) }],
    ]);
  }
});

test('nobody uses a suspended workspace: members are told, agents and artifacts refused, and all comes back', async () => {
  const [owner, stranger] = [await easel.newUser('team'), await easel.newUser()];
  const id = await workspaceOf(easel, [[owner, 'owner']]);
  const agent = await agentOf(easel, id, ['artifacts:read', 'data:read', 'data:write', 'artifacts:publish']);
  const { id: artifactId } = await published(easel, owner, { workspace_id: id, visibility: 'workspace', slug: 'of-team' });
  const members = (token: string) => easel.fetch(`/v1/workspaces/${id}/members`, { token });
  const socket = await ChannelClient.open(easel.port, artifactId, { token: agent });
  expect((await members(owner.token)).status).toBe(200);

  await change(`workspaces/${id}`, { reason: 'Unpaid' });
  await expect.poll(() => socket.ended?.code).toBeGreaterThan(4400);
  expect(await refusal(members(owner.token))).toEqual([403, 'WORKSPACE_SUSPENDED', undefined]);
  expect((await members(stranger.token)).status).toBe(404);
  expect(await refusal(easel.fetch(`/v1/data/${artifactId}/json`, { token: owner.token }))).toEqual([403, 'ARTIFACT_SUSPENDED', undefined]);
  expect(await json(await easel.fetch(`/v1/data/${artifactId}/json`, { token: agent }))).toMatchObject({
    code: 'UNAUTHORIZED',
    reason: 'suspended',
  });

  await change(`workspaces/${id}`, null);
  expect((await members(owner.token)).status).toBe(200);
  expect((await easel.fetch(`/v1/data/${artifactId}/json`, { token: agent })).status).toBe(200);
});

test('a plan set by hand opens its features at once', async () => {
  const owner = await easel.newUser();
  const { id } = await json(await ok(easel.fetch('/v1/workspaces', { token: owner.token, ...post({ name: 'By hand' }) }), 201));
  const catalog = async () =>
    (await json(await easel.fetch(`/v1/workspaces/${id}/features`, { token: owner.token }))).features.catalog.enabled;
  expect(await catalog()).toBe(false);
  await ok(easel.fetch(`/v1/admin/workspaces/${id}`, { token: easel.adminToken, ...patch({ plan_tier: 'team', plan_status: 'active' }) }));
  expect(await catalog()).toBe(true);
  const { workspaces } = await json(await easel.fetch(`/v1/admin/workspaces?q=${id}`, { token: easel.adminToken }));
  expect(workspaces).toMatchObject([{ id, plan_tier: 'team', members: 1, owners: [owner.userId] }]);
});
