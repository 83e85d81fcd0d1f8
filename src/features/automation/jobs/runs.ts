/** The SQL of `job_run`: the ledger, and the queue of what is to run. */
import type { JSONValue } from 'postgres';
import type { RunStatus } from '../../../../protocol/automation/jobs.ts';
import { type ArtifactId, type JobId, newId, type RunId, type UserId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

/** What set a run off. */
export interface RunEvents {
  readonly types: readonly string[];
  readonly count: number;
  /** The first ones. */
  readonly things: readonly { readonly kind: string; readonly name: string; readonly id?: string }[];
}

export interface RunChange {
  readonly channel: string;
  readonly name: string;
  readonly op: string;
  readonly count: number;
}

export interface NewRun {
  readonly jobId: JobId;
  readonly artifactId: ArtifactId;
  readonly creatorId: UserId;
  readonly trigger: 'schedule' | 'event' | 'manual';
  readonly status: RunStatus;
  readonly scheduledForMs: number;
  /** The last of several due times that the entry stands for. */
  readonly scheduledUntilMs?: number;
  readonly dueTimes?: number;
  readonly reason?: string;
  readonly events?: RunEvents;
  readonly chain: readonly JobId[];
  /** Null where it does not run. */
  readonly dueMs: number | null;
  readonly nowMs: number;
}

/** Where the ledger has an entry for the due time already, that one stays. Answers the ids of those that are new. */
export async function insertRuns(tx: Queries, runs: readonly NewRun[]): Promise<RunId[]> {
  if (runs.length === 0) return [];
  const rows = runs.map((run) => ({
    id: newId('run'),
    job_id: run.jobId,
    artifact_id: run.artifactId,
    creator_id: run.creatorId,
    trigger: run.trigger,
    status: run.status,
    scheduled_for_ms: run.scheduledForMs,
    scheduled_until_ms: run.scheduledUntilMs ?? null,
    due_times: run.dueTimes ?? 1,
    reason: run.reason ?? null,
    events: run.events === undefined ? null : tx.json(run.events as unknown as JSONValue),
    chain: `{${run.chain.join()}}`,
    due_ms: run.dueMs,
    finished_at_ms: run.dueMs === null ? run.nowMs : null,
    created_at_ms: run.nowMs,
  }));
  const inserted = await tx<{ id: RunId }[]>`
    insert into job_run ${tx(rows)} on conflict (job_id, scheduled_for_ms) where trigger = 'schedule' do nothing returning id`;
  return inserted.map(({ id }) => id);
}

export interface RunRow {
  readonly id: RunId;
  readonly job_id: JobId;
  readonly trigger: 'schedule' | 'event' | 'manual';
  readonly status: RunStatus;
  readonly reason: string | null;
  readonly attempt: number;
  readonly scheduled_for_ms: number;
  readonly scheduled_until_ms: number | null;
  readonly due_times: number;
  readonly due_ms: number | null;
  readonly started_at_ms: number | null;
  readonly finished_at_ms: number | null;
  readonly events: RunEvents | null;
  readonly error: string | null;
  readonly output: string | null;
  readonly changes: readonly RunChange[] | null;
  readonly created_at_ms: number;
}

const columns = (sql: Queries) => sql`
  id, job_id, trigger, status, reason, attempt, scheduled_for_ms, scheduled_until_ms, due_times, due_ms, started_at_ms, finished_at_ms,
  events, error, output, changes, created_at_ms`;

export function listRuns(sql: Queries, jobId: JobId, status: RunStatus | undefined, after: PageKey, rowsMax: number) {
  return sql<RunRow[]>`
    select ${columns(sql)} from job_run
    where job_id = ${jobId} ${status === undefined ? sql`` : sql`and status = ${status}`}
      and (created_at_ms, id) < (${after.number}, ${after.id})
    order by created_at_ms desc, id desc limit ${rowsMax}`;
}

export async function countRuns(sql: Queries, jobId: JobId, status: RunStatus | undefined): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from job_run where job_id = ${jobId} ${status === undefined ? sql`` : sql`and status = ${status}`}`;
  return row?.total ?? 0;
}

export async function readRun(sql: Queries, jobId: JobId, id: RunId): Promise<RunRow | null> {
  const [row] = await sql<RunRow[]>`select ${columns(sql)} from job_run where id = ${id} and job_id = ${jobId}`;
  return row ?? null;
}

export interface OpenRun {
  readonly id: RunId;
  readonly job_id: JobId;
  readonly trigger: string;
  readonly status: 'queued' | 'running';
  readonly attempt: number;
}

/** What waits or is under way of these jobs. The caller holds the jobs. */
export function listOpenRuns(tx: Queries, jobIds: readonly JobId[]) {
  return tx<OpenRun[]>`
    select id, job_id, trigger, status, attempt from job_run
    where job_id = any(${jobIds as JobId[]}) and status in ('queued', 'running') order by created_at_ms`;
}

/** Adds to what a waiting run runs for. */
export async function addEvents(tx: Queries, id: RunId, events: RunEvents, chain: readonly JobId[]): Promise<void> {
  await tx`update job_run set events = ${tx.json(events as unknown as JSONValue)}, chain = ${[...chain]} where id = ${id}`;
}

export async function readEvents(tx: Queries, id: RunId): Promise<{ readonly events: RunEvents | null; readonly chain: readonly JobId[] }> {
  const [row] = await tx<{ events: RunEvents | null; chain: JobId[] }[]>`select events, chain from job_run where id = ${id}`;
  return row ?? { events: null, chain: [] };
}

/** A run that waits ends at once; one that is under way is told. */
export async function cancelRun(tx: Queries, id: RunId, nowMs: number): Promise<boolean> {
  const { count } = await tx`
    update job_run set
      cancel_wanted = true,
      status = case when status = 'queued' then 'canceled' else status end,
      due_ms = case when status = 'queued' then null else due_ms end,
      finished_at_ms = case when status = 'queued' then ${nowMs}::bigint end,
      reason = 'Canceled by a person.'
    where id = ${id} and due_ms is not null`;
  return count > 0;
}

/** Of a job that is paused or changed to other events: nothing of it waits any more. */
export async function dropQueued(tx: Queries, jobId: JobId, reason: string, nowMs: number): Promise<void> {
  await tx`
    update job_run set status = 'skipped', due_ms = null, finished_at_ms = ${nowMs}, reason = ${reason}
    where job_id = ${jobId} and status = 'queued' and trigger <> 'manual'`;
}

/** The ledger is kept for a time, and as many entries of a job. */
export async function deleteOldRuns(sql: Queries, beforeMs: number, keptPerJob: number): Promise<number> {
  const { count } = await sql`delete from job_run where created_at_ms < ${beforeMs} and due_ms is null`;
  const beyond = await sql`
    delete from job_run r using (
      select id, row_number() over (partition by job_id order by created_at_ms desc, id desc) as place from job_run where due_ms is null
    ) p
    where p.id = r.id and p.place > ${keptPerJob}`;
  // Jobs that listen from now on have seen them.
  await sql`
    delete from dataset_event e where not exists (
      select from job j
      where j.artifact_id = e.artifact_id and j.trigger_type = 'event' and j.enabled and j.event_type = 'data.changed'
        and j.seen_dataset_seq < e.seq)`;
  await sql`delete from job_mark where at < now() - interval '30 days'`;
  return count + beyond.count;
}
