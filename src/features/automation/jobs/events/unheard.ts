/**
 * Commits of artifacts with event jobs that set none of them off. Most commits are such, so they cost a comparison in memory each, and one
 * statement for all artifacts together notes every few seconds that the jobs have seen them.
 */
import type { Clock, Log, Timer } from '../../../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../../../protocol/core/ids.ts';
import type { Sql } from '../../../../storage/sql.ts';
import { type Heard, noteUnheard } from './rows.ts';

const NOTE_MS = 10_000;
/** Artifacts; commits to further ones are found by the search for what the jobs have not seen. */
const STRETCHES_MAX = 10_000;
const NOTED_AT_ONCE = 1000;

/** Commits one after the other. */
export interface Stretch {
  readonly firstSeq: number;
  lastSeq: number;
  /** Who listened then. */
  readonly jobs: readonly Heard[];
}

export class UnheardCommits {
  readonly #deps: { readonly sql: Sql; readonly clock: Clock; readonly log: Log };
  readonly #stretches = new Map<ArtifactId, Stretch>();
  #timer: Timer | undefined;
  #isOver = false;

  constructor(deps: { readonly sql: Sql; readonly clock: Clock; readonly log: Log }) {
    this.#deps = deps;
  }

  add(id: ArtifactId, jobs: readonly Heard[], firstSeq: number, lastSeq: number): void {
    const stretch = this.#stretches.get(id);
    if (stretch !== undefined && stretch.lastSeq + 1 === firstSeq) {
      stretch.lastSeq = lastSeq;
      return;
    }
    // After a gap, what was before it does not help.
    if (stretch !== undefined || this.#stretches.size < STRETCHES_MAX) this.#stretches.set(id, { firstSeq, lastSeq, jobs });
    if (!this.#isOver) this.#timer ??= this.#deps.clock.after(NOTE_MS, () => void this.note());
  }

  /** Whether everything that was committed after this seq is here, and sets nothing off. */
  covers(id: ArtifactId, seenSeq: number | null): boolean {
    const stretch = this.#stretches.get(id);
    return stretch !== undefined && seenSeq !== null && stretch.firstSeq <= seenSeq + 1;
  }

  /** For who looks at the artifact now. */
  take(id: ArtifactId): Stretch | undefined {
    const stretch = this.#stretches.get(id);
    this.#stretches.delete(id);
    return stretch;
  }

  /** Other jobs listen by now. */
  forgetAll(): void {
    this.#stretches.clear();
  }

  /** Never rejects. What is not noted is found by the search, only later. */
  async note(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const seen = [...this.#stretches.values()].flatMap(({ jobs, firstSeq, lastSeq }) => jobs.map((job) => ({ job, firstSeq, lastSeq })));
    this.#stretches.clear();
    try {
      for (let from = 0; from < seen.length; from += NOTED_AT_ONCE)
        await noteUnheard(this.#deps.sql, seen.slice(from, from + NOTED_AT_ONCE));
    } catch (err) {
      this.#deps.log.warn({ err, jobs: seen.length }, 'what sets no job off could not be noted as seen; it is looked at later');
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.note();
  }
}
