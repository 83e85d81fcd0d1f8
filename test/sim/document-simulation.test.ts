/** Small worlds in which clients edit documents together. SIM_SEED=n runs that seed alone, SIM_SEEDS=n that many. */
import { describe, expect, it } from 'vitest';
import { DocumentWorld, type DocumentWorldOptions } from './document-world.ts';

const FIRST_SEED = Number(process.env.SIM_SEED ?? 1);
const SEEDS = process.env.SIM_SEED === undefined ? Number(process.env.SIM_SEEDS ?? 300) : 1;

async function live(seed: number, options: DocumentWorldOptions): Promise<DocumentWorld> {
  const world = new DocumentWorld(seed, options);
  await world.run();
  return world;
}

async function firstBroken(seeds: number, options: DocumentWorldOptions): Promise<number | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const world = await live(seed, options);
    if (world.broken.length + world.store.violations.length > 0) return seed;
  }
  return undefined;
}

describe('documents in the simulation', () => {
  it(`[what was acknowledged is stored once, and all clients converge] for ${SEEDS} seeds from ${FIRST_SEED}`, {
    timeout: 240_000,
  }, async () => {
    let saved = 0;
    let compactions = 0;
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const world = await live(seed, { faults: seed % 4 === 0 ? 0 : 0.1 }).catch((error) => {
        throw new Error(`SIM_SEED=${seed}: ${error}`, { cause: error });
      });
      expect([...world.broken, ...world.store.violations], `SIM_SEED=${seed}`).toEqual([]);
      for (const node of world.nodes) {
        expect(node.stats(), `SIM_SEED=${seed}`).toEqual({ actors: 0, residentBytes: 0, mailboxDepth: 0, pendingChanges: 0 });
      }
      expect(world.clock.timers, `SIM_SEED=${seed}`).toBe(0);
      for (const { written, deleted } of world.promised.values()) saved += written.size + deleted.size;
      compactions += world.store.compactions;
    }
    // The worlds prove something only if enough happens in them.
    expect(saved).toBeGreaterThan(SEEDS * 30);
    expect(compactions).toBeGreaterThan(SEEDS);
  });

  it('[test of the test] a store that does not check epochs is caught', async () => {
    expect(await firstBroken(100, { faults: 0.1, checksEpochs: false })).toBeDefined();
  });

  it('[test of the test] a store that acknowledges what it does not keep is caught', async () => {
    expect(await firstBroken(100, { faults: 0.1, lies: true })).toBeDefined();
  });
});
