/** The contract of `Limiter` on each implementation, and the additional guarantees of the shared one. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Failure } from '../../protocol/core/errors.ts';
import { RATE_LIMITS, type RateLimit } from '../../protocol/core/rate-limits.ts';
import { actorLimiter, type Limiter, requireAccepted } from '../../src/edge/limits.ts';
import { MemoryLimiter } from '../../src/edge/memory-limiter.ts';
import { deleteOldWindows, SharedLimiter } from '../../src/storage/shared-limiter.ts';
import { setStage } from '../actors/runtime/runtime-fixture.ts';
import { type DatabaseKind, everyDatabaseKind, openTestDatabase, type TestDatabase } from '../support/database.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const WINDOW_MS = 60_000;
const TRIES = { numRuns: 15, seed: 20_260_107 };
let limits = 0;

/** A limit that no other test has spent. */
function newLimit(quota: number): RateLimit {
  limits += 1;
  return { name: `limit${limits}`, quota, windowS: WINDOW_MS / 1000, by: 'address', kept: 'memory', spentBy: 'edge' };
}

interface Implementation {
  readonly limiter: Limiter;
  readonly clock: VirtualClock;
  close(): Promise<void>;
}

const none = async () => undefined;

async function shared(kind: DatabaseKind): Promise<Implementation> {
  const database = await openTestDatabase(kind);
  const clock = new VirtualClock();
  return { limiter: new SharedLimiter({ sql: database.sql, clock }), clock, close: () => database.close() };
}

const implementations: [string, () => Promise<Implementation>][] = [
  [
    'actor',
    async () => {
      const clock = new VirtualClock();
      return { limiter: actorLimiter(setStage({ clock }).runtime), clock, close: none };
    },
  ],
  [
    'memory',
    async () => {
      const clock = new VirtualClock();
      return { limiter: new MemoryLimiter(clock), clock, close: none };
    },
  ],
  ...everyDatabaseKind().map((kind): [string, () => Promise<Implementation>] => [`shared, ${kind}`, () => shared(kind)]),
];

