/** Who manages webhooks and how: access, limits, conditions, secrets, tests, the list of deliveries, and what goes with an artifact or an account. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestUser } from '../../../support/easel.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';
import { seededWorkspace } from '../../../support/seeded-workspace.ts';
import { type HookStage, hookStage } from './hook-stage.ts';

let stage: HookStage;
let owner: TestUser;
let artifactId: string;

beforeAll(async () => {
  stage = await hookStage();
});
afterAll(() => stage?.close());
beforeEach(async () => {
  owner = await stage.easel.newUser('pro');
  artifactId = (await published(stage.easel, owner)).id;
  stage.host.answers = (_, response) => response.writeHead(204).end();
});

const events = ['data.changed'];
const create = (user: TestUser, body: object) => stage.easel.fetch('/v1/webhooks', { token: user.token, ...post(body) });
const call = (user: TestUser, path: string, init: RequestInit = {}) =>
  stage.easel.fetch(`/v1/webhooks${path}`, { token: user.token, ...init });
const url = 'https://hooks.example.com/x';

describe('webhooks', () => {
  it('of an artifact are for its owner and editors; others learn of nothing that they do not see', async () => {
    const [viewer, stranger] = await Promise.all([stage.easel.newUser(), stage.easel.newUser()]);
    await stage.easel.sql`insert into collaborator values (${artifactId}, ${viewer.userId}, 'viewer', 1)`;
    await stage.easel.fetch(`/v1/artifacts/${artifactId}`, { token: owner.token, ...patch({ name: 'Shared' }) });
    expect(await refusal(create(viewer, { url, events, artifact_id: artifactId }))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await refusal(create(stranger, { url, events, artifact_id: artifactId }))).toEqual([404, 'ARTIFACT_NOT_FOUND', 'artifact_id']);
    const hook = await stage.hook(owner, { events, artifact_id: artifactId });
    for (const user of [viewer, stranger]) {
      for (const [path, init] of [
        [`/${hook.id}`, {}],
        [`/${hook.id}`, patch({ enabled: false })],
        [`/${hook.id}`, { method: 'DELETE' }],
        [`/${hook.id}/rotate`, { method: 'POST' }],
        [`/${hook.id}/test`, { method: 'POST' }],
        [`/${hook.id}/deliveries`, {}],
      ] as const)
        expect(await refusal(call(user, path, init))).toEqual([404, 'WEBHOOK_NOT_FOUND', undefined]);
    }
    expect(await refusal(call(viewer, `?artifact_id=${artifactId}`))).toEqual([403, 'FORBIDDEN', undefined]);
    expect((await json(await call(stranger, ''))).webhooks).toEqual([]);
    expect((await json(await call(owner, ''))).webhooks).toMatchObject([{ id: hook.id, url: stage.host.url(hook.path) }]);
    expect(JSON.stringify(await json(await call(owner, `/${hook.id}`)))).not.toContain(hook.secret);
  });

  it('of a workspace are for its owners and admins, and in its audit log without the path of the URL', async () => {
    const { id, admin, member, owner: chief } = await seededWorkspace(stage.easel, `hooks-${Date.now().toString(36)}`);
    const asked = { url: 'https://hooks.example.com/secret-path', events: ['member.added'], workspace_id: id };
    expect(await refusal(create(member, asked))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await refusal(create(owner, asked))).toEqual([404, 'WORKSPACE_NOT_FOUND', 'workspace_id']);
    const { webhook } = await json(await create(admin, asked));
    expect((await json(await call(chief, `?workspace_id=${id}`))).webhooks).toMatchObject([{ id: webhook.id, created_by: admin.userId }]);
    const log = await (await stage.easel.fetch(`/v1/workspaces/${id}/audit?action=webhook.`, { token: chief.token })).text();
    expect(log).toContain('webhook.create');
    expect(log).toContain('hooks.example.com');
    expect(log).not.toContain('secret-path');
  });

  it('take https URLs and events of their kind, ten of an artifact', async () => {
    const wrong: [object, string][] = [
      [{ url: 'http://hooks.example.com/', events, artifact_id: artifactId }, 'url'],
      [{ url: 'https://user:pw@hooks.example.com/', events, artifact_id: artifactId }, 'url'],
      [{ url, events: ['member.added'], artifact_id: artifactId }, 'events'],
      [{ url, events: [], artifact_id: artifactId }, 'events'],
      [{ url, events: ['all'], artifact_id: artifactId }, 'events.0'],
    ];
    for (const [body, param] of wrong) expect(await refusal(create(owner, body))).toEqual([400, 'INVALID_REQUEST', param]);
    expect((await create(owner, { url, events })).status).toBe(400);
    const all = await Promise.all(Array.from({ length: 12 }, () => create(owner, { url, events, artifact_id: artifactId })));
    expect(all.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), 409, 409]);
    const page = await json(await call(owner, `?artifact_id=${artifactId}&limit=4&count=true`));
    expect([page.webhooks.length, page.has_more, page.total]).toEqual([4, true, 10]);
    const next = await json(await call(owner, `?artifact_id=${artifactId}&limit=100&cursor=${page.next_cursor}`));
    expect([next.webhooks.length, next.has_more]).toEqual([6, false]);
  });

  it('an address that is not public is refused when it is sent to, not looked up by whoever asks', async () => {
    const { webhook } = await json(await create(owner, { url: 'https://169.254.169.254/latest', events, artifact_id: artifactId }));
    const tested = await json(await call(owner, `/${webhook.id}/test`, { method: 'POST' }));
    expect(tested).toMatchObject({ status: 'failed', response_status: null, error: 'This host is not on the public internet.' });
  });

  it('are changed under a condition; deliveries change no version', async () => {
    const hook = await stage.hook(owner, { events, artifact_id: artifactId });
    const before = await call(owner, `/${hook.id}`);
    const etag = before.headers.get('etag') ?? '';
    await stage.put(owner, artifactId, 'a', 1);
    await stage.received(hook.path, 1);
    const changed = await call(owner, `/${hook.id}`, patch({ ...(await json(before)), description: 'Ours' }, { 'if-match': etag }));
    expect([changed.status, (await json(changed)).description]).toEqual([200, 'Ours']);
    expect((await refusal(call(owner, `/${hook.id}`, patch({ enabled: false }, { 'if-match': etag }))))[1]).toBe('VERSION_CONFLICT');
    expect((await refusal(call(owner, `/${hook.id}`, { method: 'DELETE', headers: { 'if-match': etag } })))[1]).toBe('VERSION_CONFLICT');
    expect((await call(owner, `/${hook.id}`, { method: 'DELETE' })).status).toBe(200);
    expect(await refusal(call(owner, `/${hook.id}`))).toEqual([404, 'WEBHOOK_NOT_FOUND', undefined]);
  });

  it('a test is sent at once and told, also while it is turned off', async () => {
    const hook = await stage.hook(owner, { events, artifact_id: artifactId });
    stage.host.answers = (_, response) => response.writeHead(200, { 'x-said': 'hello' }).end('thanks');
    await stage.change(owner, hook, { enabled: false });
    expect(await stage.read(owner, hook)).toMatchObject({ enabled: false, disabled_reason: 'off' });
    const tested = await json(await call(owner, `/${hook.id}/test`, { method: 'POST' }));
    expect(tested).toMatchObject({
      number: 1,
      event: 'webhook.test',
      status: 'delivered',
      attempts: [{ response_status: 200, response_headers: { 'x-said': 'hello' }, response_body: 'thanks' }],
    });
    expect(stage.host.at(hook.path)[0]).toMatchObject({ body: tested.request_body, headers: { 'webhook-id': tested.id } });
    await stage.put(owner, artifactId, 'a', 1);
    await stage.easel.clock.advance(120_000);
    await stage.change(owner, hook, { enabled: true });
    await stage.put(owner, artifactId, 'b', 1);
    const [, second] = await stage.received(hook.path, 2);
    expect(second?.event).toMatchObject({ number: 2, data: { changes: [{ key: 'b' }] } });
  });

  it('secrets are sealed, and sealed again under a new key', async () => {
    const hook = await stage.hook(owner, { events, artifact_id: artifactId });
    const [row] = await stage.easel.sql<{ secret: Buffer }[]>`select secret from webhook where id = ${hook.id}`;
    expect(row?.secret.toString('latin1')).not.toContain(hook.secret);
    expect(row?.secret.toString('latin1')).not.toContain(hook.secret.slice(6, 20));
  });

  it('deliveries are forgotten after thirty days, those that wait stay', async () => {
    const hook = await stage.hook(owner, { events, artifact_id: artifactId });
    await stage.put(owner, artifactId, 'a', 1);
    await stage.received(hook.path, 1);
    await expect.poll(async () => (await stage.deliveries(owner, hook))[0]?.status).toBe('delivered');
    stage.host.answers = (_, response) => response.writeHead(500).end();
    await stage.put(owner, artifactId, 'b', 1);
    await stage.received(hook.path, 2);
    const page = await json(await call(owner, `/${hook.id}/deliveries?limit=1&count=true`));
    expect([page.deliveries[0].number, page.total]).toEqual([2, 2]);
    const next = await json(await call(owner, `/${hook.id}/deliveries?limit=1&cursor=${page.next_cursor}`));
    expect([next.deliveries[0].number, next.has_more]).toEqual([1, false]);
    await stage.easel
      .sql`update webhook_delivery set created_at_ms = created_at_ms - 31 * 24 * 3600 * 1000::bigint where webhook_id = ${hook.id}`;
    await stage.easel.sweep();
    expect((await stage.deliveries(owner, hook)).map(({ number }) => number)).toEqual([2]);
  });

  it('go with their artifact and with the account that stands for them', async () => {
    const hook = await stage.hook(owner, { events, artifact_id: artifactId });
    await stage.easel.sql`delete from artifact where id = ${artifactId}`;
    expect(await stage.easel.sql`select 1 from webhook where id = ${hook.id}`).toHaveLength(0);
  });

  it('only artifacts with webhooks that are turned on are watched for each commit', async () => {
    const gauge = async () => {
      stage.easel.clock.advance(1000);
      return Number(/easel_webhook_artifacts (\d+)/.exec(await (await stage.easel.fetch('/metrics')).text())?.[1]);
    };
    const before = await gauge();
    const hook = await stage.hook(owner, { events, artifact_id: artifactId });
    await expect.poll(gauge).toBe(before + 1);
    await stage.change(owner, hook, { enabled: false });
    await expect.poll(gauge).toBe(before);
  });
});
