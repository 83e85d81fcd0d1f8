/** Latencies in a histogram of fixed size, so that recording one costs the generator next to nothing. */

/** Resolution 0.05 ms, up to 10 s; whatever takes longer counts as 10 s. */
const BUCKETS_PER_MS = 20;
const LONGEST_MS = 10_000;

export class Latencies {
  readonly #buckets = new Uint32Array(LONGEST_MS * BUCKETS_PER_MS + 1);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(ms: number): void {
    const bucket = Math.max(0, Math.min(this.#buckets.length - 1, Math.ceil(ms * BUCKETS_PER_MS)));
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    this.#count += 1;
  }

  addAll(others: Latencies): void {
    for (const [bucket, count] of others.#buckets.entries()) this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + count;
    this.#count += others.#count;
  }

  /** The least latency in ms that `share` (0–1) of all do not exceed; 0 when nothing was recorded. */
  percentileMs(share: number): number {
    const wanted = Math.ceil(this.#count * share);
    let seen = 0;
    for (const [bucket, count] of this.#buckets.entries()) {
      seen += count;
      if (seen >= wanted) return bucket / BUCKETS_PER_MS;
    }
    return LONGEST_MS;
  }
}
