/** One node whose actors load, sleep and fail, while callers spend the data limit of their artifacts. */
import type { Spent } from '../../actors/runtime/limits-part.ts';
import { localPlacement } from '../../actors/runtime/placement.ts';
import { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { type ArtifactId, newId } from '../../protocol/core/ids.ts';
import { Random } from '../support/random.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { FaultyStore } from './faulty-store.ts';
import { MemoryStore } from './memory-store.ts';
import { SILENT } from './world.ts';

// Actors sleep after less than a second, and do not all fit into memory.
const IDLE_MS = 400;
const MEMORY_BYTES_MAX = 3000;
const ARTIFACTS = 3;

/** One attempt and its outcome. */
export interface Attempt {
  readonly artifactId: ArtifactId;
  readonly atMs: number;
  readonly calls: number;
  readonly spent: Spent;
}

export class LimitedWorld {
  readonly clock = new SteppedClock();
  readonly memory = new MemoryStore();
  readonly random: Random;
  readonly runtime: ActorRuntime;
  readonly artifacts: readonly ArtifactId[];
  readonly attempts: Attempt[] = [];
  /** How often an actor was loaded. */
  loads = 0;
  failedCommits = 0;
  #calls = 0;
  readonly #running: Promise<void>[] = [];

  constructor(seed: number, faults: number) {
    this.random = new Random(seed);
    const store = new FaultyStore(this.memory, this.clock, this.random, faults);
    this.artifacts = Array.from({ length: ARTIFACTS }, () => newId('artifact'));
    for (const id of this.artifacts) this.memory.add(id);
    this.runtime = new ActorRuntime({
      clock: this.clock,
      store,
      journal: store,
      placement: localPlacement(),
      meter: {
        commit: (_changes, _artifacts, _durationMs, outcome) => {
          if (outcome === 'failed') this.failedCommits += 1;
        },
        turn: () => undefined,
        loaded: () => {
          this.loads += 1;
        },
        writeRefused: () => undefined,
      },
      log: SILENT,
      idleMs: IDLE_MS,
      memoryBytesMax: MEMORY_BYTES_MAX,
    });
  }

  get artifact(): ArtifactId {
    return this.random.pick(this.artifacts);
  }

  /** Calls as the edge does: spends first, and runs only accepted calls. */
  call(artifactId: ArtifactId, calls = 1): boolean {
    const spent = this.runtime.spend(artifactId, calls);
    this.attempts.push({ artifactId, atMs: this.clock.monotonicMs(), calls, spent });
    if (spent.accepted && this.random.chance(0.05)) this.#running.push(this.#write(artifactId));
    return spent.accepted;
  }

  discard(artifactId: ArtifactId): void {
    this.#running.push(this.runtime.discard(artifactId));
  }

  /** Sometimes disturbs the actor. */
  disturb(artifactId: ArtifactId): void {
    const dice = this.random.next();
    if (dice < 0.3) this.discard(artifactId);
    else if (dice < 0.5) this.memory.of(artifactId).epoch += 1;
    else if (dice < 0.8) this.#running.push(this.#write(artifactId));
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }

  /** Ends the world and checks that refused calls changed nothing. */
  async end(): Promise<void> {
    await this.#finish(Promise.all(this.#running));
    await this.#finish(this.runtime.stop());
  }

  async #finish(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    while (!isDone) await this.clock.step();
    await done;
  }

  async #write(artifactId: ArtifactId): Promise<void> {
    this.#calls += 1;
    try {
      await this.runtime.ask(artifactId, ({ json }) => json.put('k', JSON.stringify(this.#calls), {}));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
  }
}
