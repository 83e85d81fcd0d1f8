/** Hundreds of small worlds with injected faults. A failing seed is printed; SIM_SEED=n runs that seed alone, SIM_SEEDS=n that many. */
import { describe, expect, it } from 'vitest';
import { brokenGuarantees } from './history.ts';
import { brokenMixed } from './mixed-history.ts';
import { UNIQUE_TABLE } from './table-calls.ts';
import { brokenTables } from './table-history.ts';
import { World, type WorldOptions } from './world.ts';

const FIRST_SEED = Number(process.env.SIM_SEED ?? 1);
const SEEDS = process.env.SIM_SEED === undefined ? Number(process.env.SIM_SEEDS ?? 600) : 1;

async function live(seed: number, options: WorldOptions): Promise<World> {
  const world = new World(seed, options);
  await world.run();
  return world;
}

/** Searches the first seed whose world breaks a guarantee. */
async function firstBroken(seeds: number, options: WorldOptions): Promise<number | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const world = await live(seed, options);
    if (brokenGuarantees(world.history, world.memory).length > 0) return seed;
  }
  return undefined;
}

describe('simulation', () => {
  it(`[one order, no lost writes, no reads of uncommitted state] holds for ${SEEDS} seeds from ${FIRST_SEED}`, async () => {
    const seen = new Map<string, number>();
    let wakesWithoutFault = 0;
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const world = await live(seed, { faults: seed % 4 === 0 ? 0 : 0.12 }).catch((error) => {
        throw new Error(`SIM_SEED=${seed}: ${error}`, { cause: error });
      });
      expect(brokenGuarantees(world.history, world.memory), `SIM_SEED=${seed}`).toEqual([]);
      if (seed % 4 === 0) wakesWithoutFault += world.loads - world.artifacts.length;
      for (const node of world.nodes) {
        expect(node.stats(), `SIM_SEED=${seed}`).toEqual({ actors: 0, residentBytes: 0, mailboxDepth: 0, pendingChanges: 0 });
      }
      expect(world.clock.timers, `SIM_SEED=${seed}`).toBe(0);
      for (const entry of world.history) seen.set(entry.seen.kind, (seen.get(entry.seen.kind) ?? 0) + 1);
    }
    // The worlds prove something only if everything happens in them.
    if (SEEDS < 100) return;
    for (const kind of ['wrote', 'added', 'deleted', 'read', 'absent', 'conflict', 'poisoned', 'unknown']) {
      expect(seen.get(kind), kind).toBeGreaterThan(SEEDS / 2);
    }
    expect(wakesWithoutFault).toBeGreaterThan(SEEDS);
  });

  it(`[tables: one order, unique stays unique, a change by filter covers all matches] holds for ${SEEDS} seeds from ${FIRST_SEED}`, {
    timeout: 240_000,
  }, async () => {
    const seen = new Map<string, number>();
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const world = await live(seed, { faults: seed % 4 === 0 ? 0 : 0.08, tables: true }).catch((error) => {
        throw new Error(`SIM_SEED=${seed}: ${error}`, { cause: error });
      });
      expect(brokenGuarantees(world.history, world.memory), `SIM_SEED=${seed}`).toEqual([]);
      expect(brokenTables(world.tables.history, world.memory, [UNIQUE_TABLE]), `SIM_SEED=${seed}`).toEqual([]);
      expect(world.clock.timers, `SIM_SEED=${seed}`).toBe(0);
      for (const entry of world.tables.history) seen.set(entry.seen.kind, (seen.get(entry.seen.kind) ?? 0) + 1);
    }
    if (SEEDS < 100) return;
    for (const kind of [
      'wrote',
      'read',
      'deleted',
      'absent',
      'conflict',
      'duplicate',
      'marked',
      'cleared',
      'dropped',
      'no table',
      'unknown',
    ]) {
      expect(seen.get(kind), kind).toBeGreaterThan(SEEDS / 10);
    }
  });

  it(`[blobs and batches: quotas are exact, a batch is all or nothing] holds for ${SEEDS} seeds from ${FIRST_SEED}`, {
    timeout: 240_000,
  }, async () => {
    const seen = new Map<string, number>();
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const world = await live(seed, { faults: seed % 4 === 0 ? 0 : 0.1, mixed: true }).catch((error) => {
        throw new Error(`SIM_SEED=${seed}: ${error}`, { cause: error });
      });
      expect(brokenGuarantees(world.history, world.memory), `SIM_SEED=${seed}`).toEqual([]);
      expect(brokenMixed(world.mixed.history, world.memory, world.blobsBefore), `SIM_SEED=${seed}`).toEqual([]);
      expect(brokenTables([], world.memory, []), `SIM_SEED=${seed}`).toEqual([]);
      expect(world.clock.timers, `SIM_SEED=${seed}`).toBe(0);
      for (const entry of world.mixed.history) {
        const name = entry.seen.kind === 'full' ? entry.seen.code : entry.seen.kind;
        seen.set(name, (seen.get(name) ?? 0) + 1);
      }
    }
    if (SEEDS < 100) return;
    const quotas = ['FILE_TOO_LARGE', 'BLOB_LIMIT_EXCEEDED', 'STORAGE_LIMIT_EXCEEDED'];
    for (const name of ['done', 'refused', 'added', 'deleted', 'absent', 'used', 'unknown', ...quotas]) {
      expect(seen.get(name), name).toBeGreaterThan(SEEDS / 10);
    }
  });

  it('[replay] the same seed gives the same history', async () => {
    const [one, other] = [await live(7, { faults: 0.12 }), await live(7, { faults: 0.12 })];
    const plain = (world: World) =>
      world.history.map(({ artifactId, ...rest }) => ({ ...rest, artifact: world.artifacts.indexOf(artifactId) }));
    expect(plain(other)).toEqual(plain(one));
  });

  it('[test of the test] a store that does not check epochs is caught', async () => {
    expect(await firstBroken(100, { faults: 0.12, checksEpochs: false })).toBeDefined();
  });

  it('[test of the test] a store that does not check epochs is caught by tables', async () => {
    let broken: number | undefined;
    for (let seed = 1; seed <= 100 && broken === undefined; seed += 1) {
      const world = await live(seed, { faults: 0.12, tables: true, checksEpochs: false });
      if (brokenTables(world.tables.history, world.memory, [UNIQUE_TABLE]).length > 0) broken = seed;
    }
    expect(broken).toBeDefined();
  });

  it.each([
    ['a store that does not check epochs', { checksEpochs: false }],
    ['a store that acknowledges what it does not keep', { lies: true }],
    ['a store that keeps the first half of what it fails to commit', { tears: true }],
  ])('[test of the test] %s is caught by blobs and batches', async (_name, options) => {
    let broken: readonly string[] = [];
    for (let seed = 1; seed <= 100 && broken.length === 0; seed += 1) {
      const world = await live(seed, { faults: 0.12, mixed: true, ...options });
      broken = brokenMixed(world.mixed.history, world.memory, world.blobsBefore);
    }
    expect(broken).not.toEqual([]);
  });

  it('[test of the test] a store that acknowledges what it does not keep is caught', async () => {
    expect(await firstBroken(100, { faults: 0.12, lies: true })).toBeDefined();
  });
});
