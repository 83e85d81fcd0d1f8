/** Hundreds of small clusters with faults. A failing seed is printed; SIM_SEED=n runs that seed alone, SIM_SEEDS=n that many. */
import { describe, expect, it } from 'vitest';
import type { Placement } from '../../actors/runtime/ports.ts';
import { LEASE_MS } from '../../src/cluster/placement/registry.ts';
import { type Breakage, ClusterWorld } from './cluster-world.ts';
import { brokenGuarantees } from './history.ts';

const FIRST_SEED = Number(process.env.SIM_SEED ?? 1);
const SEEDS = process.env.SIM_SEED === undefined ? Number(process.env.SIM_SEEDS ?? 300) : 1;
/** Within so many seeds each breakage must be noticed. */
const SEEDS_TO_NOTICE = 300;

async function broken(seed: number, breakage: Breakage = {}): Promise<{ readonly world: ClusterWorld; readonly why: readonly string[] }> {
  const world = new ClusterWorld(seed, breakage);
  await world.run().catch((error) => {
    throw new Error(`SIM_SEED=${seed}: ${error}`, { cause: error });
  });
  return { world, why: brokenGuarantees(world.history, world.memory) };
}

const BREAKAGES: readonly (readonly [string, Breakage])[] = [
  ['a store that does not check epochs', { store: { checksEpochs: false } }],
  ['a node that always believes in its lease', { placement: (whole) => bound(whole, { holds: () => true }) }],
  ['a node that keeps its actors when its lease is lost', { placement: (whole) => bound(whole, { onLost: () => undefined }) }],
  ['a registry that gives away what a live node holds', { registry: { checksLeases: false } }],
  ['a registry that does not settle after it has forgotten', { registry: { settles: false } }],
  ['nodes that count with a longer lease than the registry', { leaseMs: LEASE_MS * 2 }],
];

/** The placement with some methods replaced. */
function bound(whole: Placement, change: Partial<Placement>): Placement {
  return new Proxy(whole, {
    get(target, name) {
      const value = name in change ? Reflect.get(change, name) : Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('a simulated cluster', () => {
  it(`[one writer, no stale read, no lost write, everything reached again] holds for ${SEEDS} seeds from ${FIRST_SEED}`, async () => {
    const seen = new Map<string, number>();
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const { world, why } = await broken(seed);
      expect(why, `SIM_SEED=${seed}`).toEqual([]);
      for (const entry of world.history) seen.set(entry.seen.kind, (seen.get(entry.seen.kind) ?? 0) + 1);
      for (const [event, times] of world.happened) seen.set(event, (seen.get(event) ?? 0) + times);
    }
    if (SEEDS < 100) return;
    for (const kind of ['wrote', 'added', 'read', 'absent', 'unknown', 'stop', 'cut', 'kill', 'drain', 'hand over', 'flush', 'fail over'])
      expect(seen.get(kind), kind).toBeGreaterThan(SEEDS / 4);
  });

  it.each(BREAKAGES)('[test of the test] %s is noticed', async (_, breakage) => {
    let noticed: number | undefined;
    for (let seed = 1; seed <= SEEDS_TO_NOTICE && noticed === undefined; seed += 1) {
      const { why } = await broken(seed, breakage).catch(() => ({ why: ['a call was never answered'] }));
      if (why.length > 0) noticed = seed;
    }
    expect(noticed).toBeDefined();
  });
});
