/** When a watch rings, decided without I/O. Source: contract.md §15. */

import type { z } from 'zod';
import type { metricWatch } from '../../../../protocol/automation/watches.ts';
import { RETENTION } from '../../../../protocol/business/retention.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { SeenValue, WatchRow } from './rows.ts';

export const BASELINE_MS = RETENTION.watchValues.keptMs;
/** With fewer it only learns. */
const VALUES_MIN = 3;
/** Of a table that changes all the time, further values are kept at this distance only. */
const VALUES_CLOSE_MAX = 1000;
const DISTANCE_MS = 5 * 60_000;

/** The median; null while there are too few. */
export function baselineOf(seen: readonly SeenValue[]): number | null {
  if (seen.length < VALUES_MIN) return null;
  const values = seen.map(({ value }) => value).sort((a, b) => a - b);
  const middle = values.length >> 1;
  const upper = values[middle] ?? 0;
  return values.length % 2 === 1 ? upper : ((values[middle - 1] ?? 0) + upper) / 2;
}

export interface Ring {
  readonly rings: boolean;
  readonly isRinging: boolean;
}

/** It rings beyond the threshold, and again only after it was back within half of that. */
export function ringOf(value: number, baseline: number | null, thresholdPct: number, wasRinging: boolean): Ring {
  if (baseline === null) return { rings: false, isRinging: false };
  const distance = Math.abs(value - baseline);
  const allowed = (thresholdPct / 100) * Math.max(Math.abs(baseline), 1);
  const isBeyond = distance > allowed;
  if (wasRinging) return { rings: false, isRinging: distance > allowed / 2 };
  return { rings: isBeyond, isRinging: isBeyond };
}

export function isKept(seen: readonly SeenValue[], atMs: number): boolean {
  const last = seen.at(-1);
  return last === undefined || seen.length < VALUES_CLOSE_MAX || atMs - last.at_ms >= DISTANCE_MS;
}

export function presentWatch(row: WatchRow): z.input<typeof metricWatch> {
  return {
    id: row.id,
    artifact_id: row.artifact_id,
    table: row.table_name,
    kind: row.kind,
    column: row.column_name,
    threshold_pct: row.threshold_pct,
    last_value: row.last_value,
    baseline: row.baseline,
    enabled: row.enabled,
    created_at: dateTime(row.created_at_ms),
    updated_at: dateTime(row.updated_at_ms),
  };
}
