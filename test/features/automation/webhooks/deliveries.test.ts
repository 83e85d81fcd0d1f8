/** What webhooks are sent, in which order, and what becomes of hosts that do not take it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signatureOf, signedHeaders } from '../../../../src/features/automation/webhooks/sign.ts';
import type { TestUser } from '../../../support/easel.ts';
import type { Received } from '../../../support/hook-receiver.ts';
import { json, patch, post, published } from '../../../support/requests.ts';
import { newWorkspace } from '../../../support/workspaces.ts';
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

const HOUR_MS = 3_600_000;

describe('events of an artifact', () => {
  it('changes of data are gathered into one delivery, with what changed and up to which seq, signed in both forms', async () => {
    const hook = await stage.hook(owner, { artifact_id: artifactId, events: ['data.changed'] });
    await stage.put(owner, artifactId, 'a', { n: 1 });
    await stage.put(owner, artifactId, 'b', 'two');
    const [first] = await stage.received(hook.path, 1);
    expect(first?.event).toMatchObject({ number: 1, type: 'data.changed', artifact_id: artifactId, webhook_id: hook.id });
    const { changes, from_seq, to_seq } = first?.event.data ?? {};
    expect(changes).toMatchObject([
      { kind: 'json.put', key: 'a', data: { n: 1 }, seq: from_seq },
      { kind: 'json.put', key: 'b', data: 'two', seq: to_seq },
    ]);
    const { headers = {} as Received['headers'], body = '' } = first ?? {};
    const timestampS = Number(headers['webhook-timestamp']);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': first?.event.id });
    expect(headers['easel-signature']).toBe(signatureOf(hook.secret, timestampS, body));
    const standard = signedHeaders({ id: first?.event.id ?? '', secrets: [hook.secret], timestampS, body });
    expect(headers['webhook-signature']).toBe(standard['webhook-signature']);
    await stage.put(owner, artifactId, '_hidden', 1);
    const [, second] = await stage.received(hook.path, 2);
    expect(second?.event).toMatchObject({ number: 2, data: { changes: [{ key: '_hidden' }] } });
  });

  it('only what was asked for is sent, a comment by itself and in its place among the changes', async () => {
    const hook = await stage.hook(owner, { artifact_id: artifactId, events: ['comment.added', 'data.changed', 'comment.deleted'] });
    const comment = (content: string) =>
      stage.easel.fetch(`/v1/data/${artifactId}/comments`, { token: owner.token, ...post({ contextId: 'page', content }) });
    await stage.put(owner, artifactId, 'a', 1);
    const added = await json(await comment('Hello'));
    const { id } = added.data;
    // Changed at once: the store knows it as changed only, and it is new to the receiver all the same.
    await stage.easel.fetch(`/v1/data/${artifactId}/comments/${id}`, { token: owner.token, ...patch({ content: 'Hello there' }) });
    await stage.put(owner, artifactId, 'b', 1);
    const first = await stage.received(hook.path, 3);
    expect(first.map(({ event }) => event.type)).toEqual(['data.changed', 'comment.added', 'data.changed']);
    expect(first[1]?.event.data).toMatchObject({ id, data: { content: 'Hello there' } });
    await stage.easel.fetch(`/v1/data/${artifactId}/comments/${id}`, { token: owner.token, ...patch({ content: 'Changed' }) });
    await stage.easel.fetch(`/v1/data/${artifactId}/comments/${id}`, { method: 'DELETE', token: owner.token });
    const last = (await stage.received(hook.path, 4))[3];
    expect(last?.event).toMatchObject({ number: 4, type: 'comment.deleted', data: { id } });
  });

  it('a publish, a new name, the trash and the way back', async () => {
    const events = ['artifact.updated', 'version.published', 'artifact.deleted', 'artifact.restored'];
    const hook = await stage.hook(owner, { artifact_id: artifactId, events });
    const types = async (count: number) => (await stage.received(hook.path, count)).map(({ event }) => event.type);
    await stage.easel.clock.advance(1000);
    await stage.easel.fetch(`/v1/artifacts/${artifactId}`, { token: owner.token, ...patch({ name: 'Renamed' }) });
    expect(await types(1)).toEqual(['artifact.updated']);
    expect(stage.host.at(hook.path)[0]?.event.data.artifact).toMatchObject({ id: artifactId, name: 'Renamed' });
    await published(stage.easel, owner, { artifact_id: artifactId });
    expect((await types(2)).at(-1)).toBe('version.published');
    expect(stage.host.at(hook.path)[1]?.event.data.version).toMatchObject({ version_no: 2 });
    await stage.easel.fetch(`/v1/artifacts/${artifactId}`, { method: 'DELETE', token: owner.token });
    expect((await types(3)).at(-1)).toBe('artifact.deleted');
    expect((await stage.easel.fetch(`/v1/artifacts/${artifactId}/restore`, { method: 'POST', token: owner.token })).status).toBe(200);
    expect((await types(4)).at(-1)).toBe('artifact.restored');
  });

  it('much goes into several deliveries of 64 KB, and a value that is too long is named', async () => {
    const hook = await stage.hook(owner, { artifact_id: artifactId, events: ['data.changed'] });
    for (let at = 0; at < 12; at += 1) await stage.put(owner, artifactId, `key-${at}`, 'x'.repeat(15_000));
    await stage.put(owner, artifactId, 'huge', 'x'.repeat(200_000));
    const keys = () => stage.host.at(hook.path).flatMap(({ event }) => event.data.changes.map(({ key }: { key: string }) => key));
    await stage.received(hook.path, 3);
    await expect.poll(keys).toHaveLength(13);
    for (const { body } of stage.host.at(hook.path)) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(64 * 1024);
    expect(stage.host.at(hook.path).at(-1)?.event.data.changes.at(-1)).toMatchObject({ key: 'huge', truncated: true });
  });
});

describe('events of a workspace', () => {
  it('are those of its audit log, in the same transaction', async () => {
    const [admin, member] = await Promise.all([stage.easel.newUser('pro'), stage.easel.newUser()]);
    const workspaceId = await newWorkspace(stage.easel, { [admin.userId]: 'owner' });
    const asked = { workspace_id: workspaceId, events: ['member.added', 'member.removed', 'artifact.created', 'artifact.updated'] };
    const hook = await stage.hook(admin, asked);
    const email = 'hooked@example.com';
    await stage.easel.sql`update account set email = ${email} where id = ${member.userId}`;
    const added = await stage.easel.fetch(`/v1/workspaces/${workspaceId}/members`, {
      token: admin.token,
      ...post({ email, role: 'member' }),
    });
    expect(added.status).toBeLessThan(300);
    const [first] = await stage.received(hook.path, 1);
    expect(first?.event).toMatchObject({
      number: 1,
      type: 'member.added',
      workspace_id: workspaceId,
      artifact_id: null,
      data: { action: 'member.add', actor: { kind: 'user', id: admin.userId }, target: { id: member.userId } },
    });
    const { id } = await published(stage.easel, admin, { workspace_id: workspaceId });
    const [, second] = await stage.received(hook.path, 2);
    expect(second?.event).toMatchObject({ number: 2, type: 'artifact.created', data: { target: { type: 'artifact', id } } });
  });
});

describe('hosts that do not take a delivery', () => {
  it('[J7] each try is signed anew, with the same webhook-id, and two secrets sign for a day after a rotation', async () => {
    const hook = await stage.hook(owner, { artifact_id: artifactId, events: ['data.changed'] });
    let failing = true;
    stage.host.answers = (_, response) => response.writeHead(failing ? 500 : 204).end('not now');
    await stage.put(owner, artifactId, 'a', 1);
    const [one, two] = await stage.received(hook.path, 2);
    expect(two?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
    expect(two?.body).toBe(one?.body);
    expect(Number(two?.headers['webhook-timestamp'])).toBeGreaterThan(Number(one?.headers['webhook-timestamp']));
    expect(two?.headers['easel-signature']).toBe(signatureOf(hook.secret, Number(two?.headers['webhook-timestamp']), two?.body ?? ''));
    const rotated = await json(await stage.easel.fetch(`/v1/webhooks/${hook.id}/rotate`, { method: 'POST', token: owner.token }));
    expect(rotated.secret).not.toBe(hook.secret);
    failing = false;
    const signatures = (headers: Record<string, unknown>) => String(headers['easel-signature']).split(',').slice(1);
    // A try that had begun before the rotation may come first.
    let count = 3;
    let third = (await stage.received(hook.path, count))[count - 1];
    while (signatures(third?.headers ?? {}).length < 2) {
      count += 1;
      third = (await stage.received(hook.path, count))[count - 1];
    }
    const of = (secret: string) => signatureOf(secret, Number(third?.headers['webhook-timestamp']), third?.body ?? '').split(',')[1];
    expect(signatures(third?.headers ?? {})).toEqual([of(rotated.secret), of(hook.secret)]);
    expect(String(third?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    await stage.easel.clock.advance(24 * HOUR_MS + 1000);
    await stage.put(owner, artifactId, 'b', 1);
    const fourth = (await stage.received(hook.path, count + 1))[count];
    expect(signatures(fourth?.headers ?? {})).toHaveLength(1);
    // The host has it before its answer is written down.
    await expect.poll(async () => (await stage.deliveries(owner, hook))[0]).toMatchObject({ number: 2, status: 'delivered', tries: 1 });
  });

  it('[J6] a dead host holds up no other, and what waits for it keeps its order', async () => {
    const dead = await stage.hook(owner, { artifact_id: artifactId, events: ['data.changed'] });
    const alive = await stage.hook(owner, { artifact_id: artifactId, events: ['data.changed'] });
    const held: { end(): unknown }[] = [];
    stage.host.answers = ({ path }, response) => {
      if (path === dead.path) held.push(response);
      else response.writeHead(204).end();
    };
    for (let at = 1; at <= 3; at += 1) {
      await stage.put(owner, artifactId, 'a', at);
      await stage.received(alive.path, at);
    }
    expect(stage.host.at(alive.path).map(({ event }) => event.number)).toEqual([1, 2, 3]);
    // One is under way, the others wait behind it.
    expect(stage.host.at(dead.path).map(({ event }) => event.number)).toEqual([1]);
    stage.host.answers = (_, response) => response.writeHead(204).end();
    for (const response of held) response.end();
    await stage.received(dead.path, 3);
    expect(stage.host.at(dead.path).map(({ event }) => event.number)).toEqual([1, 2, 3]);
  });

  it('[J6] a delivery that is refused again and again steps aside after five tries, and its number tells that it is late', async () => {
    const hook = await stage.hook(owner, { artifact_id: artifactId, events: ['data.changed'] });
    stage.host.answers = ({ event }, response) => response.writeHead(event.number === 1 ? 500 : 204).end();
    await stage.put(owner, artifactId, 'a', 1);
    await stage.received(hook.path, 1);
    await stage.put(owner, artifactId, 'b', 1);
    const numbers = () => stage.host.at(hook.path).map(({ event }) => event.number);
    const passing = (ms: number) => () => {
      stage.easel.clock.advance(ms);
      return numbers();
    };
    await expect.poll(passing(60_000), { timeout: 60_000 }).toContain(2);
    expect(numbers()).toEqual([1, 1, 1, 1, 1, 2]);
    stage.host.answers = (_, response) => response.writeHead(204).end();
    await expect.poll(passing(60_000), { timeout: 60_000 }).toHaveLength(7);
    expect(numbers().at(-1)).toBe(1);
    const deliveries = async () => (await stage.deliveries(owner, hook)).map(({ number, status, tries }) => [number, status, tries]);
    await expect.poll(deliveries).toEqual([
      [2, 'delivered', 1],
      [1, 'delivered', 6],
    ]);
  });

  it('is given up after a day, told, and sent again when somebody asks for it', async () => {
    const hook = await stage.hook(owner, { artifact_id: artifactId, events: ['data.changed'] });
    stage.host.answers = (_, response) => response.writeHead(503, { 'content-type': 'text/plain' }).end('closed');
    await stage.put(owner, artifactId, 'a', 1);
    const status = async () => {
      stage.easel.clock.advance(600_000);
      return (await stage.deliveries(owner, hook))[0]?.status;
    };
    await expect.poll(status, { timeout: 30_000, interval: 10 }).toBe('failed');
    const [delivery] = await stage.deliveries(owner, hook, '?status=failed');
    expect(delivery).toMatchObject({ response_status: 503, error: 'The host answered with the status 503.' });
    expect(delivery.tries).toBeGreaterThanOrEqual(10);
    const path = `/v1/webhooks/${hook.id}/deliveries/${delivery.id}`;
    const detail = await json(await stage.easel.fetch(path, { token: owner.token }));
    expect(detail.attempts).toHaveLength(delivery.tries);
    expect(detail.attempts[0]).toMatchObject({
      response_status: 503,
      response_body: 'closed',
      request_headers: { 'webhook-id': delivery.id },
    });
    const at = (index: number) => Date.parse(detail.attempts[index].at);
    const pauses = detail.attempts.slice(1).map((_: unknown, index: number) => at(index + 1) - at(index));
    expect(pauses[0]).toBeLessThan(pauses[4]);
    expect(pauses.reduce((sum: number, pause: number) => sum + pause, 0)).toBeGreaterThan(18 * HOUR_MS);
    stage.host.answers = (_, response) => response.writeHead(204).end();
    const before = stage.host.at(hook.path).length;
    const again = await stage.easel.fetch(`${path}/redeliver`, { method: 'POST', token: owner.token });
    expect([again.status, (await json(again)).status]).toEqual([202, 'pending']);
    const received = await stage.received(hook.path, before + 1);
    expect(received.at(-1)?.headers['webhook-id']).toBe(delivery.id);
    await expect.poll(async () => (await stage.deliveries(owner, hook))[0]?.status).toBe('delivered');
  });

  it('410 turns it off at once, a redirect is not followed, an endless answer is cut', async () => {
    const hook = await stage.hook(owner, { artifact_id: artifactId, events: ['data.changed'] });
    const other = await stage.hook(owner, { artifact_id: artifactId, events: ['comment.added'] });
    stage.host.answers = ({ event }, response) => {
      if (event.number === 1) response.writeHead(302, { location: stage.host.url(other.path) }).end();
      else response.writeHead(410).end('x'.repeat(50_000));
    };
    await stage.put(owner, artifactId, 'a', 1);
    await expect
      .poll(async () => (await stage.received(hook.path, 1)) && (await stage.deliveries(owner, hook))[0]?.error)
      .toContain('redirect');
    stage.host.answers = (_, response) => response.writeHead(410).end('x'.repeat(50_000));
    await stage.received(hook.path, 2);
    await expect.poll(async () => (await stage.read(owner, hook)).disabled_reason).toBe('gone');
    const bell = await json(await stage.easel.fetch('/v1/notifications', { token: owner.token }));
    expect(bell.notifications).toMatchObject([
      { kind: 'webhook.disabled', title: expect.stringContaining('127.0.0.1'), artifact_id: artifactId },
    ]);
    expect(stage.host.at(other.path)).toEqual([]);
    const [delivery] = await stage.deliveries(owner, hook);
    const detail = await json(await stage.easel.fetch(`/v1/webhooks/${hook.id}/deliveries/${delivery.id}`, { token: owner.token }));
    expect(detail.attempts.at(-1).response_body).toBe('x'.repeat(4096));
    const again = await stage.easel.fetch(`/v1/webhooks/${hook.id}/deliveries/${delivery.id}/redeliver`, {
      method: 'POST',
      token: owner.token,
    });
    expect((await json(again)).code).toBe('WEBHOOK_DISABLED');
  });

  it('an answer that lies about its length counts as not taken', async () => {
    const hook = await stage.hook(owner, { artifact_id: artifactId, events: ['data.changed'] });
    stage.host.answers = (_, response) => {
      response.writeHead(200, { 'content-length': '500' });
      response.write('short', () => response.destroy());
    };
    await stage.put(owner, artifactId, 'a', 1);
    await stage.received(hook.path, 1);
    const error = async () => (await stage.deliveries(owner, hook))[0]?.error;
    await expect.poll(error).toContain('ended early');
  });

  it('is turned off after a week without a single one taken; turned on again it sends what waits and misses what happened meanwhile', async () => {
    const hook = await stage.hook(owner, { artifact_id: artifactId, events: ['data.changed'] });
    stage.host.answers = (_, response) => response.writeHead(500).end();
    await stage.put(owner, artifactId, 'a', 1);
    const reason = async () => {
      stage.easel.clock.advance(HOUR_MS);
      if (stage.easel.clock.nowMs() % (20 * HOUR_MS) < HOUR_MS) await stage.put(owner, artifactId, 'more', stage.easel.clock.nowMs());
      return (await stage.read(owner, hook)).disabled_reason;
    };
    await expect.poll(reason, { timeout: 40_000, interval: 10 }).toBe('failing');
    const waiting = await stage.deliveries(owner, hook, '?status=pending');
    expect(waiting.length).toBeGreaterThan(0);
    await stage.put(owner, artifactId, 'missed', 1);
    stage.host.answers = (_, response) => response.writeHead(204).end();
    const before = stage.host.at(hook.path).length;
    expect((await stage.change(owner, hook, { enabled: true })).status).toBe(200);
    await stage.put(owner, artifactId, 'seen', 1);
    const received = (await stage.received(hook.path, before + waiting.length + 1)).slice(before);
    const keys = received.flatMap(({ event }) => event.data.changes.map(({ key }: { key: string }) => key));
    expect(keys).toContain('seen');
    expect(keys).not.toContain('missed');
  });
});

describe('access', () => {
  it('is that of who stands for it, asked again at each delivery', async () => {
    const editor = await stage.easel.newUser();
    await stage.easel.sql`insert into collaborator values (${artifactId}, ${editor.userId}, 'editor', ${stage.easel.clock.nowMs()})`;
    await stage.easel.fetch(`/v1/artifacts/${artifactId}`, { token: owner.token, ...patch({ name: 'Shared' }) });
    const hook = await stage.hook(editor, { artifact_id: artifactId, events: ['data.changed'] });
    await stage.put(owner, artifactId, 'a', 1);
    await stage.received(hook.path, 1);
    const removed = await stage.easel.fetch(`/v1/artifacts/${artifactId}/collaborators/${editor.userId}`, {
      method: 'DELETE',
      token: owner.token,
    });
    expect(removed.status).toBe(200);
    await stage.put(owner, artifactId, 'b', 1);
    const reason = async () => {
      stage.easel.clock.advance(1000);
      return (await stage.read(owner, hook)).disabled_reason;
    };
    await expect.poll(reason).toBe('access_lost');
    expect(stage.host.at(hook.path)).toHaveLength(1);
    expect((await stage.change(owner, hook, { enabled: true })).status).toBe(200);
    expect(await stage.read(owner, hook)).toMatchObject({ enabled: true, created_by: owner.userId });
    await stage.received(hook.path, 2);
  });
});
