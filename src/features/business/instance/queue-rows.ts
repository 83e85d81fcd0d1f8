/** The SQL of what waits or fails in the whole installation: mail, deliveries of webhooks, runs of jobs. */
import type { ArtifactId, DeliveryId, Id, JobId, RunId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { DeliveryRow } from '../../automation/webhooks/rows.ts';
import type { Queries } from '../../deps.ts';

export type MailId = Id<'mail'>;

export type MailState = 'queued' | 'failed' | 'suppressed' | 'sent';

export interface MailRow {
  readonly id: MailId;
  readonly recipient: string;
  readonly subject: string;
  readonly kind: string;
  readonly artifact_id: ArtifactId | null;
  readonly state: MailState;
  readonly attempts: number;
  readonly failure: string | null;
  readonly next_attempt_at_ms: number | null;
  readonly sent_at_ms: number | null;
  readonly created_at_ms: number;
}

export interface MailFilter {
  readonly q: string | undefined;
  readonly state: MailState | undefined;
}

function mails(sql: Queries) {
  return sql`(
    select id, recipient, subject, kind, artifact_id, attempts, failure, next_attempt_at_ms, sent_at_ms, created_at_ms,
      case when sent_at_ms is not null then 'sent' when suppressed_at_ms is not null then 'suppressed'
        when next_attempt_at_ms is null then 'failed' else 'queued' end as state
    from mail_outbox) m`;
}

function isFoundMail(sql: Queries, { q, state }: MailFilter) {
  return sql`
    true
    ${q === undefined || q === '' ? sql`` : sql`and position(lower(${q}) in lower(concat_ws(' ', m.recipient, m.subject))) > 0`}
    ${state === undefined ? sql`` : sql`and m.state = ${state}`}`;
}

/** Newest first. */
export function listMails(sql: Queries, filter: MailFilter, after: PageKey, rowsMax: number) {
  return sql<MailRow[]>`
    select m.* from ${mails(sql)} where ${isFoundMail(sql, filter)} and (m.created_at_ms, m.id) < (${after.number}, ${after.id})
    order by m.created_at_ms desc, m.id desc limit ${rowsMax}`;
}

export async function countMails(sql: Queries, filter: MailFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from ${mails(sql)} where ${isFoundMail(sql, filter)}`;
  return row?.total ?? 0;
}

export async function readMail(sql: Queries, id: MailId): Promise<MailRow | null> {
  const [row] = await sql<MailRow[]>`select m.* from ${mails(sql)} where m.id = ${id}`;
  return row ?? null;
}

export async function lockMail(tx: Queries, id: MailId): Promise<void> {
  await tx`select 1 from mail_outbox where id = ${id} for update`;
}

/** Due at once. One that was given up has all its attempts again. */
export async function retryMail(tx: Queries, id: MailId, nowMs: number): Promise<void> {
  await tx`
    update mail_outbox set attempts = case when next_attempt_at_ms is null then 0 else attempts end, next_attempt_at_ms = ${nowMs}
    where id = ${id} and sent_at_ms is null and suppressed_at_ms is null`;
}

/** An attempt that is under way ends, and none follows. */
export async function dropMail(tx: Queries, id: MailId, nowMs: number): Promise<void> {
  await tx`
    update mail_outbox set suppressed_at_ms = ${nowMs}, next_attempt_at_ms = null
    where id = ${id} and sent_at_ms is null and suppressed_at_ms is null`;
}

export interface AnyDeliveryRow extends DeliveryRow {
  readonly url: string;
  readonly disabled_at_ms: number | null;
  readonly artifact_id: ArtifactId | null;
  readonly workspace_id: WorkspaceId | null;
  readonly user_id: UserId;
}

export interface DeliveriesFilter {
  readonly q: string | undefined;
  readonly status: AnyDeliveryRow['status'];
}

function deliveryColumns(sql: Queries) {
  return sql`
    d.id, d.webhook_id, d.number, d.event, d.status, d.tries, d.next_try_ms, d.created_at_ms, d.finished_at_ms, d.response_status, d.error,
    w.url, w.disabled_at_ms, w.artifact_id, w.workspace_id, w.user_id
    from webhook_delivery d join webhook w on w.id = d.webhook_id`;
}

function isFoundDelivery(sql: Queries, { q, status }: DeliveriesFilter) {
  return sql`d.status = ${status} ${q === undefined || q === '' ? sql`` : sql`and position(lower(${q}) in lower(w.url)) > 0`}`;
}

/** Newest first. */
export function listAnyDeliveries(sql: Queries, filter: DeliveriesFilter, after: PageKey, rowsMax: number) {
  return sql<AnyDeliveryRow[]>`
    select ${deliveryColumns(sql)} where ${isFoundDelivery(sql, filter)} and (d.created_at_ms, d.id) < (${after.number}, ${after.id})
    order by d.created_at_ms desc, d.id desc limit ${rowsMax}`;
}

export async function countAnyDeliveries(sql: Queries, filter: DeliveriesFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from webhook_delivery d join webhook w on w.id = d.webhook_id where ${isFoundDelivery(sql, filter)}`;
  return row?.total ?? 0;
}

export async function readAnyDelivery(sql: Queries, id: DeliveryId): Promise<AnyDeliveryRow | null> {
  const [row] = await sql<AnyDeliveryRow[]>`select ${deliveryColumns(sql)} where d.id = ${id}`;
  return row ?? null;
}

export type RunState = 'queued' | 'running' | 'failed' | 'next';

export interface AnyRunRow {
  readonly id: RunId | null;
  readonly key: string;
  readonly job_id: JobId;
  readonly artifact_id: ArtifactId;
  readonly user_id: UserId;
  readonly title: string;
  readonly action: string;
  readonly at_ms: number;
  readonly error: string | null;
}

export interface RunFilter {
  readonly q: string | undefined;
  readonly state: RunState;
}

/** What `state` names, with the time by which it is listed. */
function runs(sql: Queries, { q, state }: RunFilter) {
  const isTitled = q === undefined || q === '' ? sql`` : sql`and position(lower(${q}) in lower(j.title)) > 0`;
  if (state === 'next') {
    return sql`(
      select null::text as id, j.id as key, j.id as job_id, j.artifact_id, j.creator_id as user_id, j.title, j.action, j.next_run_at_ms as at_ms,
        null::text as error
      from job j where j.enabled and j.next_run_at_ms is not null ${isTitled}) r`;
  }
  return sql`(
    select n.id, n.id as key, n.job_id, n.artifact_id, n.creator_id as user_id, j.title, j.action,
      case n.status when 'running' then coalesce(n.started_at_ms, n.created_at_ms) when 'failed' then coalesce(n.finished_at_ms, n.created_at_ms)
        else n.created_at_ms end as at_ms,
      n.error
    from job_run n join job j on j.id = n.job_id where n.status = ${state} ${isTitled}) r`;
}

/** Newest first; of those that are due next the soonest first. */
export function listAnyRuns(sql: Queries, filter: RunFilter, after: PageKey, rowsMax: number, isFirst: boolean) {
  if (filter.state === 'next') {
    return sql<AnyRunRow[]>`
      select r.* from ${runs(sql, filter)} where ${isFirst} or (r.at_ms, r.key) > (${after.number}, ${after.id})
      order by r.at_ms, r.key limit ${rowsMax}`;
  }
  return sql<AnyRunRow[]>`
    select r.* from ${runs(sql, filter)} where (r.at_ms, r.key) < (${after.number}, ${after.id})
    order by r.at_ms desc, r.key desc limit ${rowsMax}`;
}

export async function countAnyRuns(sql: Queries, filter: RunFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from ${runs(sql, filter)}`;
  return row?.total ?? 0;
}
