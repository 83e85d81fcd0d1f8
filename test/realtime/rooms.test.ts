/** Rooms over fake links: the frames that each member gets, and those of a slow member once it has drained. */
import { request } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as Y from 'yjs';
import { ConflictBudget } from '../../actors/documents/conflict-scan.ts';
import { type DocumentHost, LiveDocument } from '../../actors/documents/live-document.ts';
import type { ArtifactActor } from '../../actors/runtime/artifact-actor.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { Link, SendOutcome } from '../../src/edge/socket.ts';
import type { RoomMember, Seat } from '../../src/realtime/room-types.ts';
import { RoomDirectory } from '../../src/realtime/rooms.ts';
import { readAwareness, readMessage, writeAwareness } from '../../src/realtime/wire.ts';
import { startTestEasel } from '../support/easel.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { stage } from './realtime-stage.ts';

const ARTIFACT = `art_${'a'.repeat(24)}` as ArtifactId;

/** Topics as in uWebSockets, without the network. */
class Wires {
  readonly links = new Set<FakeLink>();
}

class FakeLink implements Link {
  isOpen = true;
  bufferedBytes = 0;
  readonly frames: Uint8Array[] = [];
  readonly topics = new Set<string>();
  readonly doc = new Y.Doc();
  closedWith: number | undefined;
  onSkipped: () => void = () => undefined;
  readonly #wires: Wires;

  constructor(wires: Wires) {
    this.#wires = wires;
    wires.links.add(this);
  }

