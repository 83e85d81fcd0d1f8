/** The SQL of `import_run` and `import_item`. */
import type { JSONValue, PendingQuery, Row } from 'postgres';
import type { ArtifactId, ImportRunId, ImportSourceId, UserId } from '../../../../protocol/core/ids.ts';
import type { ImportCounts, ImportError, ImportStatus, ImportStopCode } from '../../../../protocol/library/file-imports.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import { isPersonSuspended } from '../../people/persons/rows.ts';
import { type Asking, readSource, type SourceRow } from './rows.ts';

export interface RunRow {
  readonly id: ImportRunId;
  readonly source_id: ImportSourceId;
  readonly user_id: UserId;
  readonly trigger: 'manual' | 'daily';
  readonly status: ImportStatus;
  readonly counts: ImportCounts;
  readonly errors: readonly ImportError[];
  readonly stop_code: ImportStopCode | null;
  readonly stop_message: string | null;
  readonly created_at_ms: number;
  readonly finished_at_ms: number | null;
}

export const NO_COUNTS: ImportCounts = { found: 0, imported: 0, converted: 0, skipped: 0, unchanged: 0, failed: 0 };

/** The columns of a `RunRow`, from run `r`, with the first `errorsMax` errors. */
function runColumns(sql: Queries, errorsMax: number) {
  return sql`
    r.id, r.source_id, r.user_id, r.trigger, r.status, r.counts, r.stop_code, r.stop_message, r.created_at_ms, r.finished_at_ms,
    coalesce(
      (select jsonb_agg(e.error order by e.at) from jsonb_array_elements(r.errors) with ordinality as e (error, at) where e.at <= ${errorsMax}),
      '[]'
    ) as errors`;
}

export function listRuns(sql: Queries, sourceId: ImportSourceId, errorsMax: number, after: PageKey, rowsMax: number) {
  return sql<RunRow[]>`
    select ${runColumns(sql, errorsMax)} from import_run r
    where r.source_id = ${sourceId} and (r.created_at_ms, r.id) < (${after.number}, ${after.id})
    order by r.created_at_ms desc, r.id desc limit ${rowsMax}`;
}

