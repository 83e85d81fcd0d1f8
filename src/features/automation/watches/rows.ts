/** The SQL of `metric_watch` and `watch_value`. */
import type { ArtifactId, MetricWatchId, UserId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';

export interface WatchRow {
  readonly id: MetricWatchId;
  readonly artifact_id: ArtifactId;
  readonly user_id: UserId;
  readonly table_name: string;
  readonly kind: 'count' | 'sum' | 'last';
  readonly column_name: string | null;
  readonly threshold_pct: number;
  readonly enabled: boolean;
  readonly is_ringing: boolean;
  readonly last_value: number | null;
  readonly baseline: number | null;
  readonly failures: number;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

function columns(sql: Queries) {
  return sql`
    id, artifact_id, user_id, table_name, kind, column_name, threshold_pct, enabled, is_ringing, last_value, baseline, failures, created_at_ms,
    updated_at_ms`;
}

function isOwn(sql: Queries, artifactId: ArtifactId, accounts: Accounts) {
  return sql`artifact_id = ${artifactId} and user_id = any(${accounts as UserId[]})`;
}

export function listWatches(
  sql: Queries,
  artifactId: ArtifactId,
  accounts: Accounts,
  after: PageKey,
  rowsMax: number,
): Promise<WatchRow[]> {
  return sql<WatchRow[]>`
    select ${columns(sql)} from metric_watch
    where ${isOwn(sql, artifactId, accounts)} and (created_at_ms < ${after.number} or (created_at_ms = ${after.number} and id > ${after.id}))
    order by created_at_ms desc, id limit ${rowsMax}`;
}

export async function countWatches(sql: Queries, artifactId: ArtifactId, accounts: Accounts): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from metric_watch where ${isOwn(sql, artifactId, accounts)}`;
  return row?.total ?? 0;
}

/** How many the artifact has, and how many these accounts have. */
export async function countForLimits(sql: Queries, artifactId: ArtifactId, accounts: Accounts) {
  const [row] = await sql<{ of_artifact: number; of_person: number }[]>`
    select (select count(*)::int from metric_watch where artifact_id = ${artifactId}) as of_artifact,
      (select count(*)::int from metric_watch where user_id = any(${accounts as UserId[]})) as of_person`;
  return { ofArtifact: row?.of_artifact ?? 0, ofPerson: row?.of_person ?? 0 };
}

export async function readWatch(sql: Queries, id: MetricWatchId): Promise<WatchRow | null> {
  const [row] = await sql<WatchRow[]>`select ${columns(sql)} from metric_watch where id = ${id}`;
  return row ?? null;
}

export type NewWatch = Pick<WatchRow, 'id' | 'artifact_id' | 'user_id' | 'table_name' | 'kind' | 'column_name' | 'threshold_pct'>;

export async function insertWatch(tx: Queries, row: NewWatch, nowMs: number): Promise<void> {
  await tx`
    insert into metric_watch (
      id, artifact_id, user_id, table_name, kind, column_name, threshold_pct, enabled, created_at_ms, updated_at_ms)
    values (
      ${row.id}, ${row.artifact_id}, ${row.user_id}, ${row.table_name}, ${row.kind}, ${row.column_name}, ${row.threshold_pct}, true, ${nowMs},
      ${nowMs})`;
}

export async function updateWatch(
  tx: Queries,
  id: MetricWatchId,
  { thresholdPct, enabled }: { readonly thresholdPct: number; readonly enabled: boolean },
  nowMs: number,
): Promise<void> {
  await tx`
    update metric_watch set
      threshold_pct = ${thresholdPct}, enabled = ${enabled}, failures = 0, updated_at_ms = greatest(${nowMs}, updated_at_ms + 1)
    where id = ${id}`;
}

export async function deleteWatch(tx: Queries, id: MetricWatchId): Promise<void> {
  await tx`delete from metric_watch where id = ${id}`;
}

export interface WatchState {
  readonly is_ringing: boolean;
  readonly last_value: number | null;
  readonly baseline: number | null;
  readonly failures: number;
  readonly enabled: boolean;
}

export async function writeWatchState(tx: Queries, id: MetricWatchId, state: WatchState, nowMs: number): Promise<void> {
  await tx`
    update metric_watch set
      is_ringing = ${state.is_ringing}, last_value = ${state.last_value}, baseline = ${state.baseline}, failures = ${state.failures},
      enabled = ${state.enabled}, last_seen_at_ms = ${nowMs}
    where id = ${id}`;
}

export interface SeenValue {
  readonly at_ms: number;
  readonly value: number;
}

/** In the order of time. */
export function readValues(sql: Queries, id: MetricWatchId, sinceMs: number): Promise<SeenValue[]> {
  return sql<SeenValue[]>`select at_ms, value from watch_value where watch_id = ${id} and at_ms > ${sinceMs} order by at_ms`;
}

export async function addValue(tx: Queries, id: MetricWatchId, { at_ms, value }: SeenValue): Promise<void> {
  await tx`
    insert into watch_value (watch_id, at_ms, value) values (${id}, ${at_ms}, ${value})
    on conflict (watch_id, at_ms) do update set value = excluded.value`;
}

/** Answers how many it has removed. */
export async function deleteOldValues(sql: Queries, beforeMs: number): Promise<number> {
  return (await sql`delete from watch_value where at_ms <= ${beforeMs}`).count;
}

/** Watches of an artifact that are looked at when their table changes. */
export function readWatched(sql: Queries, artifactId: ArtifactId): Promise<{ readonly id: MetricWatchId; readonly table_name: string }[]> {
  return sql<{ id: MetricWatchId; table_name: string }[]>`
    select id, table_name from metric_watch where artifact_id = ${artifactId} and enabled`;
}
