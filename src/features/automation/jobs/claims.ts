/** How processes take runs, keep them and report, each with the token of its claim. */
import type { JSONValue } from 'postgres';
import type { ArtifactId, JobId, RunId, UserId } from '../../../../protocol/core/ids.ts';
import type { Sql } from '../../../storage/sql.ts';
import type { Queries } from '../../deps.ts';
import type { RunChange, RunEvents } from './runs.ts';

export interface Claim {
  readonly runId: RunId;
  readonly jobId: JobId;
  readonly artifactId: ArtifactId;
  readonly creatorId: UserId;
  readonly trigger: 'schedule' | 'event' | 'manual';
  readonly scheduledForMs: number;
  readonly events: RunEvents | null;
  readonly chain: readonly JobId[];
  /** The one that begins now included. */
  readonly attempt: number;
  /** In a row, this one included, of which none has reported. */
  readonly claims: number;
  /** Of this claim alone. */
  readonly leaseToken: string;
  /** Of the token with which it calls. */
  readonly tokenSha256: Buffer;
  /** Of a process that had it before and may be alive; null where nobody had. */
  readonly formerTokenSha256: Buffer | null;
}

/** What a process offers for a run: both are fresh for each claim. */
export interface Offer {
  readonly leaseToken: string;
  readonly tokenSha256: Buffer;
}

/** When so many processes have ended with a run, it may be what has ended them. */
const SUSPECT_CLAIMS = 2;

export function isSuspect({ claims }: Pick<Claim, 'claims'>): boolean {
  // The claim that it has now is not one that has ended.
  return claims > SUSPECT_CLAIMS;
}

export interface Bounds {
  /** Of one artifact on all nodes. */
  readonly perArtifact: number;
  /** Of one person, beyond what they have on this node already. */
  readonly perPerson: number;
  /** Persons who have as many as they may on this node. */
  readonly busy: readonly UserId[];
  /** Of those that may end the process. */
  readonly suspects: number;
  /** What is due earlier is not looked at: see `QueueStart`. */
  readonly fromMs: number;
}

/**
 * Takes at most as many due runs as there are offers: of each person the oldest first, in turn. Runs that another process has taken
 * meanwhile, or whose job is at work, are left out.
 */
export function claimRuns(sql: Sql, offers: readonly Offer[], bounds: Bounds, nowMs: number, leaseMs: number): Promise<Claim[]> {
  return sql.begin(async (tx) => {
    const due = await lockDueRuns(tx, offers.length, bounds, nowMs);
    if (due.length === 0) return [];
    const taken = due.map((_, at) => offers[at] as Offer);
    const rows = await tx<Omit<Claim, 'formerTokenSha256'>[]>`
      update job_run r set
        status = 'running', lease_token = o.lease_token, lease_ends_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms',
        token_sha256 = decode(o.token_sha256, 'hex'), claims = r.claims + 1,
        attempt = case when r.status = 'queued' then r.attempt + 1 else r.attempt end,
        started_at_ms = coalesce(r.started_at_ms, ${nowMs})
      from unnest(
        ${due.map(({ id }) => id)}::text[], ${taken.map(({ leaseToken }) => leaseToken)}::text[],
        ${taken.map(({ tokenSha256 }) => tokenSha256.toString('hex'))}::text[]
      ) as o (id, lease_token, token_sha256)
      where r.id = o.id
      returning r.id as "runId", r.job_id as "jobId", r.artifact_id as "artifactId", r.creator_id as "creatorId", r.trigger,
        r.scheduled_for_ms as "scheduledForMs", r.events, r.chain, r.attempt, r.claims, r.lease_token as "leaseToken",
        r.token_sha256 as "tokenSha256"`;
    const formers = new Map(due.map(({ id, former }) => [id, former]));
    return rows.map((row) => ({ ...row, formerTokenSha256: formers.get(row.runId) ?? null }));
  });
}

/**
 * The conditions stand again at the end: only there is a row seen that another process has claimed since this statement began. They are written so
 * that no index of what is due serves them, because rows are found by their ids there. Runs under way are found by the end of their lease, whose
 * index has nothing at hand that ended long ago.
 */
export function lockDueRuns(tx: Queries, runsMax: number, { perArtifact, perPerson, busy, suspects, fromMs }: Bounds, nowMs: number) {
  return tx<{ id: RunId; former: Buffer | null }[]>`
    with held as materialized (
      select job_id, artifact_id from job_run where status = 'running' and lease_ends_at > statement_timestamp()
    ), due as materialized (
      select c.id, c.job_id, c.due_ms, c.creator_id, c.artifact_id, c.claims >= ${SUSPECT_CLAIMS} as is_suspect from job_run c
      where c.due_ms >= ${fromMs} and c.due_ms <= ${nowMs} and (c.lease_ends_at is null or c.lease_ends_at <= clock_timestamp())
        and c.creator_id <> all(${busy as UserId[]}) and not exists (select from held h where h.job_id = c.job_id)
      order by c.due_ms limit 1000
    ), ranked as (
      select d.id, d.due_ms, d.artifact_id, d.is_suspect,
        row_number() over (partition by d.creator_id order by d.due_ms, d.id) as turn,
        row_number() over (partition by d.artifact_id order by d.due_ms, d.id) as of_artifact,
        row_number() over (partition by d.job_id order by d.due_ms, d.id) as of_job,
        row_number() over (partition by d.is_suspect order by d.due_ms, d.id) as of_suspects
      from due d
    )
    select r.id, r.token_sha256 as former from job_run r
    where r.id = any(array(
        select k.id from ranked k
        where k.of_job = 1 and k.turn <= ${perPerson} and (not k.is_suspect or k.of_suspects <= ${suspects})
          and k.of_artifact <= ${perArtifact} - (select count(*) from held b where b.artifact_id = k.artifact_id)
        order by k.turn, k.due_ms limit ${runsMax}
      ))
      and coalesce(r.due_ms <= ${nowMs}, false) and (r.lease_ends_at is null or r.lease_ends_at <= clock_timestamp())
    for update of r skip locked`;
}

