/** What is not yet committed, over all actors: how much of it one artifact may hold, and who was refused more. */
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { Clock, Log, RuntimeMeter, Timer } from './ports.ts';

/** Uncommitted changes and their bytes. */
export interface Uncommitted {
  readonly changes: number;
  readonly bytes: number;
}

/** One artifact's share. At it, its own writes are refused with UNAVAILABLE. About 200 ms of the store's throughput. */
const ARTIFACT_BACKLOG: Uncommitted = { changes: 10_000, bytes: 16 * 1024 * 1024 };
/** Bound for all artifacts together. At it, only artifacts below LEAST_BACKLOG may still write. */
const TOTAL_BACKLOG: Uncommitted = { changes: 40_000, bytes: 128 * 1024 * 1024 };
/** What an artifact may hold while the total is used up, so that a few greedy artifacts do not stop the others. */
const LEAST_BACKLOG: Uncommitted = { changes: 100, bytes: 256 * 1024 };
/** Bound of memory: nobody may write beyond it. */
const ABSOLUTE_BACKLOG: Uncommitted = { changes: 80_000, bytes: 256 * 1024 * 1024 };
const RETRY_AFTER_S = 1;

/** `artifact`: its own share is used up. `total`: what all artifacts share is. */
export type RefusedBy = 'artifact' | 'total';

export class Backlog implements Uncommitted {
  changes = 0;
  bytes = 0;
  /** Callers whose answer is held back until what it saw is committed. */
  callers = 0;
  readonly #onRefused: ((id: ArtifactId, by: RefusedBy) => void) | undefined;

  constructor(onRefused?: (id: ArtifactId, by: RefusedBy) => void) {
    this.#onRefused = onRefused;
  }

  /** `own`: what the artifact holds already. Throws UNAVAILABLE when there is no room for another turn of it. */
  admit(id: ArtifactId, own: Uncommitted): void {
    if (hasReached(own, ARTIFACT_BACKLOG)) this.#refuse(id, 'artifact', 'Too many changes of this artifact are waiting to be stored.');
    if (!hasReached(this, TOTAL_BACKLOG)) return;
    if (hasReached(own, LEAST_BACKLOG) || hasReached(this, ABSOLUTE_BACKLOG)) {
      this.#refuse(id, 'total', 'Too many changes are waiting to be stored.');
    }
  }

  #refuse(id: ArtifactId, by: RefusedBy, message: string): never {
    this.#onRefused?.(id, by);
    throw new Failure('UNAVAILABLE', { message, retryAfterS: RETRY_AFTER_S });
  }
}

function hasReached(held: Uncommitted, bound: Uncommitted): boolean {
  return held.changes >= bound.changes || held.bytes >= bound.bytes;
}

const REPORT_GAP_MS = 60_000;
/** Artifacts counted by name in a minute, and named in a line of the log. */
const COUNTED_MAX = 1000;
const NAMED_MAX = 10;

/** Counts refusals, and logs who was refused: the first at once, then one line a minute. */
export class BacklogRefusals {
  readonly #deps: { readonly clock: Clock; readonly meter: RuntimeMeter; readonly log: Log };
  #counts = new Map<ArtifactId, number>();
  #refused = 0;
  #timer: Timer | undefined;

  constructor(deps: { readonly clock: Clock; readonly meter: RuntimeMeter; readonly log: Log }) {
    this.#deps = deps;
  }

  count(id: ArtifactId, by: RefusedBy): void {
    this.#deps.meter.writeRefused(by);
    this.#refused += 1;
    const known = this.#counts.get(id);
    if (known !== undefined || this.#counts.size < COUNTED_MAX) this.#counts.set(id, (known ?? 0) + 1);
    if (this.#timer === undefined) this.#report();
  }

  close(): void {
    this.#timer?.cancel();
  }

  #report(): void {
    this.#timer = undefined;
    if (this.#refused === 0) return;
    const most = [...this.#counts].sort(([, a], [, b]) => b - a).slice(0, NAMED_MAX);
    const artifacts = most.map(([artifactId, refused]) => ({ artifactId, refused }));
    this.#deps.log.warn({ refused: this.#refused, artifacts }, 'writes were refused, because too many changes wait to be stored');
    this.#refused = 0;
    this.#counts = new Map();
    this.#timer = this.#deps.clock.after(REPORT_GAP_MS, () => this.#report());
  }
}
