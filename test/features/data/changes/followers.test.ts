/** Followers under any interleaving of commits, gaps, reads and slow clients: each ends with the current state, in order. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Change } from '../../../../actors/kinds.ts';
import { type ArtifactId, newId } from '../../../../protocol/core/ids.ts';
import type { ChangeType } from '../../../../protocol/data/changes.ts';
import type { ChangeEvent } from '../../../../src/features/data/changes/events.ts';
import type { ChangedThing, ChangesWanted } from '../../../../src/features/data/changes/feed.ts';
import { Followed } from '../../../../src/features/data/changes/followed.ts';
import { Follower, type Outlet, type Taken } from '../../../../src/features/data/changes/follower.ts';
import type { ChangesRead } from '../../../../src/features/data/changes/store.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const id: ArtifactId = newId('artifact');
const TYPES: readonly ChangeType[] = ['json', 'tables', 'blobs', 'documents'];

/** A store of one thing for each type, which keeps only its last change. */
class Store {
  seq = 0;
  readonly last = new Map<ChangeType, number>();
  /** Reads wait here until the test releases them. */
  readonly waiting: (() => void)[] = [];

  commit(types: readonly ChangeType[]): Change[] {
    return types.map((type) => {
      this.seq += 1;
      this.last.set(type, this.seq);
      return changeOf(type, this.seq);
    });
  }

  read({ sinceSeq, types, limit }: ChangesWanted): Promise<ChangesRead> {
    const things = [...this.last]
      .filter(([type, seq]) => types.includes(type) && seq > sinceSeq)
      .sort(([, a], [, b]) => a - b)
      .map(([type, seq]) => thingOf(type, seq));
    const snapshot = { things: things.slice(0, limit), hasMore: things.length > limit, headSeq: this.seq, trimmedSeq: 0 };
    return new Promise((resolve) => this.waiting.push(() => resolve(snapshot)));
  }
}

function changeOf(type: ChangeType, seq: number): Change {
  switch (type) {
    case 'json':
      return { seq, kind: 'json.put', key: 'k', value: '1', createdAtMs: 0, updatedAtMs: 0, expiresAtMs: null };
    case 'tables':
      return { seq, kind: 'table.put', table: 't', schema: null, rowCount: 0, createdAtMs: 0, updatedAtMs: 0 };
    case 'blobs':
      return { seq, kind: 'blob.delete', blobId: 'b', atMs: 0 };
    default:
      return { seq, kind: 'doc.update', doc: 'd', update: new Uint8Array(), by: null, atMs: 0 };
  }
}

function thingOf(type: ChangeType, seq: number): ChangedThing {
  const kinds = {
    json: 'json.put',
    tables: 'table.put',
    blobs: 'blob.delete',
    documents: 'doc.update',
    comments: 'comment:added',
  } as const;
  return { seq, kind: kinds[type], name: 'x', rowId: null, data: '1', atMs: 0 };
}

class Client implements Outlet {
  readonly told: ChangeEvent[] = [];
  /** Its answers to the next events; after these it takes every event. */
  readonly answers: Taken[];
  isSlow = false;

  constructor(answers: readonly Taken[]) {
    this.answers = [...answers];
  }

  begin = (): Taken => 'sent';
  reset = (): Taken => 'sent';
  end = (): void => undefined;
  fail = (error: unknown): void => {
    throw error;
  };

  event = (event: ChangeEvent): Taken => {
    if (this.isSlow) throw new Error('an event was sent while the client was slow');
    const answer = this.answers.shift() ?? 'sent';
    if (answer !== 'skipped') this.told.push(event);
    this.isSlow = answer !== 'sent';
    return answer;
  };
}

/** Resolves when all pending promise callbacks have run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const someTypes = fc.uniqueArray(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 3 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      types: fc.array(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unreported commit' as const), types: someTypes }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release read' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drain' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('beat' as const) }) },
);
const reader = fc.record({
  types: someTypes,
  answers: fc.array(fc.constantFrom<Taken>('sent', 'sent', 'queued', 'skipped'), { maxLength: 20 }),
  joinsAt: fc.nat(10),
  /** If false, it follows from the current seq on. */
  fromTheStart: fc.boolean(),
});

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type Reader = typeof reader extends fc.Arbitrary<infer R> ? R : never;

interface Opened {
  readonly client: Client;
  readonly follower: Follower;
  readonly types: readonly ChangeType[];
  readonly fromSeq: number;
}