describe.each(implementations)('a limiter: %s', (_name, open) => {
  let limiter: Limiter;
  let clock: VirtualClock;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ limiter, clock, close } = await open());
  });
  afterAll(() => close());

  test('[quota] accepts the quota and tells what is left; a refusal spends nothing', async () => {
    const limit = newLimit(3);
    for (const remaining of [2, 1, 0]) {
      expect(await limiter.spend(limit, 'a')).toMatchObject({ accepted: true, limit: 3, remaining, retryAfterS: 0 });
      clock.advance(10_000);
    }
    const refused = await limiter.spend(limit, 'a');
    expect(refused).toMatchObject({ accepted: false, limit: 3, remaining: 0 });
    expect(await limiter.spend(limit, 'a')).toEqual({ ...refused, atMs: expect.any(Number) });
  });

  test('[window] each call is free again when its own window is over, not before', async () => {
    const limit = newLimit(2);
    await limiter.spend(limit, 'a');
    clock.advance(20_000);
    await limiter.spend(limit, 'a');
    clock.advance(WINDOW_MS - 20_000 - 1);
    const refused = await limiter.spend(limit, 'a');
    expect(refused.accepted).toBe(false);
    clock.advance(2);
    expect(await limiter.spend(limit, 'a')).toMatchObject({ accepted: true, remaining: 0 });
    expect((await limiter.spend(limit, 'a')).accepted).toBe(false);
    clock.advance(20_000);
    expect((await limiter.spend(limit, 'a')).accepted).toBe(true);
  });

  test('[times] retryAfterS is enough, and resetS is that of the oldest call', async () => {
    const limit = newLimit(2);
    await limiter.spend(limit, 'a');
    clock.advance(10_000);
    const { resetS } = await limiter.spend(limit, 'a');
    expect([50, 51]).toContain(resetS);
    const { accepted, retryAfterS } = await limiter.spend(limit, 'a', 2);
    // Both calls must leave the window.
    expect([accepted, [60, 61].includes(retryAfterS)]).toEqual([false, true]);
    clock.advance(retryAfterS * 1000);
    expect((await limiter.spend(limit, 'a', 2)).accepted).toBe(true);
  });

  test('[all or none] several calls at once are accepted together or not at all', async () => {
    const limit = newLimit(5);
    expect(await limiter.spend(limit, 'a', 4)).toMatchObject({ accepted: true, remaining: 1 });
    expect(await limiter.spend(limit, 'a', 2)).toMatchObject({ accepted: false, remaining: 1 });
    expect(await limiter.spend(limit, 'a', 1)).toMatchObject({ accepted: true, remaining: 0 });
    expect(await limiter.spend(limit, 'b', 6)).toMatchObject({ accepted: false, remaining: 5, retryAfterS: 60 });
    expect(await limiter.spend(limit, 'b', 5)).toMatchObject({ accepted: true, remaining: 0 });
  });

  test('[give back] what is given back was not spent, and takes nothing else with it', async () => {
    const limit = newLimit(3);
    const first = await limiter.spend(limit, 'a');
    clock.advance(10_000);
    const second = await limiter.spend(limit, 'a');
    await limiter.giveBack(limit, 'a', first);
    // The second one is still there, with its own time.
    expect(await limiter.spend(limit, 'a', 3)).toMatchObject({ accepted: false, remaining: 2 });
    clock.advance(WINDOW_MS - 9000);
    expect(await limiter.spend(limit, 'a', 3)).toMatchObject({ accepted: false, remaining: 2 });
    await limiter.giveBack(limit, 'a', second);
    const both = await limiter.spend(limit, 'a', 3);
    expect(both).toMatchObject({ accepted: true, remaining: 0 });
    await limiter.giveBack(limit, 'a', both, 2);
    expect(await limiter.spend(limit, 'a', 2)).toMatchObject({ accepted: true, remaining: 0 });
  });

  test('[give back] what has left the window or never was in it changes nothing', async () => {
    const limit = newLimit(2);
    const old = await limiter.spend(limit, 'a');
    clock.advance(WINDOW_MS + 1);
    await limiter.spend(limit, 'a', 2);
    await limiter.giveBack(limit, 'a', old);
    await limiter.giveBack(limit, 'b', old);
    expect((await limiter.spend(limit, 'a')).accepted).toBe(false);
    expect(await limiter.spend(limit, 'b', 2)).toMatchObject({ accepted: true, remaining: 0 });
  });

  test('[give back] of calls that come together and are all given back none is left', async () => {
    const limit = newLimit(7);
    for (let round = 0; round < 3; round += 1) {
      const spent = await Promise.all(Array.from({ length: 7 }, () => limiter.spend(limit, 'a')));
      expect(spent.map(({ accepted }) => accepted)).toEqual(Array(7).fill(true));
      await Promise.all(spent.map((one) => limiter.giveBack(limit, 'a', one)));
      clock.advance(1);
    }
  });

  test('[apart] subjects and limits do not count each other', async () => {
    const [one, other] = [newLimit(1), newLimit(1)];
    for (const subject of ['a', 'b']) {
      for (const limit of [one, other]) expect((await limiter.spend(limit, subject)).accepted).toBe(true);
    }
    for (const subject of ['a', 'b']) {
      for (const limit of [one, other]) expect((await limiter.spend(limit, subject)).accepted).toBe(false);
    }
  });

  test('I8: [apart] a limit and a subject that join to the text of two others share nothing with them', async () => {
    for (const between of [' ', ':', '/']) {
      const one = { ...newLimit(1), name: `joined${between}limits` };
      const other = { ...one, name: 'joined' };
      expect((await limiter.spend(one, 'a')).accepted).toBe(true);
      const spent = await limiter.spend(other, `limits${between}a`);
      expect([between, spent.accepted]).toEqual([between, true]);
      await limiter.giveBack(other, `limits${between}a`, spent);
      expect((await limiter.spend(one, 'a')).accepted).toBe(false);
      await clock.advance(WINDOW_MS + 1);
    }
  });

  test('[at once] of calls that come together exactly the quota is accepted', async () => {
    const limit = newLimit(7);
    const spent = await Promise.all(Array.from({ length: 20 }, () => limiter.spend(limit, 'a')));
    expect(spent.filter(({ accepted }) => accepted)).toHaveLength(7);
    // Calls on several connections are decided in any order.
    const left = spent.filter(({ accepted }) => accepted).map(({ remaining }) => remaining);
    expect(left.sort((a, b) => b - a)).toEqual([6, 5, 4, 3, 2, 1, 0]);
  });

  test('[no window holds more] whatever is asked when', async () => {
    const steps = fc.array(
      fc.record({
        waitMs: fc.constantFrom(0, 1, 999, 20_000, 59_999, 60_001),
        calls: fc.integer({ min: 1, max: 4 }),
        isGivenBack: fc.boolean(),
      }),
      {
        maxLength: 20,
      },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (asked) => {
        const limit = newLimit(5);
        const takenMs: number[] = [];
        for (const { waitMs, calls, isGivenBack } of asked) {
          clock.advance(waitMs);
          const nowMs = clock.nowMs();
          const within = takenMs.filter((atMs) => atMs > nowMs - WINDOW_MS).length;
          // A call exactly one window ago may still count or not.
          const atMost = takenMs.filter((atMs) => atMs >= nowMs - WINDOW_MS).length;
          const spent = await limiter.spend(limit, 'a', calls);
          const { accepted } = spent;
          expect(accepted ? within + calls <= 5 : atMost + calls > 5).toBe(true);
          if (accepted && isGivenBack) await limiter.giveBack(limit, 'a', spent, calls);
          else if (accepted) takenMs.push(...Array<number>(calls).fill(nowMs));
        }
      }),
      TRIES,
    );
  });
});

