/** The rate windows of all artifacts of a runtime. Kept apart from the actors, so that discarding an actor does not reset its limits. */
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { ACTOR_LIMITS, RATE_LIMITS, type RateLimit } from '../../protocol/core/rate-limits.ts';
import { CallWindow, type Spent } from './limits-part.ts';

/** Runs of a window that move with its artifact: of calls within a minute each stands for about a second. */
const PACKED_RUNS = 64;

/** By the name of a limit: for each run, oldest first, how many ms ago it was accepted and how many calls it has. */
type Packed = Readonly<Record<string, readonly (readonly [agoMs: number, calls: number])[]>>;

export class CallWindows {
  readonly #windows = new Map<string, CallWindow>();

  get size(): number {
    return this.#windows.size;
  }

  spend(id: ArtifactId, limit: RateLimit, nowMs: number, calls: number): Spent {
    return this.#window(id, limit).spend(nowMs, calls);
  }

  /** Takes back calls that `spend` accepted at `atMs`. */
  giveBack(id: ArtifactId, limit: RateLimit, atMs: number, calls: number): void {
    this.#windows.get(windowKey(id, limit))?.giveBack(atMs, calls);
  }

  /** Forgets the windows of an artifact and answers what its next owner must know; undefined where they are empty. */
  pack(id: ArtifactId, nowMs: number): string | undefined {
    const packed: Record<string, [number, number][]> = {};
    for (const limit of ACTOR_LIMITS) {
      const key = windowKey(id, limit);
      const runs = this.#windows.get(key)?.runs(nowMs, PACKED_RUNS) ?? [];
      this.#windows.delete(key);
      // Rounded down: a call counts a little longer rather than shorter.
      if (runs.length > 0) packed[limit.name] = runs.map(({ atMs, calls }) => [Math.floor(nowMs - atMs), calls]);
    }
    return Object.keys(packed).length === 0 ? undefined : JSON.stringify(packed);
  }

  /** Adds what the last owner packed `ageMs` ago. */
  unpack(id: ArtifactId, text: string, nowMs: number, ageMs: number): void {
    const packed = JSON.parse(text) as Packed;
    for (const limit of ACTOR_LIMITS) {
      const runs = packed[limit.name]?.map(([agoMs, calls]) => ({ atMs: Math.ceil(nowMs - agoMs - ageMs), calls }));
      if (runs !== undefined) this.#window(id, limit).addRuns(runs);
    }
  }

  /** Forgets windows in which nothing is left. */
  sweep(nowMs: number): void {
    for (const [key, window] of this.#windows) if (window.isEmpty(nowMs)) this.#windows.delete(key);
  }

  clear(): void {
    this.#windows.clear();
  }

  #window(id: ArtifactId, limit: RateLimit): CallWindow {
    const key = windowKey(id, limit);
    let window = this.#windows.get(key);
    if (window === undefined) {
      window = new CallWindow(limit.quota, limit.windowS * 1000);
      this.#windows.set(key, window);
    }
    return window;
  }
}

/**
 * The data limit is spent by every call of an artifact's data: its key is the id, which costs no new string. Of the others the length keeps name
 * and id apart; an id does not begin with a digit.
 */
function windowKey(id: ArtifactId, limit: RateLimit): string {
  return limit === RATE_LIMITS.data ? id : `${limit.name.length} ${limit.name} ${id}`;
}
