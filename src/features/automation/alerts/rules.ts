/** What an evaluation means for a rule, decided without I/O. */
import type { z } from 'zod';
import { type AlertOp, type alertEvent, type alertRule, MASKED_SECRET } from '../../../../protocol/automation/alerts.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { parseSchedule, type Schedule, ScheduleInvalid } from '../jobs/schedule.ts';
import type { EventRow } from './event-rows.ts';
import type { RuleRow } from './rows.ts';

export interface Condition {
  readonly op: AlertOp;
  readonly threshold: number;
  readonly cooldown_s: number;
}

/** What a rule remembers of earlier evaluations. */
export interface Memory {
  readonly is_firing: boolean;
  readonly last_value: number | null;
  readonly last_fired_at_ms: number | null;
}

export interface Verdict {
  /** The condition holds and did not before: the rule alerts. */
  readonly fires: boolean;
  /** The rule has alerted, and the condition does not hold any more. */
  readonly recovers: boolean;
  readonly memory: Memory;
}

/**
 * The rule alerts at the edge, and not again while the condition holds. Within the cooldown of the last alert it keeps still; where the condition
 * still holds after it, it alerts then.
 */
export function judge(condition: Condition, before: Memory, value: number, nowMs: number): Verdict {
  const holds = doesHold(condition, before.last_value, value);
  const isCooling = before.last_fired_at_ms !== null && nowMs - before.last_fired_at_ms < condition.cooldown_s * 1000;
  const fires = holds && !before.is_firing && !isCooling;
  return {
    fires,
    recovers: before.is_firing && !holds,
    memory: {
      is_firing: holds && (before.is_firing || fires),
      last_value: value,
      last_fired_at_ms: fires ? nowMs : before.last_fired_at_ms,
    },
  };
}

function doesHold({ op, threshold }: Condition, previous: number | null, value: number): boolean {
  switch (op) {
    case 'gt':
      return value > threshold;
    case 'gte':
      return value >= threshold;
    case 'lt':
      return value < threshold;
    case 'lte':
      return value <= threshold;
    case 'eq':
      return value === threshold;
    case 'neq':
      return value !== threshold;
    case 'change_pct_gt':
      return previous !== null && changePct(previous, value) > threshold;
    case 'change_pct_lt':
      return previous !== null && changePct(previous, value) < threshold;
    default:
      return op satisfies never;
  }
}

/** From 0 any change is beyond every threshold. */
function changePct(previous: number, value: number): number {
  if (value === previous) return 0;
  return previous === 0 ? Math.sign(value) * Number.POSITIVE_INFINITY : ((value - previous) / Math.abs(previous)) * 100;
}

/** Throws INVALID_SCHEDULE. */
export function scheduleOf(expression: string, timezone: string): Schedule {
  try {
    return parseSchedule(expression, timezone);
  } catch (error) {
    if (!(error instanceof ScheduleInvalid)) throw error;
    throw new Failure('INVALID_SCHEDULE', { message: error.message, param: error.param });
  }
}

export function presentRule(row: RuleRow): z.input<typeof alertRule> {
  const { to, url } = row.destination;
  return {
    id: row.id,
    artifact_id: row.artifact_id,
    metric_id: row.metric_id,
    name: row.name,
    condition: { op: row.op, value: row.threshold },
    schedule: row.schedule,
    timezone: row.timezone,
    destination: {
      kind: row.destination_kind,
      config: {
        ...(to !== undefined && { to: [...to] }),
        ...(url !== undefined && { url }),
        ...(row.sealed_secret !== null && { secret: MASKED_SECRET }),
      },
    },
    message: row.message,
    cooldown_seconds: row.cooldown_s,
    notify_recovery: row.notify_recovery,
    enabled: row.enabled,
    disabled_reason: row.disabled_reason,
    state: row.is_firing ? 'firing' : 'ok',
    last_value: row.last_value,
    last_fired_at: row.last_fired_at_ms === null ? null : dateTime(row.last_fired_at_ms),
    next_evaluation_at: row.due_at_ms === null ? null : dateTime(row.due_at_ms),
    created_at: row.created_at_ms,
    updated_at: dateTime(row.updated_at_ms),
  };
}

export function presentEvent(row: EventRow): z.input<typeof alertEvent> {
  const { id, at_ms, value, fired, recovered, delivery, attempts, error } = row;
  return { id, at: dateTime(at_ms), value, fired, recovered, delivered: delivery === 'delivered', attempts, error };
}
