/** WS …/channels over the whole service: missed changes, live ones, and access. Source: design.md "Channels". */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CLOSE } from '../../protocol/core/close-codes.ts';
import { callData, type DataArtifact, publishArtifact } from '../support/data-client.ts';
import { databaseKinds } from '../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../support/easel.ts';
import { patch } from '../support/requests.ts';
import { ChannelClient, eventually } from './channel-client.ts';

describe.each(databaseKinds())('on %s', (database) => {
  let easel: TestEasel;
  let owner: TestUser;
  let artifact: DataArtifact;
  const open: ChannelClient[] = [];
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    owner = await easel.newUser('pro');
  });
  afterAll(() => easel.close());
  beforeEach(async () => {
    artifact = await publishArtifact(easel, owner, { visibility: 'public' });
  });
  afterEach(() => {
    for (const client of open.splice(0)) client.close();
  });

  async function connect(token: string | undefined = owner.token): Promise<ChannelClient> {
    const client = await ChannelClient.open(easel.port, artifact.id, { token });
    open.push(client);
    return client;
  }

  /** A caller without an account. */
  async function connectAnonymously(): Promise<ChannelClient> {
    const client = await ChannelClient.open(easel.port, artifact.id);
    open.push(client);
    return client;
  }

  async function call(method: string, path: string, body?: unknown, token = owner.token) {
    return callData(easel, artifact, method, path, { token, ...(body !== undefined && { body }) });
  }

  async function settings(change: object): Promise<void> {
    const reply = await easel.fetch(`/v1/artifacts/${artifact.id}`, { token: owner.token, ...patch(change) });
    expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)]);
  }

  function publishAgain(more: object = {}): Promise<Response> {
    const files = [{ path: 'index.html', content: '<p>again</p>', mime: 'text/html', encoding: 'utf8' }];
    const body = JSON.stringify({ artifact_id: artifact.id, files, ...more });
    return easel.fetch('/v1/publish', { method: 'POST', body, headers: { 'content-type': 'application/json' }, token: owner.token });
  }

  test('says who you are, and answers pings', async () => {
    const client = await connect();
    expect(client.of('hello')).toEqual([
      {
        type: 'hello',
        connectionId: expect.stringMatching(/^[\w-]{16}$/),
        you: { id: owner.userId, name: expect.any(String), kind: 'human', color: expect.stringMatching(/^#[0-9a-f]{6}$/) },
        canWrite: true,
      },
    ]);
    client.send({ type: 'ping', id: 'p1' });
    await client.until((frame) => frame.type === 'pong' && frame.id === 'p1');
    const visitor = await connectAnonymously();
    expect(visitor.of('hello')[0]).toMatchObject({ you: { kind: 'anonymous', id: expect.stringMatching(/^anonymous:/) }, canWrite: false });
  });

  test('tells of data as it is committed, each channel only of its own', async () => {
    const client = await connect();
    await client.subscribe('json');
    await client.subscribe('tables');
    await call('PUT', '/json/a', { n: 1 });
    const row = (await call('POST', '/tables/guests', { name: 'Ada' })).body.data.inserted[0];
    await call('DELETE', '/json/a');
    await eventually(() => client.of('event').length, 4);
    expect(client.of('subscribed')).toEqual([
      { type: 'subscribed', channel: 'json', seq: 0 },
      { type: 'subscribed', channel: 'tables', seq: 0 },
    ]);
    expect(client.of('event')).toMatchObject([
      { channel: 'json', seq: 1, kind: 'json.put', key: 'a', data: { n: 1 } },
      { channel: 'tables', seq: 2, kind: 'table.put', table: 'guests' },
      { channel: 'tables', seq: 3, kind: 'row.put', table: 'guests', id: row.id, data: { name: 'Ada' } },
      { channel: 'json', seq: 4, kind: 'json.delete', key: 'a' },
    ]);
  });

  test('since replays what was missed, each thing as it is now, and goes on live', async () => {
    for (let n = 0; n < 5; n += 1) await call('PUT', '/json/a', n);
    await call('PUT', '/json/b', 'x');
    await call('DELETE', '/json/b');
    const client = await connect();
    await client.subscribe('json', 2);
    await call('PUT', '/json/c', true);
    await eventually(
      () => client.events('json').map(([seq, kind]) => [seq, kind]),
      [
        [5, 'json.put'],
        [7, 'json.delete'],
        [8, 'json.put'],
      ],
    );
    expect(client.of('subscribed')[0]?.seq).toBe(2);
  });

  test('a gap of what another channel tells is no gap', async () => {
    const client = await connect();
    await client.subscribe('tables');
    for (let n = 0; n < 20; n += 1) await call('PUT', '/json/a', n);
    await call('POST', '/tables/t', { n: 1 });
    await call('PUT', '/json/a', 'x');
    await call('POST', '/tables/t', { n: 2 });
    await eventually(() => client.events('tables').map(([seq]) => seq), [21, 22, 24]);
  });

  test('a client that was away too long, or claims an unknown position, must start again', async () => {
    for (const key of ['a', 'b', 'c']) await call('PUT', `/json/${key}`, 1);
    await easel.sql`update artifact set tombstones_trimmed_seq = 2 where id = ${artifact.id}`;
    const client = await connect();
    for (const since of [1, 9]) {
      await client.subscribe('json', since);
      await client.until((frame) => frame.type === 'reset', client.frames.length - 1);
    }
    expect(client.of('reset')).toEqual([
      { type: 'reset', channel: 'json', seq: 3 },
      { type: 'reset', channel: 'json', seq: 3 },
    ]);
    await call('PUT', '/json/d', 1);
    await eventually(() => client.events('json').map(([seq]) => seq), [4]);
  });

  test.each(['json', 'tables', 'blobs', 'comments', 'documents'])('%s catches up alone', async (channel) => {
    await call('PUT', '/json/a', 1);
    await call('POST', '/tables/t', { n: 1 });
    await call('DELETE', '/json/a');
    const client = await connect();
    await client.subscribe(channel, 0);
    await client.settled();
    const kinds = { json: ['json.delete'], tables: ['table.put', 'row.put'] };
    await eventually(() => client.events(channel).map(([, kind]) => kind), kinds[channel as 'json'] ?? []);
    expect(client.of('subscribed')).toEqual([{ type: 'subscribed', channel, seq: 0 }]);
  });

  test('versions: what is published and what is live, resumed by number, drafts only for editors', async () => {
    const [own, visitor] = await Promise.all([connect(), connectAnonymously()]);
    await own.subscribe('versions');
    await visitor.subscribe('versions');
    expect((await publishAgain()).status).toBe(200);
    expect((await publishAgain({ draft: true })).status).toBe(200);
    await eventually(
      () => own.events('versions').map(([seq, kind]) => [seq, kind]),
      [
        [2, 'version.published'],
        [2, 'version.live'],
        [3, 'version.published'],
      ],
    );
    await eventually(() => visitor.events('versions').length, 2);
    const init = { method: 'POST', body: '{"version_no":1}', headers: { 'content-type': 'application/json' }, token: owner.token };
    expect((await easel.fetch(`/v1/artifacts/${artifact.id}/rollback`, init)).status).toBe(200);
    await eventually(() => visitor.events('versions').at(-1)?.slice(1), ['version.live', { versionId: expect.any(String), versionNo: 1 }]);
    expect(visitor.events('versions')).toHaveLength(3);
    const back = await connect();
    await back.subscribe('versions', 1);
    await eventually(
      () => back.events('versions').map(([seq, kind]) => [seq, kind]),
      [
        [2, 'version.published'],
        [3, 'version.published'],
        [3, 'version.live'],
      ],
    );
    await back.subscribe('versions', 7);
    await eventually(() => back.of('reset'), [{ type: 'reset', channel: 'versions', seq: 3 }]);
  });

  test('datasets: new versions of each, resumed by number; a deletion says to read them again', async () => {
    const own = await connect();
    await own.subscribe('datasets');
    const rows = async (name: string, n: number) => expect((await call('PUT', `/datasets/${name}`, [{ n }])).status).toBe(201);
    await rows('first', 1);
    await rows('second', 1);
    await rows('first', 2);
    expect((await call('PUT', '/datasets/first', [{ n: 2 }])).status).toBe(200);
    await eventually(
      () => own.events('datasets'),
      [
        [1, 'dataset.version', expect.objectContaining({ name: 'first', version: 1, rows: 1 })],
        [2, 'dataset.version', expect.objectContaining({ name: 'second', version: 1 })],
        [3, 'dataset.version', expect.objectContaining({ name: 'first', version: 2 })],
      ],
    );
    const back = await connect();
    await back.subscribe('datasets', 2);
    await eventually(() => back.events('datasets').map(([seq]) => seq), [3]);
    expect((await call('DELETE', '/datasets/second')).status).toBe(200);
    for (const client of [own, back]) await eventually(() => client.of('reset'), [{ type: 'reset', channel: 'datasets', seq: 4 }]);
    await rows('second', 3);
    await eventually(() => own.events('datasets').at(-1), [5, 'dataset.version', expect.objectContaining({ name: 'second', version: 2 })]);
    const late = await connect();
    await late.subscribe('datasets', 3);
    await eventually(() => late.of('reset'), [{ type: 'reset', channel: 'datasets', seq: 5 }]);
  });

  test('keys that begin with _ are told to owner and editors only, also after a role was given or taken', async () => {
    const editor = await easel.newUser();
    await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${artifact.id}, ${editor.userId}, 'editor', 0)`;
    const [own, edits, visitor] = await Promise.all([connect(), connect(editor.token), connectAnonymously()]);
    for (const client of [own, edits, visitor]) await client.subscribe('json');
    await call('PUT', '/json/_secret', 1);
    await easel.sql`delete from collaborator where artifact_id = ${artifact.id}`;
    await settings({ name: 'Notices' });
    await edits.until(({ type }) => type === 'access');
    await call('PUT', '/json/_other', 1);
    await call('PUT', '/json/shown', 1);
    await eventually(() => own.events('json').map(([seq]) => seq), [1, 2, 3]);
    await eventually(() => edits.events('json').map(([seq]) => seq), [1, 3]);
    await eventually(() => visitor.events('json').map(([seq]) => seq), [3]);
    expect(edits.of('access')).toEqual([{ type: 'access', canWrite: false }]);
  });

  test('a client that lost its access is closed for good, with the reason', async () => {
    const stranger = await easel.newUser();
    const revoked = await easel.newUser();
    const expiring = await easel.newUser();
    await easel.sql`update access_token set expires_at_ms = ${easel.clock.nowMs() + 5000} where user_id = ${expiring.userId}`;
    const [own, strange, gone, old] = await Promise.all([
      connect(),
      connect(stranger.token),
      connect(revoked.token),
      connect(expiring.token),
    ]);
    const [token] = await easel.sql<{ id: string }[]>`select id from access_token where user_id = ${revoked.userId}`;
    await easel.fetch(`/v1/me/tokens/${token?.id}`, { method: 'DELETE', token: revoked.token });
    expect(await gone.closed()).toBe(CLOSE.unauthorized);
    easel.clock.advance(5000);
    expect(await old.closed()).toBe(CLOSE.unauthorized);
    await settings({ visibility: 'private' });
    expect(await strange.closed()).toBe(CLOSE.revoked);
    expect(own.ended).toBeUndefined();
    await easel.fetch(`/v1/artifacts/${artifact.id}`, { method: 'DELETE', token: owner.token });
    expect(await own.closed()).toBe(CLOSE.gone);
    expect([CLOSE.unauthorized, CLOSE.revoked, CLOSE.gone].every((code) => code >= 4400 && code < 4500)).toBe(true);
  });

  test('comments: live and resumed, and over as soon as they are turned off', async () => {
    const visitor = await connectAnonymously();
    await visitor.subscribe('comments');
    const added = await call('POST', '/comments', { content: 'Hello' });
    expect(added.status).toBe(201);
    const { id } = added.body.data;
    await call('PATCH', `/comments/${id}`, { content: 'Hello all' });
    await call('POST', `/comments/${id}/reactions`, { emoji: '👍' });
    await call('PATCH', `/comments/${id}/resolve`, { resolved: true });
    await eventually(
      () => visitor.events('comments').map(([, kind]) => kind),
      ['comment:added', 'comment:updated', 'comment:reaction', 'comment:resolved'],
    );
    const [, , reacted] = visitor.of('event');
    expect(reacted).toMatchObject({ channel: 'comments', id, data: { id, content: 'Hello all', reactions: { '👍': { count: 1 } } } });
    const back = await connect();
    await back.subscribe('comments', 0);
    await eventually(() => back.events('comments').map(([, kind]) => kind), ['comment:updated']);
    await call('DELETE', `/comments/${id}`);
    await eventually(() => visitor.events('comments').at(-1)?.[1], 'comment:deleted');
    await call('PUT', '/comments/_config', { enabled: false });
    await eventually(() => visitor.of('unsubscribed'), [{ type: 'unsubscribed', channel: 'comments', code: 'COMMENTS_DISABLED' }]);
    visitor.send({ type: 'subscribe', channel: 'comments', id: 'c' });
    await eventually(() => visitor.of('error'), [expect.objectContaining({ code: 'COMMENTS_DISABLED', id: 'c' })]);
    expect(back.of('unsubscribed')).toEqual([]);
  });

  test('an account that changes its name is seen by it when it connects again', async () => {
    await connect();
    await easel.fetch('/v1/auth/profile', { token: owner.token, ...patch({ name: 'Grace' }) });
    const again = await connect();
    expect(again.of('hello')[0]?.you.name).toBe('Grace');
  });

  test('unsubscribed is unsubscribed', async () => {
    const client = await connect();
    await client.subscribe('json');
    client.send({ type: 'unsubscribe', channel: 'json', id: 'u' });
    await client.until((frame) => frame.type === 'unsubscribed' && frame.id === 'u');
    await call('PUT', '/json/a', 1);
    await client.subscribe('json', 0);
    await eventually(() => client.events('json').map(([seq]) => seq), [1]);
  });

  test('a data change reaches 200 sockets', async () => {
    const clients = await Promise.all(Array.from({ length: 200 }, () => connect()));
    await Promise.all(clients.map((client) => client.subscribe('json')));
    for (let n = 0; n < 5; n += 1) await call('PUT', '/json/a', n);
    await Promise.all(
      clients.map((client) => client.until((frame) => frame.type === 'event' && frame.channel === 'json' && frame.seq === 5)),
    );
    expect(clients.every((client) => client.events('json').length === 5)).toBe(true);
  });
});