export async function countRuns(sql: Queries, sourceId: ImportSourceId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from import_run where source_id = ${sourceId}`;
  return row?.total ?? 0;
}

/** The newest of each source. */
export function lastRuns(sql: Queries, sourceIds: readonly ImportSourceId[], errorsMax: number) {
  return sql<RunRow[]>`
    select ${runColumns(sql, errorsMax)}
    from unnest(${sourceIds as ImportSourceId[]}::text[]) as s (id)
    join lateral (select * from import_run l where l.source_id = s.id order by l.created_at_ms desc, l.id desc limit 1) r on true`;
}

/** Of a source that has a cursor, the run that saved it: one that ends otherwise leaves none, and one that was canceled in the queue has not run. */
export async function lastCompleted(sql: Queries, sourceId: ImportSourceId): Promise<Pick<RunRow, 'counts' | 'errors'> | null> {
  const [row] = await sql<Pick<RunRow, 'counts' | 'errors'>[]>`
    select counts, errors from import_run
    where source_id = ${sourceId} and status = 'completed' order by created_at_ms desc, id desc limit 1`;
  return row ?? null;
}

export interface SeenRun {
  readonly run: RunRow;
  readonly source: SourceRow;
}

/** Who sees a source sees its runs. */
export async function readRun(sql: Queries, id: ImportRunId, asking: Asking, errorsMax: number): Promise<SeenRun | null> {
  const [run] = await sql<RunRow[]>`select ${runColumns(sql, errorsMax)} from import_run r where r.id = ${id}`;
  const source = run === undefined ? null : await readSource(sql, run.source_id, asking);
  return run === undefined || source === null ? null : { run, source };
}

export interface NewRun {
  readonly id: ImportRunId;
  readonly sourceId: ImportSourceId;
  readonly userId: UserId;
  readonly nowMs: number;
}

/** Runs of a source have an order: each has a time of its own. */
function afterLast(sql: Queries, sourceId: PendingQuery<Row[]>, nowMs: number) {
  return sql`greatest(${nowMs}::bigint, (select max(l.created_at_ms) + 1 from import_run l where l.source_id = ${sourceId}))`;
}

/** Violates `import_run_active` where one is waiting or under way. */
export async function insertRun(tx: Queries, { id, sourceId, userId, nowMs }: NewRun): Promise<void> {
  const createdMs = afterLast(tx, tx`${sourceId}`, nowMs);
  await tx`
    insert into import_run (id, source_id, user_id, trigger, status, counts, created_at_ms)
    values (${id}, ${sourceId}, ${userId}, 'manual', 'queued', ${tx.json(NO_COUNTS)}, ${createdMs})`;
}

/** Sources whose daily run is due, each to a run of its own unless one is under way. `ids`: fresh ones, as many as runs are queued at most. */
export async function queueDaily(sql: Queries, ids: readonly ImportRunId[], nowMs: number, dayMs: number): Promise<number> {
  const { count } = await sql`
    with due as (
      select s.id, s.user_id, row_number() over (order by s.next_sync_at_ms) as at from import_source s
      join workspace w on w.id = s.workspace_id and w.deleted_at_ms is null
      where s.daily_sync and s.next_sync_at_ms <= ${nowMs} order by s.next_sync_at_ms limit ${ids.length}
    ), moved as (
      update import_source s set next_sync_at_ms = ${nowMs + dayMs} from due where s.id = due.id and s.next_sync_at_ms <= ${nowMs}
      returning s.id, s.user_id, due.at
    )
    insert into import_run (id, source_id, user_id, trigger, status, counts, created_at_ms)
    select (${ids as ImportRunId[]}::text[])[moved.at::int], moved.id, moved.user_id, 'daily', 'queued', ${sql.json(NO_COUNTS)},
      ${afterLast(sql, sql`moved.id`, nowMs)}
    from moved on conflict do nothing`;
  return count;
}

/** A queued one ends at once, one under way when its process hears of it. What it is then; null where it has ended already. */
export async function cancelRun(tx: Queries, id: ImportRunId, nowMs: number): Promise<'ended' | 'asked' | null> {
  const [row] = await tx<{ status: ImportStatus }[]>`
    update import_run set
      cancel_wanted = true,
      status = case when status = 'queued' then 'stopped' else status end,
      stop_message = case when status = 'queued' then ${CANCELED} else stop_message end,
      finished_at_ms = case when status = 'queued' then ${nowMs}::bigint else finished_at_ms end
    where id = ${id} and status in ('queued', 'running') returning status`;
  if (row === undefined) return null;
  return row.status === 'stopped' ? 'ended' : 'asked';
}

export const CANCELED = 'The run was canceled.';

/** What a process holds of a run. */
export interface Claim {
  readonly id: ImportRunId;
  readonly sourceId: ImportSourceId;
  readonly userId: UserId;
  readonly claims: number;
  readonly startedAtMs: number;
  readonly leaseToken: string;
}

export interface ClaimBounds {
  /** Older ones are not looked at: see `QueueStart`. */
  readonly fromMs: number;
  readonly nowMs: number;
  readonly leaseMs: number;
}

/** Takes the oldest run that waits or whose process is gone; of a person who has one under way none. */
export async function claimRun(sql: Queries, leaseToken: string, { fromMs, nowMs, leaseMs }: ClaimBounds): Promise<Claim | null> {
  const [row] = await sql<Claim[]>`
    update import_run r set
      status = 'running', lease_token = ${leaseToken}, lease_ends_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms',
      claims = r.claims + 1, started_at_ms = coalesce(r.started_at_ms, ${nowMs})
    where r.id = (
      select w.id from import_run w
      where w.status in ('queued', 'running') and w.created_at_ms >= ${fromMs}
        and (w.lease_ends_at is null or w.lease_ends_at <= clock_timestamp())
        and not exists (select from account a where a.id = w.user_id and ${isPersonSuspended(sql)})
        and not exists (
          select from import_run h where h.user_id = w.user_id and h.status = 'running' and h.lease_ends_at > clock_timestamp()
        )
      order by w.created_at_ms, w.id limit 1 for update skip locked
    )
    returning r.id, r.source_id as "sourceId", r.user_id as "userId", r.claims, r.started_at_ms as "startedAtMs",
      r.lease_token as "leaseToken"`;
  return row ?? null;
}

/** For when the first run was queued that is not over; null where there is none. */
export async function oldestWaiting(sql: Queries, fromMs: number): Promise<number | null> {
  const [row] = await sql<{ oldest: number | null }[]>`
    select min(created_at_ms) as oldest from import_run where status in ('queued', 'running') and created_at_ms >= ${fromMs}`;
  return row?.oldest ?? null;
}

/** `suspended`: the person whose run it is. */
export type ClaimFate = 'held' | 'canceled' | 'suspended' | 'lost';

export async function renewClaim(sql: Queries, { id, leaseToken }: Claim, leaseMs: number): Promise<ClaimFate> {
  const [row] = await sql<{ cancel_wanted: boolean; is_suspended: boolean }[]>`
    update import_run r set lease_ends_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms'
    where r.id = ${id} and r.lease_token = ${leaseToken}
    returning r.cancel_wanted, exists (select from account a where a.id = r.user_id and ${isPersonSuspended(sql)}) as is_suspended`;
  if (row === undefined) return 'lost';
  if (row.cancel_wanted) return 'canceled';
  return row.is_suspended ? 'suspended' : 'held';
}

/** The process stops: another one begins the run again, and the claim does not count. */
export async function giveBackRun(sql: Queries, { id, leaseToken }: Claim): Promise<void> {
  await sql`
    update import_run set status = 'queued', claims = claims - 1, lease_token = null, lease_ends_at = null
    where id = ${id} and lease_token = ${leaseToken}`;
}

/** Its person is suspended: nobody takes it until that is lifted, and the time until then is none of its own. */
export async function giveBackSuspended(sql: Queries, { id, leaseToken }: Claim): Promise<void> {
  await sql`
    update import_run set status = 'queued', claims = claims - 1, started_at_ms = null, lease_token = null, lease_ends_at = null
    where id = ${id} and lease_token = ${leaseToken}`;
}

/** Whether the claim still counts; the run stays as it is until the transaction ends. */
export async function holdClaim(tx: Queries, { id, leaseToken }: Claim): Promise<boolean> {
  const rows = await tx`select 1 from import_run where id = ${id} and lease_token = ${leaseToken} for update`;
  return rows.length > 0;
}

export interface Progress {
  readonly counts: ImportCounts;
  readonly errors: readonly ImportError[];
}

export async function saveProgress(sql: Queries, { id, leaseToken }: Claim, { counts, errors }: Progress): Promise<boolean> {
  const { count } = await sql`
    update import_run set counts = ${sql.json(counts)}, errors = ${sql.json(errors as unknown as JSONValue)}
    where id = ${id} and lease_token = ${leaseToken}`;
  return count > 0;
}

export interface RunEnd extends Progress {
  readonly status: 'completed' | 'stopped' | 'failed';
  readonly stopCode: ImportStopCode | null;
  readonly stopMessage: string | null;
}

/** False where the claim is lost: nothing is written then. */
export async function finishRun(tx: Queries, { id, leaseToken }: Claim, end: RunEnd, nowMs: number): Promise<boolean> {
  const { count } = await tx`
    update import_run set
      status = ${end.status}, counts = ${tx.json(end.counts)}, errors = ${tx.json(end.errors as unknown as JSONValue)},
      stop_code = ${end.stopCode}, stop_message = ${end.stopMessage}, finished_at_ms = ${nowMs}, lease_token = null, lease_ends_at = null
    where id = ${id} and lease_token = ${leaseToken}`;
  return count > 0;
}

/** Up to where the next run need not look. Kept null where the source has changed meanwhile. */
export async function saveCursor(tx: Queries, { id, updated_at_ms }: SourceRow, cursor: string | null): Promise<void> {
  await tx`update import_source set cursor = ${cursor} where id = ${id} and updated_at_ms = ${updated_at_ms}`;
}

export interface ItemRow {
  readonly remote_id: string;
  readonly path: string;
  readonly mark: string | null;
  readonly artifact_id: ArtifactId;
  readonly stored_by: ImportRunId;
  readonly outcome: 'imported' | 'converted';
}

export function readItems(sql: Queries, sourceId: ImportSourceId, remoteIds: readonly string[]) {
  return sql<ItemRow[]>`
    select remote_id, path, mark, artifact_id, stored_by, outcome from import_item
    where source_id = ${sourceId} and remote_id = any(${remoteIds as string[]})`;
}

export async function countItems(sql: Queries, sourceId: ImportSourceId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from import_item where source_id = ${sourceId} and not is_remote_deleted`;
  return row?.total ?? 0;
}

