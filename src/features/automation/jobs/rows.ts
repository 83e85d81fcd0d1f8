/** The SQL of `job`. */
import type { JSONValue } from 'postgres';
import type { EventFilter, JobAction, JobEventType, RunStatus } from '../../../../protocol/automation/jobs.ts';
import type { ArtifactId, JobId, UserId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

export interface RetryConfig {
  readonly maxAttempts: number;
  readonly backoff: 'fixed' | 'exponential';
  /** Seconds. */
  readonly initialDelay: number;
}

/** What a person says of a job. */
export interface JobSpec {
  readonly title: string;
  readonly description: string | null;
  readonly action: JobAction;
  readonly trigger_type: 'cron' | 'event';
  readonly schedule: string | null;
  readonly timezone: string | null;
  readonly event_type: JobEventType | null;
  readonly event_filter: EventFilter | null;
  /** Without its secrets, which are masked. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly sealed_secrets: Buffer | null;
  readonly retry_config: RetryConfig;
  readonly enabled: boolean;
}

export interface JobRow extends JobSpec {
  readonly id: JobId;
  readonly artifact_id: ArtifactId;
  readonly creator_id: UserId;
  readonly paused_reason: string | null;
  readonly failures: number;
  readonly next_run_at_ms: number | null;
  readonly seen_seq: number;
  readonly seen_update_ms: number;
  readonly seen_views: number;
  readonly seen_dataset_seq: number;
  readonly last_run_at_ms: number | null;
  readonly last_status: RunStatus | null;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

const columns = (sql: Queries) => sql`
  j.id, j.artifact_id, j.creator_id, j.title, j.description, j.action, j.trigger_type, j.schedule, j.timezone, j.event_type, j.event_filter,
  j.config, j.sealed_secrets, j.retry_config, j.enabled, j.paused_reason, j.failures, j.next_run_at_ms, j.seen_seq, j.seen_update_ms,
  j.seen_views, j.seen_dataset_seq, j.last_run_at_ms, j.last_status, j.created_at_ms, j.updated_at_ms`;

interface NewRow {
  readonly id: JobId;
  readonly artifactId: ArtifactId;
  readonly creatorId: UserId;
  readonly nextRunAtMs: number | null;
  readonly nowMs: number;
}

/** Events count from now on. */
export async function insertJob(tx: Queries, spec: JobSpec, { id, artifactId, creatorId, nextRunAtMs, nowMs }: NewRow): Promise<void> {
  await tx`
    insert into job (
      id, artifact_id, creator_id, title, description, action, trigger_type, schedule, timezone, event_type, event_filter, config,
      sealed_secrets, retry_config, enabled, next_run_at_ms, seen_seq, seen_update_ms, seen_views, seen_dataset_seq, seen_at_ms,
      created_at_ms, updated_at_ms)
    select ${id}, a.id, ${creatorId}, ${spec.title}, ${spec.description}, ${spec.action}, ${spec.trigger_type}, ${spec.schedule},
      ${spec.timezone}, ${spec.event_type}, ${json(tx, spec.event_filter)}, ${json(tx, spec.config)}, ${spec.sealed_secrets},
      ${json(tx, spec.retry_config)}, ${spec.enabled}, ${nextRunAtMs}, a.seq, a.updated_at_ms, ${viewsOf(tx)}, ${datasetSeqOf(tx)},
      ${nowMs}, ${nowMs}, ${nowMs}
    from artifact a where a.id = ${artifactId}`;
}

/** Of artifact `a`, on all days. */
function viewsOf(sql: Queries) {
  return sql`coalesce((select sum(v.views) from page_view v where v.artifact_id = a.id), 0)::bigint`;
}

/** Of artifact `a`: its last change of a dataset. */
function datasetSeqOf(sql: Queries) {
  return sql`coalesce((select f.seq from dataset_floor f where f.artifact_id = a.id), 0)`;
}

function json(sql: Queries, value: object | null) {
  return value === null ? null : sql.json(value as JSONValue);
}

interface Change {
  readonly creatorId: UserId;
  readonly nextRunAtMs: number | null;
  /** Events that came before are not looked at any more: the job was paused, or listened to something else. */
  readonly fromNow: boolean;
  readonly nowMs: number;
}

/** A person has looked at it, so it begins without failures. */
export async function updateJob(tx: Queries, id: JobId, spec: JobSpec, { creatorId, nextRunAtMs, fromNow, nowMs }: Change): Promise<void> {
  await tx`
    update job j set
      title = ${spec.title}, description = ${spec.description}, action = ${spec.action}, trigger_type = ${spec.trigger_type},
      schedule = ${spec.schedule}, timezone = ${spec.timezone}, event_type = ${spec.event_type}, event_filter = ${json(tx, spec.event_filter)},
      config = ${json(tx, spec.config)}, sealed_secrets = ${spec.sealed_secrets}, retry_config = ${json(tx, spec.retry_config)},
      enabled = ${spec.enabled}, paused_reason = null, failures = 0, creator_id = ${creatorId}, next_run_at_ms = ${nextRunAtMs},
      seen_seq = case when ${fromNow}::boolean then a.seq else j.seen_seq end,
      seen_update_ms = case when ${fromNow}::boolean then a.updated_at_ms else j.seen_update_ms end,
      seen_views = case when ${fromNow}::boolean then ${viewsOf(tx)} else j.seen_views end,
      seen_dataset_seq = case when ${fromNow}::boolean then ${datasetSeqOf(tx)} else j.seen_dataset_seq end,
      seen_at_ms = case when ${fromNow}::boolean then ${nowMs} else j.seen_at_ms end,
      updated_at_ms = greatest(j.updated_at_ms + 1, ${nowMs})
    from artifact a where a.id = j.artifact_id and j.id = ${id}`;
}

export async function deleteJob(tx: Queries, id: JobId): Promise<void> {
  await tx`delete from job where id = ${id}`;
}

/** Jobs of artifacts in the trash are hidden with them. */
export async function readJob(sql: Queries, id: JobId): Promise<JobRow | null> {
  const [row] = await sql<JobRow[]>`
    select ${columns(sql)} from job j join artifact a on a.id = j.artifact_id where j.id = ${id} and a.deleted_at_ms is null`;
  return row ?? null;
}

/** Held until the transaction ends. */
export async function lockJob(tx: Queries, id: JobId): Promise<JobRow | null> {
  const [row] = await tx<JobRow[]>`select ${columns(tx)} from job j where j.id = ${id} for update`;
  return row ?? null;
}

export type Listed = { readonly artifactId: ArtifactId } | { readonly creators: readonly UserId[] };

function listedBy(sql: Queries, listed: Listed) {
  return 'artifactId' in listed ? sql`j.artifact_id = ${listed.artifactId}` : sql`j.creator_id = any(${listed.creators as UserId[]})`;
}

export function listJobs(sql: Queries, listed: Listed, after: PageKey, rowsMax: number) {
  return sql<JobRow[]>`
    select ${columns(sql)} from job j join artifact a on a.id = j.artifact_id
    where ${listedBy(sql, listed)} and a.deleted_at_ms is null and (j.created_at_ms, j.id) < (${after.number}, ${after.id})
    order by j.created_at_ms desc, j.id desc limit ${rowsMax}`;
}

export async function countJobs(sql: Queries, listed: Listed): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from job j join artifact a on a.id = j.artifact_id
    where ${listedBy(sql, listed)} and a.deleted_at_ms is null`;
  return row?.total ?? 0;
}

/** How many there are. Until the transaction ends nobody else counts those of the person or of the artifact. */
export async function countForNewJob(tx: Queries, artifactId: ArtifactId, creators: readonly UserId[]) {
  for (const of of [[...creators].sort()[0] ?? '', artifactId])
    await tx`select pg_advisory_xact_lock(hashtextextended(${`jobs of ${of}`}, 0))`;
  const [row] = await tx<{ ofArtifact: number; ofPerson: number }[]>`
    select
      (select count(*)::int from job where artifact_id = ${artifactId}) as "ofArtifact",
      (select count(*)::int from job where creator_id = any(${creators as UserId[]})) as "ofPerson"`;
  return row ?? { ofArtifact: 0, ofPerson: 0 };
}

/**
 * The ones whose time has come since `fromMs`, the longest ago first, each held until the transaction ends. Those that another process holds are
 * left out.
 */
export function takeDueJobs(tx: Queries, fromMs: number, nowMs: number, rowsMax: number) {
  return tx<JobRow[]>`
    select ${columns(tx)} from job j
    where j.next_run_at_ms >= ${fromMs} and j.next_run_at_ms <= ${nowMs} order by j.next_run_at_ms limit ${rowsMax} for update skip locked`;
}

export async function setNextRuns(tx: Queries, next: readonly { readonly id: JobId; readonly atMs: number | null }[]): Promise<void> {
  await tx`
    update job set next_run_at_ms = n.at_ms
    from unnest(${next.map(({ id }) => id)}::text[], ${next.map(({ atMs }) => atMs)}::bigint[]) as n (id, at_ms)
    where job.id = n.id`;
}

/** When the next one is due, Unix ms; null when none is. */
export async function nextDueMs(sql: Queries, fromMs: number): Promise<number | null> {
  const [row] = await sql<{ at: number | null }[]>`select min(next_run_at_ms) as at from job where next_run_at_ms >= ${fromMs}`;
  return row?.at ?? null;
}

export interface Outcome {
  readonly status: RunStatus;
  readonly startedAtMs: number;
}

/** Answers how many runs have failed in a row. */
export async function noteOutcome(tx: Queries, id: JobId, { status, startedAtMs }: Outcome): Promise<number> {
  const [row] = await tx<{ failures: number }[]>`
    update job set
      last_run_at_ms = ${startedAtMs}, last_status = ${status},
      failures = case ${status}::text when 'failed' then failures + 1 when 'succeeded' then 0 else failures end
    where id = ${id} returning failures`;
  return row?.failures ?? 0;
}

export async function pauseJob(tx: Queries, id: JobId, reason: string, nowMs: number): Promise<void> {
  await tx`
    update job set enabled = false, paused_reason = ${reason}, next_run_at_ms = null, updated_at_ms = greatest(updated_at_ms + 1, ${nowMs})
    where id = ${id}`;
}
