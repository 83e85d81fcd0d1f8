/** Looks at what a watch watches, and rings the bell of its person. */
import type { UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Bus, Fact } from '../../../platform/bus.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import type { MetricReader, WatchSource } from '../metrics/reading.ts';
import { type Claim, endTurn, setTurn } from '../metrics/turns.ts';
import { addNotices, type NewNotice } from '../notifications/notices.ts';
import { addValue, readValues, readWatch, type WatchRow, writeWatchState } from './rows.ts';
import { BASELINE_MS, baselineOf, isKept, ringOf } from './rules.ts';

const LOOK_EVERY_MS = 15 * 60_000;

export interface LookingDeps extends Pick<ServiceDeps, 'sql' | 'clock'> {
  readonly bus: Pick<Bus, 'tell'>;
  readonly reader: Pick<MetricReader, 'watch'>;
}

/** Rejects where the service could not read. */
export async function lookAtWatch({ sql, clock, bus, reader }: LookingDeps, claim: Claim): Promise<void> {
  if (claim.of.kind !== 'watch') throw new Error('this is the turn of something else');
  const watch = await readWatch(sql, claim.of.id);
  if (watch === null) return;
  const reading = await reader.watch({ artifactId: watch.artifact_id, userId: watch.user_id }, sourceOf(watch));
  const nowMs = clock.nowMs();
  const told = await sql.begin(async (tx) => {
    // Whoever has changed it meanwhile has taken the turn away.
    if (!(await endTurn(tx, claim, nowMs + LOOK_EVERY_MS)) || reading.kind === 'asleep') return null;
    if (reading.kind === 'failed') return failed(tx, watch, reading.error, nowMs);
    // A gap says nothing about the value.
    return reading.value === null ? null : seen(tx, watch, reading.value, nowMs);
  });
  if (told !== null) bus.tell(told);
}

function sourceOf({ kind, table_name: table, column_name: column }: WatchRow): WatchSource {
  if (kind === 'count') return { kind, table };
  if (column === null) throw new Error('a watch of a sum or of the last value has a column');
  return { kind, table, column };
}

async function seen(tx: Queries, watch: WatchRow, value: number, nowMs: number): Promise<Fact | null> {
  const values = await readValues(tx, watch.id, nowMs - BASELINE_MS);
  const baseline = baselineOf(values);
  const { rings, isRinging } = ringOf(value, baseline, watch.threshold_pct, watch.is_ringing);
  if (isKept(values, nowMs)) await addValue(tx, watch.id, { at_ms: nowMs, value });
  await writeWatchState(tx, watch.id, { is_ringing: isRinging, last_value: value, baseline, failures: 0, enabled: true }, nowMs);
  if (!rings || baseline === null) return null;
  const what = { count: 'rows', sum: `sum of ${watch.column_name}`, last: `last ${watch.column_name}` }[watch.kind];
  const title = `${watch.table_name}: ${what} ${value > baseline ? 'above' : 'below'} the usual range`;
  const text = `The value is ${value}; usual is ${baseline}. The watch allows ${watch.threshold_pct} %.`;
  return addNotices(tx, [noticeOf(watch, 'watch.rang', title, text)], nowMs);
}

/** The last of several failures in a row switches the watch off and says so. */
async function failed(tx: Queries, watch: WatchRow, error: string, nowMs: number): Promise<Fact | null> {
  const failures = watch.failures + 1;
  const enabled = failures < LIMITS.alertFailuresMax;
  const { is_ringing, last_value, baseline } = watch;
  await writeWatchState(tx, watch.id, { is_ringing, last_value, baseline, failures, enabled }, nowMs);
  if (enabled) return null;
  await setTurn(tx, { artifactId: watch.artifact_id, of: { kind: 'watch', id: watch.id } }, null);
  const title = `The watch of ${watch.table_name} is switched off`;
  return addNotices(tx, [noticeOf(watch, 'watch.disabled', title, `It failed ${failures} times in a row. The last time: ${error}`)], nowMs);
}

function noticeOf(
  { user_id, artifact_id }: { user_id: UserId; artifact_id: WatchRow['artifact_id'] },
  kind: string,
  title: string,
  body: string,
): NewNotice {
  return { userId: user_id, kind, title, body, artifactId: artifact_id, url: `/p/${artifact_id}/alerts` };
}
