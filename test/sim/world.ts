/** A world of one seed: two nodes over one faulty store, artifacts that move between the nodes, and clients with random calls. */

import { COLD_VALUE_BYTES } from '../../actors/json/changes.ts';
import { applyOperation } from '../../actors/json/json-operation.ts';
import type { ArtifactActor } from '../../actors/runtime/artifact-actor.ts';
import { localPlacement } from '../../actors/runtime/placement.ts';
import type { Log, Placement, RuntimeMeter } from '../../actors/runtime/ports.ts';
import { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { type ArtifactId, newId } from '../../protocol/core/ids.ts';
import { Random } from '../support/random.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { FaultyStore } from './faulty-store.ts';
import type { Entry, Seen } from './history.ts';
import { MemoryStore } from './memory-store.ts';
import { addManyBlobs, MixedCalls } from './mixed-calls.ts';
import { addUniqueTable, TableCalls } from './table-calls.ts';

export const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
export const UNMETERED: RuntimeMeter = {
  commit: () => undefined,
  loaded: () => undefined,
  writeRefused: () => undefined,
  turn: () => undefined,
};

const NODES = 2;
const ARTIFACTS = 3;
const CLIENTS = 6;
const CALLS_EACH = 25;
const KEYS = ['a', 'b', 'c'];
const COUNTER = 'count';
const POISON = 'poison';
const BUG = 'bug';
// So small that actors evict each other from memory.
const MEMORY_BYTES_MAX = 12_000;
/** Small, so that an actor's changes often go into several commits. */
export const COMMIT_PART = { changesMax: 2, bytesMax: 1000 };
const IDLE_MS = 400;

/** A placement that every node sees at once, without the delays of a real service. */
class Ownership {
  readonly #owners = new Map<ArtifactId, number>();
  readonly #listeners: ((id: ArtifactId) => void)[] = [];

  ownerOf(id: ArtifactId): number {
    return this.#owners.get(id) ?? 0;
  }

  move(id: ArtifactId, to: number): void {
    const from = this.ownerOf(id);
    this.#owners.set(id, to);
    if (from !== to) this.#listeners[from]?.(id);
  }

  placementOf(node: number): Placement {
    return {
      ...localPlacement(),
      locate: (id) => (this.ownerOf(id) === node ? { here: true } : { here: false, address: String(this.ownerOf(id)), incarnation: '' }),
      claim: (id) => this.ownerOf(id) === node,
      onLost: (listener) => {
        this.#listeners[node] = listener;
      },
    };
  }
}

/** Deviations from the default world. */
export interface WorldOptions {
  readonly faults: number;
  /** For the tests of the simulation itself: the store breaks its guarantees. */
  readonly lies?: boolean;
  readonly tears?: boolean;
  readonly checksEpochs?: boolean;
  /** Most calls are table calls. */
  readonly tables?: boolean;
  /** Most calls are blob calls or batches. */
  readonly mixed?: boolean;
}

export class World {
  readonly clock = new SteppedClock();
  readonly memory = new MemoryStore();
  readonly history: Entry[] = [];
  /** How often an actor was loaded. */
  loads = 0;
  readonly artifacts: readonly ArtifactId[];
  readonly nodes: readonly ActorRuntime[];
  readonly #random: Random;
  readonly #store: FaultyStore;
  readonly #ownership = new Ownership();
  readonly tables: TableCalls;
  readonly mixed: MixedCalls;
  /** The blobs before the first change. */
  readonly blobsBefore: ReadonlyMap<ArtifactId, ReadonlyMap<string, number>>;
  readonly #tableShare: number;
  readonly #mixedShare: number;
  #values = 0;

  constructor(seed: number, options: WorldOptions) {
    this.#random = new Random(seed);
    this.#store = new FaultyStore(this.memory, this.clock, this.#random, options.faults);
    this.#store.lies = options.lies ?? false;
    this.#store.tears = options.tears ?? false;
    this.memory.checksEpochs = options.checksEpochs ?? true;
    this.memory.isPoison = (change) => change.kind === 'json.put' && change.value.includes(POISON);
    this.artifacts = Array.from({ length: ARTIFACTS }, () => newId('artifact'));
    for (const id of this.artifacts) this.memory.add(id);
    if (options.tables) for (const id of this.artifacts) addUniqueTable(this.memory, id);
    if (options.mixed) addManyBlobs(this.memory, this.artifacts);
    this.blobsBefore = new Map(this.artifacts.map((id) => [id, sizesOf(this.memory, id)]));
    this.#tableShare = options.tables ? 0.7 : 0;
    this.#mixedShare = options.mixed ? 0.7 : 0;
    const { clock, memory } = this;
    const deps = { random: this.#random, clock, memory, store: this.#store, owner: (id: ArtifactId) => this.#owner(id) };
    this.tables = new TableCalls(deps);
    this.mixed = new MixedCalls(deps);
    this.nodes = Array.from({ length: NODES }, (_, node) => this.#node(node));
  }

  /** Lets all clients make their calls, then ends the faults and reads everything once more. Every call must be answered. */
  async run(): Promise<void> {
    let running = CLIENTS;
    let failure: unknown;
    for (let client = 0; client < CLIENTS; client += 1) {
      this.#client().then(
        () => {
          running -= 1;
        },
        (error) => {
          failure ??= error;
        },
      );
    }
    while (running > 0) {
      const isMoving = await this.clock.step();
      if (failure !== undefined) throw failure;
      if (!isMoving && running > 0) throw new Error('some calls were never answered');
    }
    this.#store.faults = 0;
    this.#store.lies = false;
    this.#store.tears = false;
    await this.#until(Promise.all(this.artifacts.flatMap((id) => [COUNTER, ...KEYS].map((key) => this.#record(id, key, this.#read(key))))));
    await this.#until(Promise.all(this.nodes.map((node) => node.stop())));
    await this.clock.advance(60_000);
  }

  #node(node: number): ActorRuntime {
    const placement = this.#ownership.placementOf(node);
    const meter: RuntimeMeter = {
      ...UNMETERED,
      loaded: () => {
        this.loads += 1;
      },
      writeRefused: () => undefined,
    };
    const ports = { clock: this.clock, store: this.#store, journal: this.#store, placement, meter, log: SILENT };
    return new ActorRuntime({ ...ports, idleMs: IDLE_MS, memoryBytesMax: MEMORY_BYTES_MAX, commitPart: COMMIT_PART });
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

  async #client(): Promise<void> {
    for (let call = 0; call < CALLS_EACH; call += 1) {
      await this.#pause();
      const id = this.#random.pick(this.artifacts);
      const dice = this.#random.next();
      if (dice < 0.02) this.#ownership.move(id, this.#random.integer(NODES));
      else if (dice < 0.04) await this.#owner(id).discard(id);
      // Another owner takes the epoch and writes nothing: memory is still right, but this node can no longer commit.
      else if (dice < 0.06) this.memory.of(id).epoch += 1;
      else if (dice < 0.1 && this.#tableShare > 0) this.memory.of(id).tables.purgeOne();
      else if (this.#tableShare > 0 && this.#random.chance(this.#tableShare)) await this.tables.call(id);
      else if (this.#mixedShare > 0 && this.#random.chance(this.#mixedShare)) await this.mixed.call(id);
      else await this.#call(id);
    }
  }

  #pause(): Promise<void> {
    // Mostly short pauses, sometimes long enough for an actor to sleep.
    const ms = this.#random.chance(0.1) ? this.#random.integer(2000) : this.#random.integer(6);
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }

  #owner(id: ArtifactId): ActorRuntime {
    return this.nodes[this.#ownership.ownerOf(id)] as ActorRuntime;
  }

  async #call(id: ArtifactId): Promise<void> {
    const key = this.#random.pick(KEYS);
    const dice = this.#random.next();
    if (dice < 0.35) await this.#record(id, key, this.#read(key));
    else if (dice < 0.6) await this.#record(id, key, this.#put(key));
    else if (dice < 0.75) await this.#compareAndSet(id, key);
    else if (dice < 0.9) await this.#record(id, COUNTER, increment);
    else if (dice < 0.96) await this.#record(id, key, remove(key));
    else await this.#record(id, key, bug(key, this.#value(BUG)));
  }

  async #compareAndSet(id: ArtifactId, key: string): Promise<void> {
    const seen = await this.#record(id, key, this.#read(key));
    if (seen.kind !== 'read') return;
    await this.#pause();
    await this.#record(id, key, this.#put(key, seen.seq));
  }

  async #record(id: ArtifactId, key: string, call: (ask: Ask) => Promise<Seen>): Promise<Seen> {
    const { log } = this.memory.of(id);
    const asked = { askedMs: this.clock.nowMs(), askedAt: log.length };
    const runtime = this.#owner(id);
    const seen = await call(async (turn, prepare) => runtime.ask(id, turn, prepare));
    this.history.push({ artifactId: id, key, ...asked, answeredMs: this.clock.nowMs(), answeredAt: log.length, seen });
    return seen;
  }

  #read(key: string): (ask: Ask) => Promise<Seen> {
    return async (ask) => {
      try {
        return await ask(
          ({ json }) => {
            const entry = json.get(key);
            return { kind: 'read', seq: entry.seq, value: entry.warmText } as const;
          },
          ({ json }) => json.warm(key),
        );
      } catch (error) {
        return seenOf(error, '');
      }
    };
  }

  #put(key: string, onlyIf?: number): (ask: Ask) => Promise<Seen> {
    const value = this.#value(this.#random.chance(0.03) ? POISON : 'fine');
    const options = {
      ttlS: this.#random.chance(0.2) ? 1 : undefined,
      ifMatch: onlyIf === undefined ? undefined : `"${onlyIf.toString(36)}"`,
    };
    return async (ask) => {
      try {
        return await ask(({ json }) => ({ kind: 'wrote', seq: json.put(key, value, options).entry.seq, value, onlyIf }) as const);
      } catch (error) {
        return seenOf(error, value);
      }
    };
  }

  /** A unique value, sometimes too large to stay in memory. */
  #value(kind: string): string {
    this.#values += 1;
    return JSON.stringify(`${kind} ${this.#values}`.padEnd(this.#random.chance(0.1) ? COLD_VALUE_BYTES + 1 : 1));
  }
}