export async function noteSeen(sql: Queries, { id, sourceId }: Claim, remoteIds: readonly string[]): Promise<void> {
  await sql`
    update import_item set seen_by = ${id}, is_remote_deleted = false
    where source_id = ${sourceId} and remote_id = any(${remoteIds as string[]})`;
}

export interface StoredItem {
  readonly remoteId: string;
  readonly path: string;
  /** Null: it is not whole yet, and the next run takes it again. */
  readonly mark: string | null;
  readonly artifactId: ArtifactId;
  readonly outcome: 'imported' | 'converted';
}

export async function putItem(tx: Queries, { id, sourceId }: Claim, item: StoredItem): Promise<void> {
  await tx`
    insert into import_item (source_id, remote_id, path, mark, artifact_id, stored_by, outcome, seen_by)
    values (${sourceId}, ${item.remoteId}, ${item.path}, ${item.mark}, ${item.artifactId}, ${id}, ${item.outcome}, ${id})
    on conflict (source_id, remote_id) do update set
      path = excluded.path, mark = excluded.mark, artifact_id = excluded.artifact_id, stored_by = excluded.stored_by,
      outcome = excluded.outcome, seen_by = excluded.seen_by, is_remote_deleted = false`;
}

export async function setMark(sql: Queries, { sourceId }: Claim, remoteId: string, mark: string): Promise<void> {
  await sql`update import_item set mark = ${mark} where source_id = ${sourceId} and remote_id = ${remoteId}`;
}

/** Of an item whose rows came after its page. */
export async function setWhole(sql: Queries, { sourceId }: Claim, item: Pick<StoredItem, 'remoteId' | 'mark' | 'outcome'>): Promise<void> {
  await sql`
    update import_item set mark = ${item.mark}, outcome = ${item.outcome}
    where source_id = ${sourceId} and remote_id = ${item.remoteId}`;
}

/** Files that a run which has looked at everything has not seen, told once. */
export function noteDeleted(tx: Queries, { id, sourceId }: Claim) {
  return tx<{ path: string }[]>`
    update import_item set is_remote_deleted = true
    where source_id = ${sourceId} and seen_by <> ${id} and not is_remote_deleted returning path`;
}

export async function deleteOldRuns(sql: Queries, beforeMs: number, perSourceMax: number): Promise<number> {
  const { count } = await sql`
    delete from import_run r using (
      select id, row_number() over (partition by source_id order by created_at_ms desc, id desc) as place from import_run
    ) k
    where k.id = r.id and r.finished_at_ms is not null and k.place > 1 and (r.finished_at_ms < ${beforeMs} or k.place > ${perSourceMax})`;
  return count;
}
