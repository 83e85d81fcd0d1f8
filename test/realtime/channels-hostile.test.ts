/** Channels with clients that break the rules, do not read, or reconnect after a crash. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { ArtifactHead } from '../../actors/access/access.ts';
import { CLOSE } from '../../protocol/core/close-codes.ts';
import { newId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { CHANNELS, type ServerFrame, serverFrame } from '../../protocol/data/realtime.ts';
import type { Link, SendOutcome, SocketSession } from '../../src/edge/socket.ts';
import type { Outlet } from '../../src/features/data/changes/follower.ts';
import { Follower } from '../../src/features/data/changes/follower.ts';
import { ChannelsProtocol } from '../../src/realtime/channels/protocol.ts';
import { Connections } from '../../src/realtime/connections.ts';
import { callData, publishArtifact } from '../support/data-client.ts';
import { createServerDatabase, databaseKinds, temporaryDir } from '../support/database.ts';
import { startTestEasel } from '../support/easel.ts';
import { startProgram } from '../support/program.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { ChannelClient, eventually } from './channel-client.ts';

const id = newId('artifact');
const owner = newId('user');
const head: ArtifactHead = {
  id,
  slug: 'page',
  ownerId: owner,
  workspaceId: null,
  folder: null,
  visibility: 'public',
  allowAnonWrite: false,
  allowAnonCollab: true,
  liveVersionId: null,
  deletedAtMs: null,
  collaborators: new Map(),
};

/** A peer that reads nothing while it is stalled, with room for `queueMax` queued frames. */
class FakeLink implements Link {
  readonly told: ServerFrame[] = [];
  readonly topics = new Set<string>();
  readonly others: FakeLink[];
  queueMax = 3;
  isStalled = false;
  isOpen = true;
  code: number | undefined;
  session: SocketSession | undefined;
  #waiting: ServerFrame[] = [];

  constructor(others: FakeLink[]) {
    this.others = others;
    others.push(this);
  }

  get bufferedBytes(): number {
    return this.#waiting.length * 100;
  }

  send(frame: Uint8Array | string): SendOutcome {
    if (!this.isOpen) return 'skipped';
    const said = serverFrame.parse(JSON.parse(String(frame)));
    if (!this.isStalled) {
      this.told.push(said);
      return 'sent';
    }
    if (this.#waiting.length >= this.queueMax) return 'skipped';
    this.#waiting.push(said);
    return 'queued';
  }

  subscribe(topic: string): void {
    this.topics.add(topic);
  }

  unsubscribe(topic: string): void {
    this.topics.delete(topic);
  }

  together(sending: () => void): void {
    sending();
  }

  publish(topic: string, frame: Uint8Array | string): void {
    for (const other of this.others)
      if (other !== this && other.topics.has(topic) && other.send(frame) === 'skipped') other.session?.skipped();
  }

  broadcast(topic: string, frame: Uint8Array | string): void {
    this.publish(topic, frame);
    if (this.topics.has(topic) && this.send(frame) === 'skipped') this.session?.skipped();
  }

  close(code: number): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.code = code;
    this.session?.closed();
  }

