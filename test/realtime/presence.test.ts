/** Presence and broadcasts over the whole service. The server takes the identity from the token. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../protocol/core/limits.ts';
import { callData, type DataArtifact, publishArtifact } from '../support/data-client.ts';
import { databaseKinds } from '../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../support/easel.ts';
import { patch } from '../support/requests.ts';
import { ChannelClient, eventually } from './channel-client.ts';

/** Longer than any tick of presence. */
const TICK_MS = 200;

interface Known {
  readonly id: string;
  readonly name: string;
  readonly state: unknown;
}

interface Connected extends Known {
  readonly connectionId: string;
}

/** Parses an event frame of the channel with its schema. */
interface Told {
  readonly people?: readonly Connected[];
  readonly joined?: readonly Connected[];
  readonly updated?: readonly Pick<Connected, 'connectionId' | 'state'>[];
  readonly left?: readonly string[];
}

/** The presence that a client knows from all frames that it received. */
function known(client: ChannelClient): Map<string, Known> {
  const people = new Map<string, Known>();
  for (const [, kind, data] of client.events('presence')) {
    const told = data as Told;
    if (kind === 'people') people.clear();
    for (const one of told.people ?? told.joined ?? []) people.set(one.connectionId, { id: one.id, name: one.name, state: one.state });
    for (const { connectionId, state } of told.updated ?? []) {
      const before = people.get(connectionId);
      if (before !== undefined) people.set(connectionId, { ...before, state });
    }
    for (const connectionId of told.left ?? []) people.delete(connectionId);
  }
  return people;
}

