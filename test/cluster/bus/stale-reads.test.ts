/** Whatever happens to nodes and to their connections, no node answers from a cache what was over a second before the call. */
import { expect, test } from 'vitest';
import type { ClusterNode } from '../../../actors/runtime/ports.ts';
import { newId } from '../../../protocol/core/ids.ts';
import { ReadCache } from '../../../src/platform/cache.ts';
import { Random } from '../../support/random.ts';
import { BusStage, type StageNode } from './bus-stage.ts';

const BOUND_MS = 1000;
const SEEDS = 200;
const LASTS_MS = 20_000;
const STEP_MS = 20;
const NODES = ['a:1', 'b:1', 'c:1'];
const KEYS = ['k0', 'k1', 'k2', 'k3'];
/** A node writes for so long after it has renewed its lease; the others count it as live for longer. */
const WRITES_MS = 2500;
const LEASE_MS = 3000;
/** What a write takes at most from its admission to its commit. */
const COMMIT_MS_MAX = 1500;

interface Versioned {
  readonly version: number;
}

/** The one database: every version of every key, with the time of its commit. */
class Store {
  readonly #commits = new Map<string, number[]>();

  commit(key: string, nowMs: number): void {
    this.#commits.set(key, [...(this.#commits.get(key) ?? []), nowMs]);
  }

  /** The number of commits until then. */
  version(key: string, atMs: number): number {
    return (this.#commits.get(key) ?? []).filter((committedMs) => committedMs <= atMs).length;
  }
}

class SimulatedNode {
  readonly stage: StageNode;
  readonly #world: World;
  readonly #cache: ReadCache<string, Versioned>;
  #renewedMs: number;
  #seen: readonly ClusterNode[] = [];
  isAlive = true;

  constructor(world: World, address: string) {
    this.#world = world;
    const { clock } = world.stage;
    this.#renewedMs = clock.monotonicMs();
    this.stage = world.stage.node(address, () => this.#seen);
    this.#cache = new ReadCache({ entriesMax: 100, load: (key) => this.#load(key) });
    this.stage.bus.cache('values', {
      everything: () => this.#cache.clear(),
      'token.revoked': ({ credential }) => this.#cache.invalidate(credential),
    });
  }

  get leaseLeftMs(): number {
    return this.#renewedMs + LEASE_MS - this.#world.stage.clock.monotonicMs();
  }

  /** What it writes to Redis and reads from there, beside the bus. */
  renew(): void {
    if (this.stage.wire.sends !== 'arrives') return;
    this.#renewedMs = this.#world.stage.clock.monotonicMs();
    this.#seen = this.#world.members();
  }

  write(key: string): void {
    const { stage, random, store } = this.#world;
    const { clock } = stage;
    if (clock.monotonicMs() - this.#renewedMs >= WRITES_MS) return;
    clock.after(random.integer(COMMIT_MS_MAX), () => {
      store.commit(key, clock.monotonicMs());
      if (this.isAlive) this.stage.bus.tell({ kind: 'token.revoked', tokenId: newId('token'), credential: key });
    });
  }

  async read(key: string): Promise<void> {
    const { stage, store } = this.#world;
    const askedMs = stage.clock.monotonicMs();
    this.stage.bus.awake();
    const value = await this.#cache.get(key);
    const oldest = store.version(key, askedMs - BOUND_MS);
    const found = value?.version ?? -1;
    if (found < oldest)
      this.#world.stale.push(`${this.stage.address} answered version ${found} of ${key} at ${askedMs} ms, ${oldest} was due`);
    this.#world.reads += 1;
  }

  /** The database answers with what is there at some time during the read. */
  async #load(key: string): Promise<Versioned> {
    const { stage, store, random } = this.#world;
    const { clock } = stage;
    const pause = () => new Promise<void>((resolve) => void clock.after(random.integer(200), resolve));
    await pause();
    const version = store.version(key, clock.monotonicMs());
    await pause();
    return { version };
  }
}

class World {
  readonly random: Random;
  readonly stage = new BusStage();
  readonly store = new Store();
  readonly stale: string[] = [];
  reads = 0;
  nodes: SimulatedNode[] = [];
  /** Nodes that died and whose leases have not ended. */
  dead: SimulatedNode[] = [];

  constructor(seed: number) {
    this.random = new Random(seed);
    this.nodes = NODES.map((address) => new SimulatedNode(this, address));
  }

  members(): ClusterNode[] {
    const live = [...this.nodes, ...this.dead].filter(({ leaseLeftMs }) => leaseLeftMs > 0);
    return live.map(({ stage }) => stage.self);
  }

  async run(): Promise<void> {
    // Some worlds are mostly quiet, so that most answers come from caches that nobody doubts.
    const strikes = this.random.pick([0.001, 0.003, 0.01]);
    for (let passed = 0; passed < LASTS_MS; passed += STEP_MS) {
      for (const node of this.nodes) {
        node.renew();
        if (this.random.chance(0.05)) node.write(this.random.pick(KEYS));
        void node.read(this.random.pick(KEYS));
        if (this.random.chance(strikes)) this.#strike(node);
      }
      await this.stage.pass(STEP_MS);
    }
  }

  #strike(node: SimulatedNode): void {
    const { wire } = node.stage;
    const strikes = [
      () => {
        wire.sends = this.random.pick(['arrives', 'refused', 'unanswered']);
      },
      () => wire.lose(),
      () => wire.comeBack(),
      () => {
        wire.receives = !wire.receives;
      },
      () => {
        wire.sends = 'arrives';
        wire.comeBack();
      },
      // Too short to be noticed by the silence.
      () => {
        wire.receives = false;
        this.stage.clock.after(this.random.integer(400), () => {
          wire.receives = node.isAlive;
        });
      },
      () => this.#kill(node),
    ];
    this.random.pick(strikes)();
  }

  /** It says nothing more; what it had begun commits. Another starts at its address, sooner or later. */
  #kill(node: SimulatedNode): void {
    node.isAlive = false;
    node.stage.wire.sends = 'refused';
    node.stage.wire.receives = false;
    node.stage.wire.close();
    this.nodes = this.nodes.filter((other) => other !== node);
    this.dead.push(node);
    this.stage.clock.after(this.random.integer(this.random.pick([300, 6000])), () =>
      this.nodes.push(new SimulatedNode(this, node.stage.address)),
    );
  }
}

test.each(Array.from({ length: SEEDS }, (_, seed) => seed))('seed %i', async (seed) => {
  const world = new World(seed);
  await world.run();
  expect(world.stale).toEqual([]);
  expect(world.reads).toBeGreaterThan(1000);
});
