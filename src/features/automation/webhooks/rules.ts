/** When a delivery is tried again, when it steps aside, and when its webhook is turned off, decided without I/O. */
import type { webhookDisabledReason } from '../../../../protocol/automation/webhooks.ts';

export type DisabledReason = (typeof webhookDisabledReason)['options'][number];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** After the first failed try, the second and so on: a little more than 24 hours in all. */
const PAUSES_MS = [
  ...[5000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS],
  ...[HOUR_MS, 2 * HOUR_MS, 3 * HOUR_MS, 4 * HOUR_MS, 6 * HOUR_MS, 7 * HOUR_MS + 30 * MINUTE_MS],
];
const JITTER = 0.2;
const GIVE_UP_MS = 24 * HOUR_MS;
/** After so many failed tries, some 13 minutes, a delivery no longer holds up those after it: what its host refuses may be this one only. */
const DEFERRED_AFTER = 5;
/** When the one after it is tried. */
const NEXT_HEAD_MS = 5000;
const DISABLED_AFTER_MS = 7 * 24 * HOUR_MS;
const RETRY_AFTER_MS_MAX = HOUR_MS;
/** A host says by it that nothing more is wanted. */
const GONE = 410;

/** `chance`: from 0 to 1. */
function pauseMs(failures: number, chance: number): number {
  const base = PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? 0;
  return Math.round(base * (1 - JITTER + 2 * JITTER * chance));
}

export interface Outcome {
  readonly taken: boolean;
  readonly status: number | null;
  /** How long the host wants to be left alone. */
  readonly retryAfterMs: number;
}

export interface Standing {
  /** Of the webhook, before this try. */
  readonly failures: number;
  readonly failingSinceMs: number | null;
  /** Of the delivery, this try included. */
  readonly roundTries: number;
  readonly firstTryMs: number;
  readonly isDeferred: boolean;
}

export interface AfterTry {
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly nextTryMs: number;
  readonly isDeferred: boolean;
  readonly failures: number;
  readonly failingSinceMs: number | null;
  /** When the next try of the webhook is due, of this delivery or another. */
  readonly dueMs: number;
  readonly disabled: Exclude<DisabledReason, 'off'> | null;
}

export function afterTry(standing: Standing, outcome: Outcome, nowMs: number, chance: number): AfterTry {
  const { roundTries, firstTryMs } = standing;
  if (outcome.taken) {
    const { isDeferred } = standing;
    return { status: 'delivered', nextTryMs: nowMs, isDeferred, failures: 0, failingSinceMs: null, dueMs: nowMs, disabled: null };
  }
  const failures = standing.failures + 1;
  const failingSinceMs = standing.failingSinceMs ?? nowMs;
  const isDeferred = standing.isDeferred || roundTries >= DEFERRED_AFTER;
  const stepsAside = isDeferred && !standing.isDeferred;
  const leftAloneMs = Math.min(outcome.retryAfterMs, RETRY_AFTER_MS_MAX);
  const isOver = outcome.status === GONE || roundTries > PAUSES_MS.length || nowMs - firstTryMs >= GIVE_UP_MS;
  return {
    status: isOver ? 'failed' : 'pending',
    nextTryMs: nowMs + Math.max(pauseMs(roundTries, chance), leftAloneMs),
    isDeferred,
    failures,
    failingSinceMs,
    dueMs: nowMs + Math.max(stepsAside ? NEXT_HEAD_MS : pauseMs(failures, chance), leftAloneMs),
    disabled: outcome.status === GONE ? 'gone' : nowMs - failingSinceMs >= DISABLED_AFTER_MS ? 'failing' : null,
  };
}

/** From `Retry-After` in seconds or as a date; 0 where it is none. */
export function retryAfterMs(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs);
}
