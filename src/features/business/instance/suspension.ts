/** How a suspension is stored and shown, the same for accounts, workspaces and artifacts. */
import type { UserId } from '../../../../protocol/core/ids.ts';
import { dateTime } from '../../../platform/date-time.ts';

export interface SuspensionRow {
  readonly suspended_at_ms: number | null;
  readonly suspended_reason: string | null;
  readonly suspended_by: UserId | null;
}

export function presentSuspension({ suspended_at_ms, suspended_reason, suspended_by }: SuspensionRow) {
  if (suspended_at_ms === null) return null;
  return { reason: suspended_reason ?? '', at: dateTime(suspended_at_ms), by: suspended_by };
}

/** What a change of it is called in the record; undefined where only the reason changes, or nothing does. */
export function verbOf(before: SuspensionRow, wanted: { readonly reason: string } | null): 'suspend' | 'unsuspend' | undefined {
  if ((before.suspended_at_ms !== null) === (wanted !== null)) return undefined;
  return wanted === null ? 'unsuspend' : 'suspend';
}