function sizesOf(memory: MemoryStore, id: ArtifactId): ReadonlyMap<string, number> {
  return new Map([...memory.of(id).blobs.values()].map((blob) => [blob.id, blob.sizeBytes]));
}

type Ask = <T>(turn: (actor: ArtifactActor) => T, prepare?: (actor: ArtifactActor) => Promise<void> | undefined) => Promise<T>;

async function increment(ask: Ask): Promise<Seen> {
  try {
    return await ask(({ json }) => {
      const { entry } = json.patch(COUNTER, {}, (value) => applyOperation(value, { op: 'increment', path: '$', by: 1 }));
      return { kind: 'added', seq: entry.seq, sum: Number(entry.warmText) } as const;
    });
  } catch (error) {
    return seenOf(error, '');
  }
}

function remove(key: string): (ask: Ask) => Promise<Seen> {
  return async (ask) => {
    try {
      return await ask(({ json }) => {
        json.delete(key, {});
        return { kind: 'deleted' } as const;
      });
    } catch (error) {
      return seenOf(error, '');
    }
  };
}

/** A turn that changes something and then throws. */
function bug(key: string, value: string): (ask: Ask) => Promise<Seen> {
  return async (ask) => {
    try {
      return await ask(({ json }) => {
        json.put(key, value, {});
        throw new TypeError(BUG);
      });
    } catch (error) {
      return error instanceof TypeError ? { kind: 'poisoned', value } : seenOf(error, value);
    }
  };
}

/** An unexpected error ends the simulation. */
function seenOf(error: unknown, value: string): Seen {
  if (!(error instanceof Failure)) throw error;
  switch (error.code) {
    case 'KEY_NOT_FOUND':
      return { kind: 'absent' };
    case 'VERSION_CONFLICT':
      return { kind: 'conflict', seq: error.details.etag === undefined ? undefined : Number.parseInt(error.details.etag.slice(1, -1), 36) };
    case 'INTERNAL_ERROR':
      return { kind: 'poisoned', value };
    case 'UNAVAILABLE':
    case 'OWNER_MOVED':
      return { kind: 'unknown' };
    default:
      throw error;
  }
}
