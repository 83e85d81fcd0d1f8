/**
 * A cluster of one seed: nodes with leases over one registry and one store, clients that call any node, and what happens to clusters:
 * processes that are stopped, killed and drained, a registry that is cut off, emptied or replaced by one that lacks the last claims.
 */
import { applyOperation } from '../../actors/json/json-operation.ts';
import type { ArtifactActor } from '../../actors/runtime/artifact-actor.ts';
import type { Clock, ClusterNode, Placement } from '../../actors/runtime/ports.ts';
import { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { ClusterPlacement } from '../../src/cluster/placement/cluster-placement.ts';
import { type Claim, LEASE_MS, type Registry, type Released, type Wanted } from '../../src/cluster/placement/registry.ts';
import { RegistryModel } from '../cluster/registry-model.ts';
import { NodeClock } from '../support/node-clock.ts';
import { Random } from '../support/random.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { FaultyStore } from './faulty-store.ts';
import type { Entry, Seen } from './history.ts';
import { MemoryStore } from './memory-store.ts';
import { COMMIT_PART, SILENT, UNMETERED } from './world.ts';

const NODES = 3;
const ARTIFACTS = 2;
const CLIENTS = 8;
const CALLS_EACH = 25;
const KEYS = ['a', 'b'];
const COUNTER = 'count';
const FAULTS = 0.04;
/** A client gives up after so long, and its call may still take effect. */
const PATIENCE_MS = 2500;
const EVENTS_GAP_MS = 1500;
const EVENTS = [
  'stop',
  'stop',
  'continue',
  'continue',
  'cut',
  'mend',
  'kill',
  'drain',
  'hand over',
  'hand over',
  'flush',
  'fail over',
] as const;

/** What is broken on purpose, to test that the simulation notices. */
export interface Breakage {
  readonly store?: Partial<Pick<MemoryStore, 'checksEpochs' | 'raisesEpochs' | 'loadsLate'>>;
  /** Of the way to the store. */
  readonly commits?: Partial<Pick<FaultyStore, 'lies' | 'tears'>>;
  readonly registry?: Partial<
    Pick<RegistryModel, 'settles' | 'checksLeases' | 'checksClaims' | 'checksReclaims' | 'freesDead' | 'renews' | 'countsMembers'>
  >;
  readonly placement?: (placement: Placement) => Placement;
  /** A node has the same name after its lease was lost. */
  readonly keepsName?: boolean;
  /** The lease time that nodes count with; the registry's is LEASE_MS. */
  readonly leaseMs?: number;
}

/** The way of a node to the registry: slow at times, and calls fail before or after they took effect. */
class FaultyRegistry implements Registry {
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #callerClock: Clock;
  readonly #random: Random;
  faults = FAULTS;
  isCut = false;

  constructor(registry: Registry, clock: Clock, callerClock: Clock, random: Random) {
    this.#registry = registry;
    this.#clock = clock;
    this.#callerClock = callerClock;
    this.#random = random;
  }

  beat(node: ClusterNode, replaces: string | undefined) {
    return this.#call(() => this.#registry.beat(node, replaces));
  }

  find(incarnation: string, wanted: readonly Wanted[]) {
    return this.#call(() => this.#registry.find(incarnation, wanted));
  }

  reclaim(incarnation: string, ids: readonly Claim[]) {
    return this.#call(() => this.#registry.reclaim(incarnation, ids));
  }

  release(incarnation: string, released: readonly Released[]) {
    return this.#call(() => this.#registry.release(incarnation, released));
  }

  leave(incarnation: string) {
    return this.#call(() => this.#registry.leave(incarnation));
  }

  sweep(cursor: string) {
    return this.#call(() => this.#registry.sweep(cursor));
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    await this.#passed(this.#clock);
    if (this.isCut || this.#random.chance(this.faults / 2)) throw new Error('connection refused');
    if (this.#random.chance(this.faults / 2)) {
      // The caller gives up, and the call arrives late.
      this.#clock.after(this.#random.integer(2 * LEASE_MS), () => call().catch(() => undefined));
      throw new Error('no answer in time');
    }
    const answer = await call();
    await this.#passed(this.#callerClock);
    if (this.isCut || this.#random.chance(this.faults / 2)) throw new Error('connection lost');
    return answer;
  }

  #passed(clock: Clock): Promise<void> {
    const ms = this.#random.chance(0.05) ? this.#random.integer(900) : this.#random.integer(4);
    return new Promise((resolve) => clock.after(ms, resolve));
  }
}

interface Node {
  readonly address: string;
  readonly clock: NodeClock;
  readonly registry: FaultyRegistry;
  readonly store: FaultyStore;
  readonly placement: ClusterPlacement;
  /** The same, broken where the test wants it. */
  readonly asked: Placement;
  readonly runtime: ActorRuntime;
  /** It was killed, and another has taken its place. */
  isDead: boolean;
}

export class ClusterWorld {
  readonly clock = new SteppedClock();
  readonly memory = new MemoryStore();
  readonly registry = new RegistryModel(this.clock);
  readonly history: Entry[] = [];
  readonly artifacts: readonly ArtifactId[];
  /** How often each thing happened. */
  readonly happened = new Map<string, number>();
  readonly #breakage: Breakage;
  readonly #random: Random;
  readonly #nodes: Node[] = [];
  #incarnations = 0;
  #values = 0;
  #isOver = false;

  constructor(seed: number, breakage: Breakage = {}) {
    this.#random = new Random(seed);
    this.#breakage = breakage;
    Object.assign(this.memory, breakage.store);
    Object.assign(this.registry, breakage.registry);
    this.artifacts = Array.from({ length: ARTIFACTS }, (_, at) => `art_${String(seed).padStart(20, '0')}000${at}` as ArtifactId);
    for (const id of this.artifacts) this.memory.add(id);
  }

  /** Clients call while things happen; then everything is well again, and all is read once more. Every call must be answered. */
  async run(): Promise<void> {
    for (let at = 0; at < NODES; at += 1) this.#nodes.push(this.#node(`node-${at}:7000`));
    for (const { placement } of this.#nodes) placement.start().catch(() => undefined);
    await this.clock.advance(LEASE_MS * 2);
    void this.#events();
    await this.#until(Promise.all(Array.from({ length: CLIENTS }, () => this.#client())));
    this.#isOver = true;
    for (const node of this.#nodes) this.#heal(node);
    await this.clock.advance(LEASE_MS * 4);
    await this.#until(Promise.all(this.artifacts.flatMap((id) => [COUNTER, ...KEYS].map((key) => this.#lastRead(id, key)))));
  }

  #node(address: string): Node {
    const clock = new NodeClock(this.clock);
    const registry = new FaultyRegistry(this.registry, this.clock, clock, this.#random);
    const store = new FaultyStore(this.memory, this.clock, this.#random, FAULTS, clock);
    Object.assign(store, this.#breakage.commits);
    let name: string | undefined;
    const placement = new ClusterPlacement({
      registry,
      address,
      clock,
      log: SILENT,
      meter: { claimed: () => undefined },
      newIncarnation: () => {
        if (this.#breakage.keepsName && name !== undefined) return name;
        this.#incarnations += 1;
        name = `i${this.#incarnations}`;
        return name;
      },
      ...(this.#breakage.leaseMs !== undefined && { leaseMs: this.#breakage.leaseMs }),
    });
    const { placement: broken = (whole: Placement) => whole } = this.#breakage;
    const asked = broken(placement);
    const ports = { clock, store, journal: store, placement: asked, meter: UNMETERED, log: SILENT };
    const runtime = new ActorRuntime({ ...ports, idleMs: 5000, memoryBytesMax: 1_000_000, commitPart: COMMIT_PART });
    return { address, clock, registry, store, placement, asked, runtime, isDead: false };
  }

  async #events(): Promise<void> {
    while (!this.#isOver) {
      await new Promise<void>((resolve) => this.clock.after(this.#random.integer(EVENTS_GAP_MS * 2), resolve));
      if (this.#isOver) return;
      const at = this.#random.integer(NODES);
      const node = this.#nodes[at] as Node;
      const event = this.#random.pick(EVENTS);
      this.happened.set(event, (this.happened.get(event) ?? 0) + 1);
      this.#happens(event, at, node);
    }
  }

  #happens(event: (typeof EVENTS)[number], at: number, node: Node): void {
    switch (event) {
      case 'stop':
        node.clock.stop();
        // Mostly a little longer than its lease, which is when a process that goes on can do harm.
        this.clock.after(LEASE_MS * (0.5 + 2 * this.#random.next()), () => this.#continue(node));
        return;
      case 'continue':
        this.#continue(node);
        return;
      case 'cut':
      case 'mend':
        node.registry.isCut = event === 'cut';
        return;
      case 'flush':
        this.registry.flush();
        return;
      case 'fail over':
        this.registry.failOver(this.artifacts.filter(() => this.#random.chance(0.5)));
        return;
      case 'kill':
        this.#replace(at, node);
        return;
      case 'hand over':
        for (const id of this.artifacts) node.runtime.handOver(id, 'without connections');
        return;
      case 'drain':
        void this.#drain(at, node);
        return;
      default:
        event satisfies never;
    }
  }

  #replace(at: number, node: Node): void {
    node.isDead = true;
    node.clock.stop();
    const next = this.#node(node.address);
    this.#nodes[at] = next;
    next.placement.start().catch(() => undefined);
  }

  /** A drain that is not done in time ends like a kill. */
  async #drain(at: number, node: Node): Promise<void> {
    const drained = node.placement
      .drain()
      .then(() => node.runtime.drain())
      .then(() => node.placement.stop());
    await Promise.race([drained, new Promise<void>((resolve) => this.clock.after(2000, resolve))]);
    if (this.#nodes[at] === node) this.#replace(at, node);
  }

  #continue(node: Node): void {
    if (node.isDead) return;
    node.clock.continue((due) =>
      due
        .map((run) => ({ run, rank: this.#random.next() }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ run }) => run),
    );
  }

  #heal(node: Node): void {
    this.#continue(node);
    node.registry.isCut = false;
    node.registry.faults = 0;
    node.store.faults = 0;
  }

  async #client(): Promise<void> {
    for (let call = 0; call < CALLS_EACH; call += 1) {
      const pauseMs = this.#random.chance(0.2) ? this.#random.integer(3000) : this.#random.integer(60);
      await new Promise<void>((resolve) => this.clock.after(pauseMs, resolve));
      const id = this.#random.pick(this.artifacts);
      const key = this.#random.pick(KEYS);
      const dice = this.#random.next();
      if (dice < 0.45) await this.#record(id, key, (ask) => readOf(ask, key));
      else if (dice < 0.75) await this.#record(id, key, (ask) => putOf(ask, key, this.#value()));
      else await this.#record(id, COUNTER, added);
    }
  }

  /** In a cluster that is well every artifact must be reached again. */
  async #lastRead(id: ArtifactId, key: string): Promise<void> {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const seen = await this.#record(id, key, (ask) => readOf(ask, key));
      if (seen.kind !== 'unknown') return;
      await new Promise<void>((resolve) => this.clock.after(1000, resolve));
    }
    throw new Error(`nobody answers for ${id}`);
  }

  async #record(id: ArtifactId, key: string, call: (ask: Ask) => Promise<Seen>): Promise<Seen> {
    const { log } = this.memory.of(id);
    const asked = { askedMs: this.clock.nowMs(), askedAt: log.length };
    const seen = await this.#bounded(call((turn, prepare) => this.#forwarded(id, turn, prepare)));
    this.history.push({ artifactId: id, key, ...asked, answeredMs: this.clock.nowMs(), answeredAt: log.length, seen });
    return seen;
  }

  /** A client gives up in the end: the node that it waits for may be dead. */
  #bounded(seen: Promise<Seen>): Promise<Seen> {
    const gaveUp = new Promise<Seen>((resolve) => this.clock.after(PATIENCE_MS, () => resolve({ kind: 'unknown' })));
    return Promise.race([seen, gaveUp]);
  }

  /** As the forwarder does: to where the first node finds the artifact, once more where that node has not got it. */
  async #forwarded<T>(id: ArtifactId, turn: (actor: ArtifactActor) => T, prepare?: Prepare): Promise<T> {
    const first = this.#random.pick(this.#nodes);
    for (let attempt = 0; ; attempt += 1) {
      await arrival(first);
      const where = await first.asked.locate(id);
      await arrival(first);
      if (where.here) return this.#asked(first, id, turn, prepare);
      const there = this.#nodes.find(({ address }) => address === where.address);
      if (there !== undefined && (await this.#claimed(there, id))) return this.#asked(there, id, turn, prepare);
      first.asked.forget(id);
      if (attempt === 1) throw new Failure('OWNER_MOVED');
    }
  }

  async #claimed(node: Node, id: ArtifactId): Promise<boolean> {
    await arrival(node);
    return node.asked.claim(id);
  }

  async #asked<T>(node: Node, id: ArtifactId, turn: (actor: ArtifactActor) => T, prepare?: Prepare): Promise<T> {
    await arrival(node);
    // A stopped process sends no answer before it goes on.
    const outcome = await Promise.resolve()
      .then(() => node.runtime.ask(id, turn, prepare))
      .then(
        (value) => () => value,
        (error) => () => {
          throw error;
        },
      );
    await arrival(node);
    return outcome();
  }

  #value(): string {
    this.#values += 1;
    return JSON.stringify(`value ${this.#values}`);
  }

  async #until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    while (!isDone) if (!(await this.clock.step()) && !isDone) throw new Error('a client waits although no timer is left');
    return done;
  }
}

type Prepare = (actor: ArtifactActor) => Promise<void> | undefined;
type Ask = <T>(turn: (actor: ArtifactActor) => T, prepare?: Prepare) => Promise<T>;

/** Until the node's process runs. */
function arrival({ clock }: Node): Promise<void> | undefined {
  return clock.isStopped ? new Promise((resolve) => clock.after(0, resolve)) : undefined;
}

async function readOf(ask: Ask, key: string): Promise<Seen> {
  try {
    return await ask(
      ({ json }) => {
        const entry = json.get(key);
        return { kind: 'read', seq: entry.seq, value: entry.warmText } as const;
      },
      ({ json }) => json.warm(key),
    );
  } catch (error) {
    return seenOf(error);
  }
}

async function putOf(ask: Ask, key: string, value: string): Promise<Seen> {
  try {
    return await ask(({ json }) => ({ kind: 'wrote', seq: json.put(key, value, {}).entry.seq, value, onlyIf: undefined }) as const);
  } catch (error) {
    return seenOf(error);
  }
}

async function added(ask: Ask): Promise<Seen> {
  try {
    return await ask(({ json }) => {
      const { entry } = json.patch(COUNTER, {}, (value) => applyOperation(value, { op: 'increment', path: '$', by: 1 }));
      return { kind: 'added', seq: entry.seq, sum: Number(entry.warmText) } as const;
    });
  } catch (error) {
    return seenOf(error);
  }
}

function seenOf(error: unknown): Seen {
  if (!(error instanceof Failure)) throw error;
  if (error.code === 'KEY_NOT_FOUND') return { kind: 'absent' };
  if (error.code === 'UNAVAILABLE' || error.code === 'OWNER_MOVED') return { kind: 'unknown' };
  throw error;
}