class World {
  readonly store = new Store();
  readonly open: Opened[] = [];
  readonly #followed = new Followed(id, {
    clock: new VirtualClock(),
    readStore: (_, wanted) => this.store.read(wanted),
  });

  join({ types, answers, fromTheStart }: Reader): void {
    const client = new Client(answers);
    const fromSeq = fromTheStart ? 0 : this.store.seq;
    const follower = new Follower(true, {
      outlet: client,
      sinceSeq: fromSeq,
      knownSeq: this.#followed.lastSeq,
      read: (since, reserved) => this.#followed.read(since, types, reserved),
      onClosed: () => undefined,
    });
    this.#followed.add(follower, types);
    this.open.push({ client, follower, types, fromSeq });
    void follower.start();
  }

  perform(one: Step): void {
    switch (one.do) {
      case 'commit':
        this.#followed.committed(this.store.commit(one.types));
        return;
      case 'unreported commit':
        this.store.commit(one.types);
        return;
      case 'release read':
        this.store.waiting.shift()?.();
        return;
      case 'drain':
        this.#drain();
        return;
      default:
        this.#followed.beat(this.store.seq);
    }
  }

  /** Lets every client drain and read on, with heartbeats but without new commits. */
  async finish(): Promise<void> {
    for (let round = 0; round < 80; round += 1) {
      for (const go of this.store.waiting.splice(0)) go();
      await turn();
      this.#drain();
      if (round % 20 === 0) this.#followed.beat(this.store.seq);
      await turn();
    }
  }

  #drain(): void {
    for (const { client, follower } of this.open) {
      client.isSlow = false;
      follower.drained();
    }
  }
}

function assertComplete({ client, types, fromSeq }: Opened, store: Store): void {
  const seqs = client.told.map(({ seq }) => seq);
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  expect(client.told.filter(({ type }) => !types.includes(type))).toEqual([]);
  for (const type of types) {
    const last = store.last.get(type) ?? 0;
    const told = client.told.filter((event) => event.type === type).at(-1)?.seq;
    if (last > fromSeq) expect([type, told]).toEqual([type, last]);
  }
}

test('every follower gets the last change of each type it wants, in order and once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.array(reader, { minLength: 1, maxLength: 4 }), async (steps, readers) => {
      const world = new World();
      for (let at = 0; at <= Math.max(10, steps.length); at += 1) {
        for (const one of readers) if (one.joinsAt === at) world.join(one);
        const one = steps[at];
        if (one !== undefined) world.perform(one);
        await turn();
      }
      await world.finish();
      for (const opened of world.open) assertComplete(opened, world.store);
    }),
    { seed: 20_260_102, numRuns: 300 },
  );
}, 60_000);

test('commits of types that nobody follows cause no read and reach no follower', async () => {
  const store = new Store();
  let reads = 0;
  const readStore = (_: ArtifactId, wanted: ChangesWanted) => {
    reads += 1;
    return store.read(wanted);
  };
  const followed = new Followed(id, { clock: new VirtualClock(), readStore });
  const client = new Client([]);
  const types = ['json'] as const;
  const follower = new Follower(false, {
    outlet: client,
    sinceSeq: undefined,
    knownSeq: 0,
    read: (since, reserved) => followed.read(since, types, reserved),
    onClosed: () => undefined,
  });
  followed.add(follower, types);
  void follower.start();
  store.waiting.shift()?.();
  await turn();
  for (let n = 0; n < 100; n += 1) followed.committed(store.commit(['documents', 'documents']));
  followed.beat(store.seq);
  followed.committed(store.commit(['documents', 'json']));
  await turn();
  expect([reads, client.told.map(({ seq }) => seq)]).toEqual([1, [202]]);
});

test('followers that reconnect at the same time with the same request share one read', async () => {
  const store = new Store();
  store.commit(['json']);
  let reads = 0;
  const readStore = (_: ArtifactId, wanted: ChangesWanted) => {
    reads += 1;
    return store.read(wanted);
  };
  const followed = new Followed(id, { clock: new VirtualClock(), readStore });
  const types = ['json'] as const;
  const clients = Array.from({ length: 50 }, () => {
    const client = new Client([]);
    const read = (since: number, reserved: boolean) => followed.read(since, types, reserved);
    const follower = new Follower(false, { outlet: client, sinceSeq: 0, knownSeq: followed.lastSeq, read, onClosed: () => undefined });
    followed.add(follower, types);
    void follower.start();
    return client;
  });
  store.waiting.shift()?.();
  await turn();
  expect([reads, clients.every(({ told }) => told.length === 1)]).toEqual([1, true]);
});