describe.each(databaseKinds().slice(0, 1))('on %s', (database) => {
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

  async function connect(token?: string): Promise<ChannelClient> {
    const client = await ChannelClient.open(easel.port, artifact.id, { token });
    open.push(client);
    return client;
  }

  async function arrive(token?: string): Promise<ChannelClient> {
    const client = await connect(token);
    await client.subscribe('presence');
    await client.until((frame) => frame.type === 'event' && frame.channel === 'presence');
    return client;
  }

  /** Settles when everything sent has been published. */
  async function tick(...clients: ChannelClient[]): Promise<void> {
    for (const client of clients) await client.settled();
    easel.clock.advance(TICK_MS);
    for (const client of clients) await client.settled();
  }

  async function settings(change: object): Promise<void> {
    expect((await easel.fetch(`/v1/artifacts/${artifact.id}`, { token: owner.token, ...patch(change) })).status).toBe(200);
  }

  test('people see each other come, move and go', async () => {
    const user = await easel.newUser();
    const [ada, bob] = [await arrive(owner.token), await arrive(user.token)];
    ada.send({ type: 'presence', state: { x: 1 } });
    bob.send({ type: 'presence', state: { x: 2 } });
    await tick(ada, bob);
    const both = new Map([
      [ada.connectionId, expect.objectContaining({ id: owner.userId, state: { x: 1 } })],
      [bob.connectionId, expect.objectContaining({ id: user.userId, state: { x: 2 } })],
    ]);
    expect(known(ada)).toEqual(both);
    expect(known(bob)).toEqual(both);
    const carl = await arrive(owner.token);
    expect(known(carl).get(ada.connectionId)?.state).toEqual({ x: 1 });
    bob.close();
    await expect
      .poll(() => {
        easel.clock.advance(TICK_MS);
        return known(ada).has(bob.connectionId);
      })
      .toBe(false);
    carl.send({ type: 'unsubscribe', channel: 'presence' });
    await tick(carl, ada);
    expect([...known(ada).keys()]).toEqual([ada.connectionId]);
    expect(carl.ended).toBeUndefined();
  });

  test('a client cannot claim another identity', async () => {
    const user = await easel.newUser();
    const [ada, mallory] = [await arrive(owner.token), await arrive(user.token)];
    const forged = {
      id: owner.userId,
      name: 'Ada',
      kind: 'human',
      color: '#000000',
      connectionId: ada.connectionId,
      from: { id: owner.userId },
    };
    mallory.send({ type: 'presence', ...forged, you: forged, state: forged });
    await settings({ allow_anon_collab: true });
    await mallory.until((frame) => frame.type === 'access' && frame.canWrite);
    await ada.subscribe('broadcast');
    mallory.send({ type: 'broadcast', ...forged, event: 'hi', data: forged });
    await tick(mallory, ada);
    const seen = known(ada).get(mallory.connectionId);
    expect(seen).toMatchObject({ id: user.userId, state: forged });
    expect(seen?.name).not.toBe('Ada');
    expect(known(ada).get(ada.connectionId)?.state).toBeNull();
    const [said] = ada.of('event').filter(({ channel }) => channel === 'broadcast');
    expect(said).toMatchObject({ kind: 'hi', from: { id: user.userId, connectionId: mallory.connectionId }, data: forged });
  });

  test('however often people move, others get at most one frame a tick', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => arrive(owner.token)));
    await tick(...clients);
    const before = clients.map((client) => client.events('presence').length);
    for (let x = 0; x < 10; x += 1) for (const client of clients) client.send({ type: 'presence', state: { x } });
    for (const client of clients) await client.settled();
    easel.clock.advance(TICK_MS);
    for (const client of clients) await client.settled();
    clients.forEach((client, at) => {
      expect(client.events('presence').length - (before[at] ?? 0)).toBeLessThanOrEqual(2);
      expect([...known(client).values()].map(({ state }) => state)).toEqual(clients.map(() => ({ x: 9 })));
    });
  });

  test('a presence state is bounded, and only present clients have one', async () => {
    const ada = await connect(owner.token);
    ada.send({ type: 'presence', state: { x: 1 }, id: 'early' });
    await ada.subscribe('presence');
    ada.send({ type: 'presence', state: { x: 'y'.repeat(LIMITS.presenceStateBytesMax) }, id: 'large' });
    ada.send({ type: 'presence', state: ['no', 'object'], id: 'list' });
    ada.send({ type: 'presence', state: { x: 'y'.repeat(LIMITS.presenceStateBytesMax - 8) }, id: 'fits' });
    await ada.settled();
    expect(ada.of('error').map(({ id, code }) => [id, code])).toEqual([
      ['early', 'INVALID_REQUEST'],
      ['large', 'VALUE_TOO_LARGE'],
      ['list', 'INVALID_REQUEST'],
    ]);
  });

  test('anonymous people are let in where the artifact says so, and out again', async () => {
    const visitor = await connect();
    visitor.send({ type: 'subscribe', channel: 'presence', id: 'p' });
    visitor.send({ type: 'broadcast', event: 'hi', data: 1, id: 'b' });
    await visitor.settled();
    expect(visitor.of('error').map(({ id, code }) => [id, code])).toEqual([
      ['p', 'UNAUTHORIZED'],
      ['b', 'UNAUTHORIZED'],
    ]);
    await settings({ allow_anon_collab: true });
    await visitor.until((frame) => frame.type === 'access' && frame.canWrite);
    await visitor.subscribe('presence');
    const other = await arrive();
    visitor.send({ type: 'presence', state: { n: 1 } });
    await tick(visitor, other);
    expect([...known(other).values()].map(({ name, state }) => [name, state])).toEqual([
      ['Anonymous', { n: 1 }],
      ['Anonymous', null],
    ]);
    expect(new Set([...known(other).values()].map(({ id }) => id)).size).toBe(2);
    await settings({ allow_anon_collab: false });
    await eventually(() => visitor.of('unsubscribed'), [{ type: 'unsubscribed', channel: 'presence', code: 'FORBIDDEN' }]);
    expect(visitor.ended).toBeUndefined();
  });

  test('a broadcast reaches all other subscribers, needs the right to write, and is bounded', async () => {
    const viewer = await easel.newUser();
    await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${artifact.id}, ${viewer.userId}, 'viewer', 0)`;
    await settings({ name: 'Notices' });
    const [ada, eve, deaf] = [await connect(owner.token), await connect(viewer.token), await connect(owner.token)];
    await ada.subscribe('broadcast');
    await eve.subscribe('broadcast');
    eve.send({ type: 'broadcast', event: 'hi', data: 1, id: 'e' });
    ada.send({ type: 'broadcast', event: 'hi', data: { n: 1 } });
    ada.send({ type: 'broadcast', event: 'large', data: 'x'.repeat(LIMITS.broadcastBytesMax), id: 'l' });
    for (let n = 0; n < LIMITS.broadcastsBurst; n += 1) ada.send({ type: 'broadcast', event: 'many', data: n, id: `m${n}` });
    for (const client of [ada, eve, deaf]) await client.settled();
    expect(eve.of('error').map(({ id, code }) => [id, code])).toEqual([['e', 'FORBIDDEN']]);
    expect(ada.of('error').map(({ id, code }) => [id, code])).toEqual([
      ['l', 'VALUE_TOO_LARGE'],
      [`m${LIMITS.broadcastsBurst - 1}`, 'RATE_LIMITED'],
    ]);
    expect(eve.events('broadcast')).toHaveLength(LIMITS.broadcastsBurst);
    expect([ada.events('broadcast'), deaf.events('broadcast')]).toEqual([[], []]);
  });

  test('typing is sent to others who read comments', async () => {
    const user = await easel.newUser();
    const [ada, bob] = [await connect(owner.token), await connect(user.token)];
    await ada.subscribe('comments');
    bob.send({ type: 'typing', contextId: 'intro', id: 't' });
    await bob.subscribe('comments');
    bob.send({ type: 'typing', contextId: 'intro' });
    await bob.settled();
    await ada.settled();
    expect(bob.of('error').map(({ id, code }) => [id, code])).toEqual([['t', 'INVALID_REQUEST']]);
    const data = { contextId: 'intro', parentId: null, isTyping: true };
    expect(ada.of('event')).toEqual([
      { type: 'event', channel: 'comments', kind: 'typing', from: expect.objectContaining({ id: user.userId }), data },
    ]);
    expect(bob.events('comments')).toEqual([]);
  });

  test('over HTTP: people are counted once, and named to those who may collaborate', async () => {
    const read = async (token?: string) => (await callData(easel, artifact, 'GET', '/presence', { token })).body;
    expect(await read(owner.token)).toEqual({ success: true, data: { count: 0, people: [] } });
    await connect(owner.token);
    await connect(owner.token);
    const visitor = await connect();
    const people = [
      expect.objectContaining({ id: owner.userId, kind: 'human', connections: 2 }),
      expect.objectContaining({ id: expect.stringMatching(/^anonymous:/), connections: 1 }),
    ];
    expect((await read(owner.token)).data).toEqual({ count: 2, people });
    expect((await read()).data).toEqual({ count: 2 });
    const count = await easel.fetch(`/v1/artifacts/${artifact.id}/presence`);
    expect([count.status, await count.json()]).toEqual([200, { count: 2 }]);
    visitor.close();
    await expect.poll(async () => (await read()).data.count).toBe(1);
  });
});
