/** Writes once a day that something was used, never while the user waits. What of it was not written is noted again by the next use. */

const DAY_MS = 24 * 3600 * 1000;
/** Beyond it what was noted today is forgotten, and written once more. */
const NOTED_MAX = 10_000;
/** Under way at the same time. Further ones are noted by the next use. */
const WRITES_MAX = 8;

export class DailyNotes {
  readonly #noted = new Map<string, number>();
  readonly #writes = new Set<Promise<void>>();

  /** `write`: of the keys that were not noted today; it answers those that it has written, and never rejects. */
  note(keys: readonly string[], nowMs: number, write: (fresh: ReadonlySet<string>) => Promise<readonly string[]>): void {
    if (this.#writes.size >= WRITES_MAX) return;
    const day = Math.floor(nowMs / DAY_MS);
    const fresh = new Set(keys.filter((key) => this.#noted.get(key) !== day));
    if (fresh.size === 0) return;
    if (this.#noted.size >= NOTED_MAX) this.#noted.clear();
    for (const key of fresh) this.#noted.set(key, day);
    const writing = write(fresh)
      .then((written) => {
        const kept = new Set(written);
        for (const key of fresh) if (!kept.has(key)) this.#noted.delete(key);
      })
      .finally(() => this.#writes.delete(writing));
    this.#writes.add(writing);
  }

  /** What is being written is written. */
  async drain(): Promise<void> {
    await Promise.all(this.#writes);
  }
}