describe.each(everyDatabaseKind())('the shared limiter on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
  });
  afterAll(() => database.close());

  test('[shared] what one process accepts another counts, also where its clock is behind', async () => {
    const limit = newLimit(3);
    const [ahead, behind] = [new VirtualClock(), new VirtualClock()];
    ahead.advance(5000);
    const processes = [ahead, behind].map((clock) => new SharedLimiter({ sql: database.sql, clock }));
    const spent = await Promise.all(Array.from({ length: 12 }, (_, index) => processes[index % 2]?.spend(limit, 'a')));
    expect(spent.filter((one) => one?.accepted)).toHaveLength(3);
    behind.advance(WINDOW_MS);
    expect((await processes[1]?.spend(limit, 'a'))?.accepted).toBe(false);
    behind.advance(5001);
    expect((await processes[1]?.spend(limit, 'a'))?.accepted).toBe(true);
  });

  test('[transaction] what is rolled back was not spent, and a look spends nothing', async () => {
    const limit = newLimit(2);
    const limiter = new SharedLimiter({ sql: database.sql, clock: new VirtualClock() });
    expect(await limiter.look(limit, 'a')).toMatchObject({ accepted: true, limit: 2, remaining: 2, resetS: 0, retryAfterS: 0 });
    const undone = database.sql.begin(async (tx) => {
      expect(await limiter.spendIn(tx, limit, 'a', 2)).toMatchObject({ accepted: true, remaining: 0 });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await database.sql.begin((tx) => limiter.spendIn(tx, limit, 'a'))).toMatchObject({ accepted: true, remaining: 1 });
    for (let look = 0; look < 2; look += 1)
      expect(await limiter.look(limit, 'a')).toMatchObject({ accepted: true, remaining: 1, resetS: 60 });
    await limiter.spend(limit, 'a');
    expect(await limiter.look(limit, 'a')).toMatchObject({ accepted: false, remaining: 0, retryAfterS: 60 });
  });

  test('[forgotten] a window that holds nothing any more is deleted, and no other', async () => {
    const limit = newLimit(2);
    const clock = new VirtualClock();
    const limiter = new SharedLimiter({ sql: database.sql, clock });
    await limiter.spend(limit, 'old');
    clock.advance(WINDOW_MS / 2);
    await limiter.spend(limit, 'young');
    clock.advance(WINDOW_MS / 2);
    await deleteOldWindows(database.sql, clock.nowMs());
    const rows = await database.sql`select subject from rate_window where limit_name = ${limit.name}`;
    expect(rows.map(({ subject }) => subject)).toEqual(['young']);
  });
});

test('[bounded] the memory limiter evicts the least recently seen subject', () => {
  const limit = newLimit(1);
  const limiter = new MemoryLimiter(new VirtualClock(), 2);
  for (const subject of ['a', 'b', 'c']) expect(limiter.spend(limit, subject).accepted).toBe(true);
  expect(['b', 'c', 'a'].map((subject) => limiter.spend(limit, subject).accepted)).toEqual([false, false, true]);
});

test('a refusal names the limit, its quota and when to retry', () => {
  const spent = { accepted: false, limit: 60, remaining: 0, resetS: 12, retryAfterS: 34, atMs: 0 };
  let refused: unknown;
  try {
    requireAccepted(RATE_LIMITS.publish, spent, 'Too often.');
  } catch (error) {
    refused = error;
  }
  expect(refused).toBeInstanceOf(Failure);
  expect((refused as Failure).details).toEqual({
    message: 'Too often.',
    retryAfterS: 34,
    rate: { name: 'publish', limit: 60, windowS: 3600, remaining: 0, resetS: 12 },
  });
  expect(requireAccepted(RATE_LIMITS.publish, { ...spent, accepted: true })).toBeUndefined();
});

describe.each<DatabaseKind>(everyDatabaseKind())('three nodes on one database: %s', (kind) => {
  test('exactly as many of all concurrent attempts pass as the limit has, whichever node they reach', async () => {
    const database = await openTestDatabase(kind);
    const clocks = [new VirtualClock(), new VirtualClock(), new VirtualClock()];
    // Their clocks differ.
    clocks.forEach((clock, n) => void clock.advance(n * 700));
    const nodes = clocks.map((clock) => new SharedLimiter({ sql: database.sql, clock }));
    const limit = newLimit(20);
    const attempt = (n: number) => (nodes[n % nodes.length] as SharedLimiter).spend(limit, 'somebody');
    const first = await Promise.all(Array.from({ length: 60 }, (_, n) => attempt(n)));
    expect(first.filter(({ accepted }) => accepted).length).toBe(20);
    for (const clock of clocks) clock.advance(WINDOW_MS + 1400);
    const next = await Promise.all(Array.from({ length: 60 }, (_, n) => attempt(n)));
    expect(next.filter(({ accepted }) => accepted).length).toBe(20);
    await nodes[0]?.forget(limit, 'somebody');
    expect((await attempt(1)).accepted).toBe(true);
    await database.close();
  });
});