  drain(): void {
    this.isStalled = false;
    this.told.push(...this.#waiting.splice(0));
    this.session?.drained();
  }
}

/** Channels without a store or an actor. */
function channels() {
  const clock = new VirtualClock();
  const connections = new Connections();
  const outlets: Outlet[] = [];
  const protocol = new ChannelsProtocol({
    clock,
    connections,
    hub: {
      follow: (_id, request, outlet, onClosed) => {
        outlets.push(outlet);
        const read = () => Promise.resolve({ events: [], hasMore: false, headSeq: 0, trimmedSeq: 0 });
        const follower = new Follower(request.reserved, { outlet, sinceSeq: request.sinceSeq, knownSeq: 0, read, onClosed });
        void follower.start();
        return follower;
      },
    },
    versions: { follow: () => ({ resume: () => undefined, close: () => undefined }) },
    datasets: { follow: () => ({ resume: () => undefined, close: () => undefined }) },
    access: { watch: () => () => undefined },
    identities: { of: (_principal, session) => ({ id: `anonymous:${session}`, name: 'Anonymous', kind: 'anonymous', color: '#123456' }) },
    heads: { get: () => head },
    mayReadComments: () => true,
  });
  const links: FakeLink[] = [];
  const connect = () => {
    const link = new FakeLink(links);
    const call = {
      requestId: 'r',
      principal: { kind: 'anonymous' },
      head,
      params: { artifactId: id },
      query: {},
      host: '',
      address: '',
    } as const;
    link.session = protocol.open(link, call);
    return link;
  };
  return { clock, connections, connect, outlets };
}

function say(link: FakeLink, frame: unknown): void {
  const bytes = typeof frame === 'string' ? new TextEncoder().encode(frame) : new TextEncoder().encode(JSON.stringify(frame));
  link.session?.message(bytes.slice().buffer, false);
}

function frames<T extends ServerFrame['type']>(link: FakeLink, type: T): Extract<ServerFrame, { type: T }>[] {
  return link.told.filter((frame): frame is Extract<ServerFrame, { type: T }> => frame.type === type);
}

const nearFrame = fc.record(
  {
    type: fc.constantFrom('subscribe', 'unsubscribe', 'presence', 'broadcast', 'typing', 'ping', 'pong', 'hello', '__proto__'),
    channel: fc.oneof(fc.constantFrom(...CHANNELS), fc.jsonValue()),
    since: fc.oneof(fc.nat(), fc.double(), fc.jsonValue()),
    state: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
    event: fc.oneof(fc.string(), fc.jsonValue()),
    data: fc.jsonValue(),
    id: fc.oneof(fc.string(), fc.jsonValue()),
    isTyping: fc.oneof(fc.boolean(), fc.jsonValue()),
  },
  { requiredKeys: [] },
);

test('whatever a client sends, it is answered in frames of the schema or closed, and leaves nothing behind', () => {
  const message = fc.oneof(
    { weight: 6, arbitrary: nearFrame.map((frame) => new TextEncoder().encode(JSON.stringify(frame))) },
    { weight: 1, arbitrary: fc.json().map((text) => new TextEncoder().encode(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 60 }), (messages) => {
      const { connect, connections, clock } = channels();
      const [one, other] = [connect(), connect()];
      for (const bytes of messages) {
        one.session?.message(bytes.slice().buffer, false);
        clock.advance(10);
      }
      expect([undefined, CLOSE.malformed]).toContain(one.code);
      other.close(1000);
      one.close(1000);
      clock.advance(60_000);
      expect([connections.count(id), one.topics.size, other.topics.size]).toEqual([0, 0, 0]);
    }),
    { seed: 20_260_103, numRuns: 400 },
  );
});

test('binary frames, and more than a few malformed ones, end the connection for good', () => {
  const { connect } = channels();
  const binary = connect();
  binary.session?.message(new Uint8Array([1, 2]).buffer, true);
  const broken = connect();
  for (let n = 0; n < 20; n += 1) say(broken, '{');
  expect([broken.code, frames(broken, 'error').length]).toEqual([undefined, 20]);
  say(broken, '{');
  expect([binary.code, broken.code]).toEqual([CLOSE.malformed, CLOSE.malformed]);
});

test('too many frames are dropped, and that is said once', () => {
  const { connect, clock } = channels();
  const link = connect();
  for (let n = 0; n < LIMITS.channelFramesBurst + 50; n += 1) say(link, { type: 'ping' });
  expect(frames(link, 'pong')).toHaveLength(LIMITS.channelFramesBurst);
  expect(frames(link, 'error').map(({ code }) => code)).toEqual(['RATE_LIMITED']);
  clock.advance(1000);
  say(link, { type: 'ping' });
  expect(frames(link, 'pong')).toHaveLength(LIMITS.channelFramesBurst + 1);
});

test('subscribing over and over is bounded: each costs a read of the store', () => {
  const { connect, outlets } = channels();
  const link = connect();
  for (let n = 0; n < LIMITS.channelSubscribesBurst + 5; n += 1) say(link, { type: 'subscribe', channel: 'json', since: 0 });
  expect(outlets).toHaveLength(LIMITS.channelSubscribesBurst);
  expect(frames(link, 'error').map(({ code }) => code)).toEqual(Array.from({ length: 5 }, () => 'RATE_LIMITED'));
});

test('a slow client misses frames of presence and gets a snapshot once it has drained', () => {
  const { connect, clock } = channels();
  const [slow, quick] = [connect(), connect()];
  for (const link of [slow, quick]) for (const channel of ['presence', 'broadcast']) say(link, { type: 'subscribe', channel });
  clock.advance(200);
  slow.isStalled = true;
  for (let x = 0; x < 50; x += 1) {
    say(quick, { type: 'presence', state: { x } });
    say(quick, { type: 'broadcast', event: 'n', data: x });
    clock.advance(200);
  }
  expect(slow.bufferedBytes).toBe(slow.queueMax * 100);
  slow.drain();
  const [last, reset] = [frames(slow, 'event').at(-1), frames(slow, 'reset').at(-1)];
  expect(last).toMatchObject({ channel: 'presence', kind: 'people', data: { people: [{ state: null }, { state: { x: 49 } }] } });
  expect(reset).toEqual({ type: 'reset', channel: 'broadcast', seq: 0 });
});

test('heartbeats every 20 s; a client that stops reading is closed with a reconnect code', () => {
  const { connect, clock } = channels();
  const [slow, quick] = [connect(), connect()];
  clock.advance(20_000);
  expect([frames(slow, 'ping').length, frames(quick, 'ping').length]).toEqual([1, 1]);
  slow.isStalled = true;
  say(slow, { type: 'ping' });
  clock.advance(60_000);
  expect(slow.code).toBeUndefined();
  clock.advance(20_000);
  expect([slow.code, quick.code]).toEqual([CLOSE.overloaded, undefined]);
});

describe('over the wire', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  test('a client that stalls holds nothing up, and catches up with what is there now', async () => {
    const easel = await startTestEasel();
    ends.push(() => easel.close());
    const user = await easel.newUser('pro');
    const artifact = await publishArtifact(easel, user);
    const slow = await ChannelClient.open(easel.port, artifact.id, { token: user.token });
    ends.push(() => slow.close());
    await slow.subscribe('json');
    slow.socket.pause();
    const value = 'x'.repeat(15_000);
    for (let round = 0; round < 11; round += 1) {
      const requests = Array.from({ length: 90 }, (_, n) => ({ method: 'PUT', path: `/json/k${n}`, body: `${round}${value}` }));
      const done = await callData(easel, artifact, 'POST', '/batch', { token: user.token, body: { requests, atomic: true } });
      expect(done.status).toBe(200);
    }
    await callData(easel, artifact, 'PUT', '/json/end', { token: user.token, body: 'done' });
    slow.socket.resume();
    await slow.until((frame) => frame.type === 'event' && 'key' in frame && frame.key === 'end');
    const told = slow.events('json');
    expect(told.length).toBeLessThan(11 * 90);
    const lastOf = new Map<unknown, unknown>();
    for (const frame of slow.of('event')) if ('key' in frame) lastOf.set(frame.key, frame.data);
    for (let n = 0; n < 90; n += 1) expect([n, String(lastOf.get(`k${n}`)).slice(0, 3)]).toEqual([n, '10x']);
  });

  test.each(databaseKinds())(
    'kill -9 and a new start: nobody who comes back with a seq misses or doubles anything, %s',
    { timeout: 60_000 },
    async (kind) => {
      const folder = temporaryDir();
      const server = kind === 'postgres' ? await createServerDatabase() : null;
      const settings = { DATA_DIR: folder.path, ...(server && { DATABASE_URL: server.url }) };
      let program = await startProgram(settings);
      ends.push(
        folder.remove,
        () => server?.drop(),
        () => program.end('SIGKILL'),
      );
      const token = program.adminToken ?? '';
      const send = async (method: string, path: string, body: unknown): Promise<unknown> => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const reply = await fetch(`${program.baseUrl}${path}`, { method, headers, body: JSON.stringify(body) });
        expect([200, 201]).toContain(reply.status);
        return reply.json();
      };
      const files = [{ path: 'index.html', content: '<p>data</p>', mime: 'text/html', encoding: 'utf8' }];
      const published = (await send('POST', '/v1/publish', { name: 'Data', files })) as { artifact: { id: string } };
      const artifactId = published.artifact.id;
      const data = `/v1/data/${artifactId}`;
      const connect = async () => {
        const client = await ChannelClient.open(Number(new URL(program.baseUrl).port), artifactId, { token });
        ends.push(() => client.close());
        return client;
      };
      const before = await connect();
      await before.subscribe('json');
      for (let n = 0; n < 5; n += 1) await send('PUT', `${data}/json/a${n}`, n);
      await eventually(() => before.events('json').length, 5);
      await program.end('SIGKILL');
      expect(await before.closed()).toBe(1006);
      program = await startProgram(settings);
      for (let n = 5; n < 8; n += 1) await send('PUT', `${data}/json/a${n}`, n);
      const after = await connect();
      await after.subscribe('json', before.events('json').at(-1)?.[0]);
      await send('PUT', `${data}/json/a8`, 8);
      await eventually(() => [...before.events('json'), ...after.events('json')].map(([seq]) => seq), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
      await program.end('SIGTERM');
      expect(await after.closed()).toBe(CLOSE.moved);
    },
  );
});
