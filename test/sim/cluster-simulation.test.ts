/** Hundreds of small clusters with faults. A failing seed is printed; SIM_SEED=n runs that seed alone, SIM_SEEDS=n that many. */
import { describe, expect, it } from 'vitest';
import type { Placement } from '../../actors/runtime/ports.ts';
import { LEASE_MS } from '../../src/cluster/placement/registry.ts';
import { type Breakage, ClusterWorld } from './cluster-world.ts';
import { brokenGuarantees } from './history.ts';

const FIRST_SEED = Number(process.env.SIM_SEED ?? 1);
const SEEDS = process.env.SIM_SEED === undefined ? Number(process.env.SIM_SEEDS ?? 1000) : 1;
/** Within so many seeds each breakage must be noticed. */
const SEEDS_TO_NOTICE = 1000;
const SEEDS_OF_HARMLESS = 60;

async function broken(seed: number, breakage: Breakage = {}): Promise<{ readonly world: ClusterWorld; readonly why: readonly string[] }> {
  const world = new ClusterWorld(seed, breakage);
  await world.run().catch((error) => {
    throw new Error(`SIM_SEED=${seed}: ${error}`, { cause: error });
  });
  return { world, why: brokenGuarantees(world.history, world.memory) };
}

const never = new Promise<never>(() => undefined);

/**
 * Each breaks a promise: one writer an epoch, nothing acknowledged lost, no stale read, every artifact reached again. What few seeds notice is
 * looked for from a seed near the first that did.
 */
const BREAKAGES: readonly (readonly [what: string, breakage: Breakage, firstSeed?: number])[] = [
  ['a store that does not check epochs', { store: { checksEpochs: false } }],
  ['a store that raises no epoch', { store: { raisesEpochs: false } }],
  ['a store that loads what was there before the last change', { store: { loadsLate: true } }],
  ['a store that acknowledges what it never stores', { commits: { lies: true } }],
  ['a node that always believes in its lease', { placement: (whole) => bound(whole, { holds: () => true }) }, 190],
  ['a node that never believes in its lease', { placement: (whole) => bound(whole, { holds: () => false }) }],
  ['a node that keeps its actors when its lease is lost', { placement: (whole) => bound(whole, { onLost: () => undefined }) }],
  [
    'a node that owns whatever it is asked for',
    { placement: (whole) => bound(whole, { claim: () => true, locate: () => ({ here: true }) }) },
  ],
  ['a node whose claims are never answered', { placement: (whole) => bound(whole, { claim: () => never }) }],
  ['a registry that gives away what a live node holds', { registry: { checksLeases: false } }],
  ['a registry that lets go of a claim by the release of an earlier one', { registry: { checksClaims: false } }, 770],
  ['a registry that keeps the claims of the dead', { registry: { freesDead: false } }],
  ['a registry that renews no lease', { registry: { renews: false } }],
  ['a registry that does not settle after it has forgotten', { registry: { settles: false } }],
  ['nodes that count with a longer lease than the registry', { leaseMs: LEASE_MS * 2 }],
];

/** Each makes a cluster worse, and breaks no promise: what it leaves out is kept by something else as well. */
const HARMLESS: readonly (readonly [string, Breakage])[] = [
  [
    'a registry that believes whoever says again what it holds: it gives nothing away before all have',
    { registry: { checksReclaims: false } },
  ],
  ['a store that keeps a part of a commit that failed: each change is whole, and nobody was told', { commits: { tears: true } }],
  ['a registry that does not count who has come and gone: artifacts wait for a heartbeat', { registry: { countsMembers: false } }],
  [
    'a node that remembers where artifacts were: it is told by whoever is there',
    { placement: (whole) => bound(whole, { forget: () => undefined }) },
  ],
  ['a node that keeps its name: its claims have numbers, and its writes an epoch', { keepsName: true }],
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

  it.each(BREAKAGES.map(([what, breakage, firstSeed = 1]) => [what, breakage, firstSeed] as const))(
    '[test of the test] %s is noticed',
    async (...each) => {
      const [, breakage, firstSeed] = each;
      let noticed: number | undefined;
      for (let seed = firstSeed; seed < firstSeed + SEEDS_TO_NOTICE && noticed === undefined; seed += 1) {
        const { why } = await broken(seed, breakage).catch(() => ({ why: ['a call was never answered'] }));
        if (why.length > 0) noticed = seed;
      }
      expect(noticed).toBeDefined();
    },
  );

  it.each(HARMLESS)('[test of the test] %s', async (_, breakage) => {
    for (let seed = 1; seed <= SEEDS_OF_HARMLESS; seed += 1) expect((await broken(seed, breakage)).why, `seed ${seed}`).toEqual([]);
  });
});
