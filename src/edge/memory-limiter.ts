/** Limits that each process counts in memory. They only slow abuse down, so a restart may reset them. */
import type { Clock } from '../../actors/runtime/ports.ts';
import type { RateLimit } from '../../protocol/core/rate-limits.ts';
import type { Limiter, Spent } from './limits.ts';

/** Subjects kept; the least recently seen is evicted first. */
const SUBJECTS_MAX = 10_000;

export class MemoryLimiter implements Limiter {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #subjectsMax: number;
  /** The times at which the calls in the window were accepted, oldest first. */
  readonly #taken = new Map<string, number[]>();

  constructor(clock: Pick<Clock, 'monotonicMs'>, subjectsMax: number = SUBJECTS_MAX) {
    this.#clock = clock;
    this.#subjectsMax = subjectsMax;
  }

  spend(limit: RateLimit, subject: string, calls = 1): Spent {
    const nowMs = this.#clock.monotonicMs();
    const key = keyOf(limit, subject);
    const recent = (this.#taken.get(key) ?? []).filter((atMs) => atMs > nowMs - limit.windowS * 1000);
    const accepted = recent.length + calls <= limit.quota;
    if (accepted) for (let call = 0; call < calls; call += 1) recent.push(nowMs);
    this.#taken.delete(key);
    if (recent.length > 0) this.#taken.set(key, recent);
    this.#forgetOldest();
    return spentOf(limit, { accepted, takenMs: recent, nowMs }, calls);
  }

  giveBack(limit: RateLimit, subject: string, { atMs }: Spent, calls = 1): void {
    const key = keyOf(limit, subject);
    const taken = this.#taken.get(key);
    if (taken === undefined) return;
    for (let call = 0; call < calls; call += 1) {
      const at = taken.lastIndexOf(atMs);
      if (at !== -1) taken.splice(at, 1);
    }
    if (taken.length === 0) this.#taken.delete(key);
  }

  #forgetOldest(): void {
    for (const oldest of this.#taken.keys()) {
      if (this.#taken.size <= this.#subjectsMax) break;
      this.#taken.delete(oldest);
    }
  }
}

/** The length keeps the two apart whatever characters they have: no other pair joins to the same text. */
function keyOf({ name }: RateLimit, subject: string): string {
  return `${name.length} ${name} ${subject}`;
}

/** The result of an attempt, from the times of the calls in its window, oldest first. */
export function spentOf(
  { quota, windowS }: RateLimit,
  { accepted, takenMs, nowMs }: { readonly accepted: boolean; readonly takenMs: readonly number[]; readonly nowMs: number },
  calls: number,
): Spent {
  const leavesInS = (atMs: number | undefined) => Math.ceil(((atMs ?? nowMs) + windowS * 1000 - nowMs) / 1000);
  // The refused calls fit once so many of the oldest have left the window. More calls than the quota never fit; they get a whole window.
  const inTheWay = takenMs.length + calls - quota;
  return {
    accepted,
    limit: quota,
    remaining: quota - takenMs.length,
    resetS: takenMs.length === 0 ? 0 : leavesInS(takenMs[0]),
    retryAfterS: accepted ? 0 : inTheWay > takenMs.length ? windowS : leavesInS(takenMs[inTheWay - 1]),
    atMs: nowMs,
  };
}
