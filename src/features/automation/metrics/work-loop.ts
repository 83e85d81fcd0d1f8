/** Takes work that is due from the database and does it, so much at once on this node and of one artifact. */
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';

export interface WorkLoopSettings<W> {
  readonly clock: Clock;
  readonly log: Log;
  /** For the log. */
  readonly name: string;
  readonly lookMs: number;
  readonly atOnceMax: number;
  readonly perArtifactMax: number;
  /** Takes work that is due, at most `max` and none of artifacts that are `busy`. */
  readonly take: (max: number, busy: readonly ArtifactId[]) => Promise<readonly W[]>;
  readonly artifactOf: (work: W) => ArtifactId;
  /** Never rejects. */
  readonly run: (work: W, signal: AbortSignal) => Promise<void>;
}

export class WorkLoop<W> {
  readonly #settings: WorkLoopSettings<W>;
  readonly #running = new Map<Promise<void>, ArtifactId>();
  readonly #stopping = new AbortController();
  #timer: Timer | undefined;
  /** `asked`: once more after the look that is under way. */
  #state: 'off' | 'idle' | 'looking' | 'asked' = 'off';

  constructor(settings: WorkLoopSettings<W>) {
    this.#settings = settings;
  }

  /** How much is under way. */
  get running(): number {
    return this.#running.size;
  }

  start(): void {
    this.#state = 'idle';
    this.#arm();
  }

  /** Takes nothing more, and waits for what is under way. */
  async close(): Promise<void> {
    this.#stopping.abort();
    this.#timer?.cancel();
    await Promise.all(this.#running.keys());
  }

  /** Something may be due now. */
  wake(): void {
    if (this.#state === 'looking') this.#state = 'asked';
    if (this.#state === 'idle' && !this.#isStopped()) void this.#look();
  }

  /** The next look begins when the last one has ended, however often a clock that is put forward would have begun one. */
  #arm(): void {
    if (this.#isStopped()) return;
    const { clock, lookMs } = this.#settings;
    this.#timer?.cancel();
    this.#timer = clock.after(lookMs, () => this.wake());
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    do {
      this.#state = 'looking';
      try {
        await this.#take();
      } catch (err) {
        if (this.#isStopped()) return;
        this.#settings.log.warn({ err }, `${this.#settings.name} that are due were not read; the next look tries again`);
        break;
      }
    } while (this.#isAsked());
    this.#state = 'idle';
    this.#arm();
  }

  /** Told by others during an await, which the compiler cannot see. */
  #isAsked(): boolean {
    return this.#state === 'asked' && !this.#isStopped();
  }

  #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #take(): Promise<void> {
    const { atOnceMax, take, run, artifactOf } = this.#settings;
    const free = atOnceMax - this.#running.size;
    if (free <= 0 || this.#isStopped()) return;
    for (const work of await take(free, this.#busy())) {
      const done = run(work, this.#stopping.signal).finally(() => {
        this.#running.delete(done);
        this.wake();
      });
      this.#running.set(done, artifactOf(work));
    }
  }

  #busy(): ArtifactId[] {
    const counts = new Map<ArtifactId, number>();
    for (const id of this.#running.values()) counts.set(id, (counts.get(id) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= this.#settings.perArtifactMax).map(([id]) => id);
  }
}