  send(frame: Uint8Array | string): SendOutcome {
    if (this.bufferedBytes > 0) {
      this.onSkipped();
      return 'skipped';
    }
    const bytes = typeof frame === 'string' ? new TextEncoder().encode(frame) : frame;
    this.frames.push(bytes);
    const message = readMessage(bytes);
    if (message.kind === 'step2' || message.kind === 'update') Y.applyUpdate(this.doc, message.update);
    return 'sent';
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
    for (const link of this.#wires.links) if (link !== this && link.topics.has(topic)) link.send(frame);
  }

  broadcast(topic: string, frame: Uint8Array | string): void {
    for (const link of this.#wires.links) if (link.topics.has(topic)) link.send(frame);
  }

  close(code: number): void {
    this.isOpen = false;
    this.closedWith = code;
  }

  kinds(): string[] {
    return this.frames.splice(0).map((frame) => readMessage(frame).kind);
  }
}

function world() {
  const clock = new VirtualClock();
  const wires = new Wires();
  const host: DocumentHost = {
    isOver: false,
    conflicts: new ConflictBudget(() => clock.monotonicMs()),
    storedBytes: () => 0,
    admit: () => undefined,
    record: () => undefined,
    heard: () => undefined,
    spoiled: () => undefined,
  };
  const live = new LiveDocument('notes', host);
  let failing = false;
  const actor = { documents: { open: () => live, prepare: () => undefined } } as unknown as ArtifactActor;
  const ask = <T>(_id: ArtifactId, turn: (actor: ArtifactActor) => T): T | Promise<T> => {
    if (failing) return Promise.reject(new Failure('UNAVAILABLE'));
    return turn(actor);
  };
  const rooms = new RoomDirectory({
    runtime: { ask: ask as never, askPatiently: ask as never },
    clock,
    refusals: { refused: () => undefined },
  });
  const member = (link: FakeLink, id: string, address?: string): RoomMember => ({
    link,
    address,
    principal: { kind: 'anonymous' },
    identity: { id, name: id, kind: 'human', color: '#000000' },
    over: () => link.close(4503),
  });
  const join = async (id: string, address?: string) => {
    const link = new FakeLink(wires);
    const seat = await rooms.join(ARTIFACT, 'notes', member(link, id, address));
    link.onSkipped = () => seat.skipped();
    return { link, seat };
  };
  return {
    clock,
    live,
    rooms,
    join,
    fail: (now: boolean) => {
      failing = now;
    },
  };
}

/** Writes into a document of its own and returns the update. */
function typist(seat: Seat) {
  const doc = new Y.Doc();
  doc.on('update', (update: Uint8Array) => void seat.apply(update));
  return (text: string) => doc.getText('text').insert(doc.getText('text').length, text);
}

/** The gap within which edits are published together. */
const GAP_MS = 10;

const textOf = (link: FakeLink) => link.doc.getText('text').toString();

test('what one changes reaches the others once, under the address of each', async () => {
  const { join, live } = world();
  const [writer, reader, addressed] = [await join('a'), await join('b'), await join('c', 'notes')];
  typist(writer.seat)('hello');
  expect([writer.link.kinds(), reader.link.kinds(), addressed.link.frames.length]).toEqual([[], ['update'], 1]);
  expect(addressed.link.frames[0]?.subarray(0, 6)).toEqual(new TextEncoder().encode('\x05notes'));
  expect(live.read((doc) => doc.getText('text').toString())).toBe('hello');
});

test('edits within the gap are published together, whoever made them; a cursor never before the character it refers to', async () => {
  const { join, clock } = world();
  const [one, two, reader] = [await join('a'), await join('b'), await join('c')];
  const [typeOne, typeTwo] = [typist(one.seat), typist(two.seat)];
  typeOne('1');
  expect(reader.link.kinds()).toEqual(['update']);
  typeOne('2');
  typeTwo('3');
  one.seat.awareness(writeAwareness([{ clientId: 1, clock: 1, json: '{"at":2}' }]));
  clock.advance(GAP_MS - 1);
  expect(reader.link.kinds()).toEqual([]);
  clock.advance(1);
  expect(reader.link.kinds()).toEqual(['update', 'update', 'awareness']);
  expect([one.link.kinds(), two.link.kinds()]).toEqual([
    ['update', 'awareness'],
    ['update', 'update', 'awareness'],
  ]);
  clock.advance(GAP_MS);
  typeTwo('4');
  expect(reader.link.kinds()).toEqual(['update']);
});

test('what is large does not wait for the moment to pass, and what waits is sent before everybody is sent away', async () => {
  const { join, live } = world();
  const [writer, reader] = [await join('a'), await join('b')];
  const type = typist(writer.seat);
  type('1');
  type('2');
  expect(reader.link.kinds()).toEqual(['update']);
  type('x'.repeat(100_000));
  expect(reader.link.kinds()).toEqual(['update', 'update']);
  type('3');
  live.end('moved');
  expect([reader.link.kinds(), textOf(reader.link).length]).toEqual([['update'], 100_003]);
});

describe('a slow member', () => {
  test('that has missed something gets it as one difference once it has drained, and nothing before', async () => {
    const { join, clock } = world();
    const [writer, slow] = [await join('a'), await join('b')];
    const type = typist(writer.seat);
    slow.seat.requested({ stateVector: Uint8Array.of(0) });
    type('1');
    slow.link.kinds();
    slow.link.bufferedBytes = 1;
    for (const text of ['2', '3', '4']) type(text);
    clock.advance(GAP_MS);
    expect([slow.link.topics.size, slow.link.frames.length]).toEqual([0, 0]);
    slow.seat.drained();
    expect(slow.link.frames.length).toBe(0);
    slow.link.bufferedBytes = 0;
    slow.seat.drained();
    expect([slow.link.kinds(), textOf(slow.link)]).toEqual([['step2'], '1234']);
    clock.advance(GAP_MS);
    type('5');
    expect([slow.link.kinds(), textOf(slow.link)]).toEqual([['update'], '12345']);
  });

  test('that was up to date for two beats gets only the recent difference', async () => {
    const { join, clock } = world();
    const [writer, slow] = [await join('a'), await join('b')];
    const type = typist(writer.seat);
    slow.seat.requested({ stateVector: Uint8Array.of(0) });
    type('x'.repeat(10_000));
    for (let beat = 0; beat < 3; beat += 1) clock.advance(10_000);
    type('y');
    slow.link.bufferedBytes = 1;
    type('z');
    clock.advance(GAP_MS);
    slow.link.frames.splice(0);
    slow.link.bufferedBytes = 0;
    slow.seat.drained();
    const [difference] = slow.link.frames;
    expect(difference?.byteLength).toBeLessThan(100);
    expect(textOf(slow.link).endsWith('xyz')).toBe(true);
  });

  test('that never sent its state vector gets the whole document, however long it was connected', async () => {
    const { join, clock } = world();
    const [writer, slow] = [await join('a'), await join('b')];
    const type = typist(writer.seat);
    slow.link.bufferedBytes = 1;
    type('early');
    for (let beat = 0; beat < 4; beat += 1) clock.advance(10_000);
    slow.link.bufferedBytes = 0;
    slow.seat.drained();
    expect(textOf(slow.link)).toBe('early');
  });

  test('that sends Step1 while it is behind is answered after it has drained, from its own state vector', async () => {
    const { join } = world();
    const [writer, slow] = [await join('a'), await join('b')];
    const type = typist(writer.seat);
    type('known');
    const vector = slow.link.doc;
    slow.link.bufferedBytes = 1;
    type(' and new');
    slow.seat.requested({ stateVector: Y.encodeStateVector(vector) });
    slow.link.kinds();
    slow.link.bufferedBytes = 0;
    slow.seat.drained();
    expect([slow.link.kinds(), textOf(slow.link)]).toEqual([['step2'], 'known and new']);
  });

  test('gets the awareness states when it has drained', async () => {
    const { join } = world();
    const [talker, slow] = [await join('a'), await join('b')];
    slow.link.bufferedBytes = 1;
    talker.seat.awareness(writeAwareness([{ clientId: 1, clock: 1, json: '{"at":1}' }]));
    slow.link.bufferedBytes = 0;
    slow.seat.drained();
    expect(slow.link.kinds()).toEqual(['step2', 'awareness']);
  });
});

test('in a crowd awareness changes are gathered, and none is lost', async () => {
  const { join, clock } = world();
  const people = await Promise.all(Array.from({ length: 50 }, (_, at) => join(`p${at}`)));
  for (let clockOf = 1; clockOf <= 3; clockOf += 1) {
    for (const [clientId, { seat }] of people.entries()) {
      seat.awareness(writeAwareness([{ clientId: clientId + 1, clock: clockOf, json: `{"at":${clockOf}}` }]));
    }
  }
  clock.advance(50);
  const known = new Map<number, unknown>();
  const frames = people[49]?.link.frames ?? [];
  for (const frame of frames) {
    const message = readMessage(frame);
    const entries = message.kind === 'awareness' ? readAwareness(message.states, 100, 1000) : [];
    if (Array.isArray(entries)) for (const { clientId, json } of entries) known.set(clientId, JSON.parse(json).at);
  }
  expect(frames).toHaveLength(2);
  expect([...known.values()]).toEqual(Array.from({ length: 50 }, () => 3));
});

test('the room closes with its last member; a document that ends closes all members, never within a call of their own', async () => {
  const { join, rooms, live } = world();
  const [one, two] = [await join('a'), await join('b')];
  expect([rooms.size, live.isHeard]).toEqual([1, true]);
  one.seat.leave();
  one.seat.leave();
  expect(rooms.size).toBe(1);
  live.end('moved');
  expect([rooms.size, two.link.closedWith]).toEqual([0, undefined]);
  await Promise.resolve();
  expect([two.link.closedWith, one.link.closedWith]).toEqual([4503, undefined]);
  expect(() => two.seat.apply(new Uint8Array([0, 0]))).toThrow(Failure);
  two.seat.leave();
});

test('10 000 failed loads leave no room behind (anchors 8)', async () => {
  const { join, rooms, fail, live } = world();
  fail(true);
  const outcomes = await Promise.allSettled(Array.from({ length: 10_000 }, () => join('a')));
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(10_000);
  expect([rooms.size, live.isHeard]).toEqual([0, false]);
  fail(false);
  await join('a');
  expect(rooms.size).toBe(1);
});

test('while the store fails 2 000 clients are refused before the upgrade, and then admitted (anchors 3, 8)', async () => {
  const easel = await startTestEasel();
  onTestFinished(() => easel.close());
  const { artifactId, owner } = await stage(easel);
  const headers = {
    authorization: `Bearer ${owner.token}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const attempt = (document: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = request(`${easel.baseUrl}/v1/data/${artifactId}/realtime/${document}`, { headers });
      asked.on('response', (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      });
      asked.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response.statusCode);
      });
      asked.on('error', reject);
      asked.end();
    });
  await easel.sql`alter table document rename to document_away`;
  const before = easel.runtime.stats();
  const seen = new Map<number | undefined, number>();
  for (let round = 0; round < 40; round += 1) {
    const statuses = await Promise.all(Array.from({ length: 50 }, (_, at) => attempt(`d${at}`)));
    for (const status of statuses) seen.set(status, (seen.get(status) ?? 0) + 1);
  }
  expect([...seen]).toEqual([[503, 2000]]);
  expect(easel.runtime.stats()).toMatchObject({ mailboxDepth: before.mailboxDepth, pendingChanges: 0 });
  const metrics = await (await easel.fetch('/metrics')).text();
  expect(metrics).toMatch(/^easel_sockets_open 0$/m);
  expect(metrics).toMatch(/^easel_rooms_open 0$/m);
  await easel.sql`alter table document_away rename to document`;
  expect(await attempt('d0')).toBe(101);
});
