/** The calls that one artifact has accepted within the last minute: an exact sliding window. */

/** What became of one attempt to spend. Times in whole seconds, rounded up. */
export interface Spent {
  readonly accepted: boolean;
  readonly limit: number;
  /** Calls left at this moment. */
  readonly remaining: number;
  /** Until the oldest accepted call leaves the window; 0 when the window is empty. */
  readonly resetS: number;
  /** Until as many calls as were refused fit; 0 when they were accepted. */
  readonly retryAfterS: number;
  /** The limiter's time at which they were counted, by which they can be given back. */
  readonly atMs: number;
}

/** Calls that were accepted in one millisecond. */
export interface Run {
  readonly atMs: number;
  readonly calls: number;
}

// A window begins this small; most artifacts never see more calls than this in a minute.
const RUNS_AT_FIRST = 8;

/**
 * Calls are kept as runs (millisecond, count) in a ring that grows up to one run a call and never beyond the limit.
 * No span of `windowMs` milliseconds, both ends counted, ever holds more accepted calls than `callsMax`.
 */
export class CallWindow {
  readonly #callsMax: number;
  readonly #windowMs: number;
  #atMs = new Float64Array(RUNS_AT_FIRST);
  #calls = new Uint16Array(RUNS_AT_FIRST);
  #first = 0;
  #runs = 0;
  #total = 0;

  /** `callsMax` is at most 65 535. */
  constructor(callsMax: number, windowMs: number) {
    this.#callsMax = callsMax;
    this.#windowMs = windowMs;
  }

  /** `nowMs` is monotonic; a fraction is dropped, which can only make the window longer. All the calls are accepted or none. */
  spend(nowMs: number, calls: number): Spent {
    const now = Math.floor(nowMs);
    this.#expire(now);
    const accepted = this.#total + calls <= this.#callsMax;
    if (accepted && calls > 0) this.#add(now, calls);
    return {
      accepted,
      limit: this.#callsMax,
      remaining: this.#callsMax - this.#total,
      resetS: this.#runs === 0 ? 0 : this.#leavesInS(this.#first, now),
      retryAfterS: accepted ? 0 : this.#retryAfterS(now, calls),
      atMs: now,
    };
  }

  /** Takes back calls that `spend` accepted at `atMs`. Calls that have left the window meanwhile need none. */
  giveBack(atMs: number, calls: number): void {
    const mask = this.#atMs.length - 1;
    // From the newest, because a call is given back soon after it was accepted.
    for (let age = this.#runs - 1; age >= 0; age -= 1) {
      const run = (this.#first + age) & mask;
      if (this.#atMs[run] !== atMs) continue;
      const given = Math.min(calls, this.#calls[run] ?? 0);
      this.#calls[run] = (this.#calls[run] ?? 0) - given;
      this.#total -= given;
      break;
    }
    while (this.#runs > 0 && this.#calls[(this.#first + this.#runs - 1) & mask] === 0) this.#runs -= 1;
    this.#dropEmptyFirst(mask);
  }

  /** The accepted calls, oldest first, in at most `runsMax` runs. Runs that are put together count from the latest of them: never too short. */
  runs(nowMs: number, runsMax: number): Run[] {
    this.#expire(Math.floor(nowMs));
    const mask = this.#atMs.length - 1;
    const joined = Math.max(1, Math.ceil(this.#runs / runsMax));
    const runs: Run[] = [];
    for (let at = 0; at < this.#runs; at += joined) {
      const last = Math.min(at + joined, this.#runs) - 1;
      let calls = 0;
      for (let run = at; run <= last; run += 1) calls += this.#calls[(this.#first + run) & mask] ?? 0;
      runs.push({ atMs: this.#atMs[(this.#first + last) & mask] ?? 0, calls });
    }
    return runs;
  }

  /** Adds calls that were accepted elsewhere, beside those accepted here. Together they may exceed the limit; then nothing more fits. */
  addRuns(added: readonly Run[]): void {
    const all = [...this.runs(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY), ...added].sort((a, b) => a.atMs - b.atMs);
    this.#first = 0;
    this.#runs = 0;
    this.#total = 0;
    for (const { atMs, calls } of all) this.#add(Math.floor(atMs), calls);
  }

  /** Whether nothing is left in the window, so that it may be forgotten. */
  isEmpty(nowMs: number): boolean {
    this.#expire(Math.floor(nowMs));
    return this.#runs === 0;
  }

  #expire(now: number): void {
    const mask = this.#atMs.length - 1;
    // A call exactly one window ago still shares a closed span of that length with a call made now.
    while (this.#runs > 0 && now - (this.#atMs[this.#first] ?? 0) > this.#windowMs) {
      this.#total -= this.#calls[this.#first] ?? 0;
      this.#first = (this.#first + 1) & mask;
      this.#runs -= 1;
    }
    this.#dropEmptyFirst(mask);
  }

  /** The oldest run tells when the next call leaves, so it must hold one. */
  #dropEmptyFirst(mask: number): void {
    while (this.#runs > 0 && this.#calls[this.#first] === 0) {
      this.#first = (this.#first + 1) & mask;
      this.#runs -= 1;
    }
  }

  #add(now: number, calls: number): void {
    const mask = this.#atMs.length - 1;
    const last = (this.#first + this.#runs - 1) & mask;
    this.#total += calls;
    if (this.#runs > 0 && this.#atMs[last] === now) {
      this.#calls[last] = (this.#calls[last] ?? 0) + calls;
      return;
    }
    if (this.#runs === this.#atMs.length) this.#grow();
    const next = (this.#first + this.#runs) & (this.#atMs.length - 1);
    this.#atMs[next] = now;
    this.#calls[next] = calls;
    this.#runs += 1;
  }

  /** Makes room for another run, first by leaving out runs whose calls were all given back. */
  #grow(): void {
    const size = this.#atMs.length;
    const atMs = new Float64Array(size * 2);
    const calls = new Uint16Array(size * 2);
    let kept = 0;
    for (let i = 0; i < this.#runs; i += 1) {
      const from = (this.#first + i) & (size - 1);
      if (this.#calls[from] === 0) continue;
      atMs[kept] = this.#atMs[from] ?? 0;
      calls[kept] = this.#calls[from] ?? 0;
      kept += 1;
    }
    const isSparse = kept <= size / 2;
    this.#atMs = isSparse ? atMs.slice(0, size) : atMs;
    this.#calls = isSparse ? calls.slice(0, size) : calls;
    this.#first = 0;
    this.#runs = kept;
  }

  #leavesInS(run: number, now: number): number {
    return Math.ceil((this.#windowMs + 1 - (now - (this.#atMs[run] ?? 0))) / 1000);
  }

  #retryAfterS(now: number, calls: number): number {
    let room = this.#callsMax - this.#total;
    for (let i = 0; i < this.#runs; i += 1) {
      const run = (this.#first + i) & (this.#atMs.length - 1);
      room += this.#calls[run] ?? 0;
      if (room >= calls) return this.#leavesInS(run, now);
    }
    // More at once than the limit: it never fits, and a whole window is as good an answer as any.
    return Math.ceil(this.#windowMs / 1000);
  }
}