/** Those of these claims that are not lost. */
export async function renewClaims(
  sql: Queries,
  claims: readonly Claim[],
  leaseMs: number,
): Promise<ReadonlyMap<RunId, 'held' | 'canceled'>> {
  const rows = await sql<{ id: RunId; cancel_wanted: boolean }[]>`
    update job_run r set lease_ends_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms'
    from unnest(${claims.map(({ runId }) => runId)}::text[], ${claims.map(({ leaseToken }) => leaseToken)}::text[]) as c (id, lease_token)
    where r.id = c.id and r.lease_token = c.lease_token
    returning r.id, r.cancel_wanted`;
  return new Map(rows.map(({ id, cancel_wanted }) => [id, cancel_wanted ? 'canceled' : 'held']));
}

export interface Report {
  readonly status: 'succeeded' | 'failed' | 'canceled' | 'queued' | 'skipped';
  readonly error: string | null;
  /** Null keeps what is there. */
  readonly reason: string | null;
  readonly output: string | null;
  readonly changes: readonly RunChange[];
  /** Of the next try; null where there is none. */
  readonly dueMs: number | null;
}

/** False where the claim is lost: somebody else has the run by now, or it was deleted, and nothing is written. */
export async function reportRun(tx: Queries, { runId, leaseToken }: Claim, report: Report, nowMs: number): Promise<boolean> {
  const { status, error, reason, output, changes, dueMs } = report;
  const { count } = await tx`
    update job_run set
      status = ${status}, error = ${error}, reason = coalesce(${reason}, reason), output = ${output}, changes = ${tx.json(changes as unknown as JSONValue)}, due_ms = ${dueMs},
      finished_at_ms = ${dueMs === null ? nowMs : null}, claims = case when ${dueMs === null} then claims else 0 end,
      lease_token = null, lease_ends_at = null, token_sha256 = null
    where id = ${runId} and lease_token = ${leaseToken}`;
  return count > 0;
}

/**
 * What `reportRun` and `noteOutcome` do for a run that has succeeded and records nothing else, as most do: in one statement, which locks the
 * job before the run as everybody does. False where the claim is lost.
 */
export async function reportSuccess(
  sql: Queries,
  { runId, jobId, leaseToken }: Claim,
  { output, changes }: Pick<Report, 'output' | 'changes'>,
  nowMs: number,
): Promise<boolean> {
  const reported = await sql`
    with held as materialized (
      select id from job where id = ${jobId} for update
    ), reported as (
      update job_run set
        status = 'succeeded', error = null, output = ${output}, changes = ${sql.json(changes as unknown as JSONValue)}, due_ms = null,
        finished_at_ms = ${nowMs}, lease_token = null, lease_ends_at = null, token_sha256 = null
      where id = ${runId} and lease_token = ${leaseToken} and job_id in (select id from held)
      returning job_id
    ), noted as (
      update job set last_run_at_ms = ${nowMs}, last_status = 'succeeded', failures = 0 from reported where job.id = reported.job_id
    )
    select from reported`;
  return reported.length > 0;
}

/** The process stops: another one takes the runs at once, and the try does not count. */
export async function giveBackRuns(sql: Queries, claims: readonly Claim[], nowMs: number): Promise<void> {
  if (claims.length === 0) return;
  await sql`
    update job_run r set
      status = 'queued', attempt = r.attempt - 1, claims = r.claims - 1, due_ms = ${nowMs}, lease_token = null, lease_ends_at = null,
      token_sha256 = null
    from unnest(${claims.map(({ runId }) => runId)}::text[], ${claims.map(({ leaseToken }) => leaseToken)}::text[]) as c (id, lease_token)
    where r.id = c.id and r.lease_token = c.lease_token`;
}

export interface Waiting {
  /** When the next run may be taken, Unix ms; null when none waits. Those under way count when their lease has ended. */
  readonly nextMs: number | null;
  /** For when the first one was due that is not over. */
  readonly oldestMs: number | null;
}

export async function readWaiting(sql: Queries, fromMs: number): Promise<Waiting> {
  const [row] = await sql<Waiting[]>`
    select
      (select due_ms from job_run where due_ms >= ${fromMs} order by due_ms limit 1) as "oldestMs",
      (
        select due_ms from job_run where due_ms >= ${fromMs} and (lease_ends_at is null or lease_ends_at <= clock_timestamp())
        order by due_ms limit 1
      ) as "nextMs"`;
  return row ?? { nextMs: null, oldestMs: null };
}
