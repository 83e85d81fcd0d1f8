/** A latency histogram of fixed size, which makes recording cheap. */

/** Resolution 0.05 ms, up to 10 s; longer latencies count as 10 s. */
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

  /** The quantile `share` (0–1) in ms; 0 if nothing was recorded. */
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
