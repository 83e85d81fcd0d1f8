/** How a rule would have done over what is kept of its metric. */

import { nextDue, type Schedule } from '../jobs/schedule.ts';
import type { Sample } from '../metrics/rows.ts';
import { type Condition, judge, type Memory } from './rules.ts';

export interface BacktestEvent {
  readonly at_ms: number;
  readonly value: number;
  readonly fired: boolean;
  readonly recovered: boolean;
}

export interface Backtest {
  readonly wouldHaveFired: number;
  readonly evaluations: number;
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** Newest first. */
  readonly events: readonly BacktestEvent[];
}

const EVENTS_SHOWN = 100;
/** Other calls have their turn after each so many evaluations. */
const AT_ONCE = 50;

/**
 * Each due time is evaluated with the first value that was seen at or after it; values between two due times are not looked at, and a time without
 * values is a gap.
 */
export async function backtest(samples: readonly Sample[], schedule: Schedule, condition: Condition): Promise<Backtest> {
  let memory: Memory = { is_firing: false, last_value: null, last_fired_at_ms: null };
  let dueMs: number | null = Number.NEGATIVE_INFINITY;
  let evaluations = 0;
  let fromMs: number | null = null;
  let toMs: number | null = null;
  const events: BacktestEvent[] = [];
  for (const { at_ms, value } of samples) {
    if (dueMs === null || at_ms < dueMs) continue;
    const { fires, recovers, memory: after } = judge(condition, memory, value, at_ms);
    memory = after;
    if (fires || recovers) events.push({ at_ms, value, fired: fires, recovered: recovers });
    evaluations += 1;
    fromMs ??= at_ms;
    toMs = at_ms;
    dueMs = nextDue(schedule, at_ms);
    if (evaluations % AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return {
    wouldHaveFired: events.filter(({ fired }) => fired).length,
    evaluations,
    fromMs,
    toMs,
    events: events.slice(-EVENTS_SHOWN).reverse(),
  };
}
