/** The SQL of `webhook` and its deliveries, as people manage them. */
import type { WebhookEvent } from '../../../../protocol/automation/webhooks.ts';
import type { ArtifactId, DeliveryId, UserId, WebhookId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { TryRecord } from './queue-rows.ts';
import type { DisabledReason } from './rules.ts';

export interface WebhookRow {
  readonly id: WebhookId;
  readonly artifact_id: ArtifactId | null;
  readonly workspace_id: WorkspaceId | null;
  readonly user_id: UserId;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly description: string;
  readonly disabled_reason: DisabledReason | null;
  readonly disabled_at_ms: number | null;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly old_secret_ends_ms: number | null;
  readonly failing_since_ms: number | null;
  readonly due_ms: number | null;
  readonly last_number: number;
  readonly secret: Buffer;
  readonly old_secret: Buffer | null;
}

function columns(sql: Queries) {
  return sql`
    w.id, w.artifact_id, w.workspace_id, w.user_id, w.url, w.events, w.description, w.disabled_reason, w.disabled_at_ms, w.created_at_ms,
    w.updated_at_ms, w.old_secret_ends_ms, w.failing_since_ms, w.due_ms, w.last_number, w.secret, w.old_secret`;
}

/** Of an artifact, of a workspace, or of these accounts. */
export type WebhookList =
  | { readonly artifactId: ArtifactId }
  | { readonly workspaceId: WorkspaceId }
  | { readonly accounts: readonly UserId[] };

function listed(sql: Queries, of: WebhookList) {
  if ('artifactId' in of) return sql`w.artifact_id = ${of.artifactId}`;
  if ('workspaceId' in of) return sql`w.workspace_id = ${of.workspaceId}`;
  return sql`w.user_id = any(${of.accounts as UserId[]}::text[])`;
}

export function listWebhooks(sql: Queries, of: WebhookList, after: PageKey, rowsMax: number) {
  return sql<WebhookRow[]>`
    select ${columns(sql)} from webhook w where ${listed(sql, of)} and (w.created_at_ms, w.id) < (${after.number}, ${after.id})
    order by w.created_at_ms desc, w.id desc limit ${rowsMax}`;
}

export async function countWebhooks(sql: Queries, of: WebhookList): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from webhook w where ${listed(sql, of)}`;
  return row?.total ?? 0;
}

export async function readWebhook(sql: Queries, id: WebhookId): Promise<WebhookRow | null> {
  const [row] = await sql<WebhookRow[]>`select ${columns(sql)} from webhook w where w.id = ${id}`;
  return row ?? null;
}

/** Changes of one webhook wait for each other until the transaction ends. */
export async function lockWebhook(tx: Queries, id: WebhookId): Promise<WebhookRow | null> {
  const [row] = await tx<WebhookRow[]>`select ${columns(tx)} from webhook w where w.id = ${id} for update`;
  return row ?? null;
}

export interface NewWebhookRow {
  readonly id: WebhookId;
  readonly artifactId: ArtifactId | null;
  readonly workspaceId: WorkspaceId | null;
  readonly userId: UserId;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly description: string;
  /** Sealed. */
  readonly secret: Buffer;
  readonly nowMs: number;
}

/** It has seen everything until now. */
export async function insertWebhook(tx: Queries, row: NewWebhookRow): Promise<void> {
  const { nowMs } = row;
  await tx`
    insert into webhook (
      id, artifact_id, workspace_id, user_id, url, events, description, secret, created_at_ms, updated_at_ms, looked_at_ms)
    values (${row.id}, ${row.artifactId}, ${row.workspaceId}, ${row.userId}, ${row.url}, ${row.events as WebhookEvent[]},
      ${row.description}, ${row.secret}, ${nowMs}, ${nowMs}, ${nowMs})`;
  await seeAll(tx, row.id, nowMs);
}

/** What has happened until now is not told. */
export async function seeAll(tx: Queries, id: WebhookId, nowMs: number): Promise<void> {
  await tx`
    update webhook w set seen_seq = a.seq, seen_updated_at_ms = a.updated_at_ms, seen_version_id = a.live_version_id,
      seen_deleted = a.deleted_at_ms is not null, looked_at_ms = ${nowMs}
    from artifact a where a.id = w.artifact_id and w.id = ${id}`;
}

export interface ChangedWebhook {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly description: string;
  readonly userId: UserId;
  readonly disabled: { readonly reason: DisabledReason; readonly atMs: number } | null;
}

/** What waits is due at once: the change may be what its host has waited for. */
export async function updateWebhook(tx: Queries, id: WebhookId, next: ChangedWebhook, nowMs: number): Promise<void> {
  await tx`
    update webhook set url = ${next.url}, events = ${next.events as WebhookEvent[]}, description = ${next.description},
      user_id = ${next.userId}, disabled_reason = ${next.disabled?.reason ?? null}, disabled_at_ms = ${next.disabled?.atMs ?? null},
      updated_at_ms = greatest(updated_at_ms + 1, ${nowMs})
    where id = ${id}`;
  await tryNow(tx, id, nowMs);
}

/** Pauses end, and a host that was failing has a week again. */
export async function tryNow(tx: Queries, id: WebhookId, nowMs: number): Promise<void> {
  await tx`
    update webhook set failures = 0, failing_since_ms = null,
      due_ms = case when exists (select from webhook_delivery d where d.webhook_id = ${id} and d.status = 'pending') then ${nowMs}::bigint end
    where id = ${id}`;
  await tx`update webhook_delivery set next_try_ms = ${nowMs} where webhook_id = ${id} and status = 'pending' and next_try_ms > ${nowMs}`;
}

export async function forgetEvents(tx: Queries, id: WebhookId): Promise<void> {
  await tx`delete from webhook_event where webhook_id = ${id}`;
}

export async function deleteWebhook(tx: Queries, id: WebhookId): Promise<void> {
  await tx`delete from webhook where id = ${id}`;
}

export interface SecretsRow {
  readonly secret: Buffer;
  readonly oldSecret: Buffer | null;
  readonly oldSecretEndsMs: number | null;
}

export async function writeSecrets(
  tx: Queries,
  id: WebhookId,
  { secret, oldSecret, oldSecretEndsMs }: SecretsRow,
  nowMs: number,
): Promise<void> {
  await tx`
    update webhook set secret = ${secret}, old_secret = ${oldSecret}, old_secret_ends_ms = ${oldSecretEndsMs},
      updated_at_ms = greatest(updated_at_ms + 1, ${nowMs})
    where id = ${id}`;
}

/** Answers how many. */
export async function forgetOldSecrets(sql: Queries, nowMs: number): Promise<number> {
  const { count } = await sql`update webhook set old_secret = null, old_secret_ends_ms = null where old_secret_ends_ms <= ${nowMs}`;
  return count;
}

/** Takes the number of a delivery that is sent out of order. */
export async function takeNumber(tx: Queries, id: WebhookId): Promise<number> {
  const [row] = await tx<{ last_number: number }[]>`
    update webhook set last_number = last_number + 1 where id = ${id} returning last_number`;
  return row?.last_number ?? 0;
}

export interface DeliveryRow {
  readonly id: DeliveryId;
  readonly webhook_id: WebhookId;
  readonly number: number;
  readonly event: WebhookEvent | 'webhook.test';
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly tries: number;
  readonly next_try_ms: number;
  readonly created_at_ms: number;
  readonly finished_at_ms: number | null;
  readonly response_status: number | null;
  readonly error: string | null;
}

function deliveryColumns(sql: Queries) {
  return sql`
    d.id, d.webhook_id, d.number, d.event, d.status, d.tries, d.next_try_ms, d.created_at_ms, d.finished_at_ms, d.response_status, d.error`;
}

export interface DeliveryFilter {
  readonly webhookId: WebhookId;
  readonly status: DeliveryRow['status'] | undefined;
}

function deliveriesOf(sql: Queries, { webhookId, status }: DeliveryFilter) {
  return sql`d.webhook_id = ${webhookId} ${status === undefined ? sql`` : sql`and d.status = ${status}`}`;
}

export function listDeliveries(sql: Queries, filter: DeliveryFilter, after: PageKey, rowsMax: number) {
  return sql<DeliveryRow[]>`
    select ${deliveryColumns(sql)} from webhook_delivery d where ${deliveriesOf(sql, filter)} and d.number < ${after.number}
    order by d.number desc limit ${rowsMax}`;
}

export async function countDeliveries(sql: Queries, filter: DeliveryFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from webhook_delivery d where ${deliveriesOf(sql, filter)}`;
  return row?.total ?? 0;
}

export async function readDelivery(
  sql: Queries,
  webhookId: WebhookId,
  id: DeliveryId,
): Promise<(DeliveryRow & { readonly body: string }) | null> {
  const [row] = await sql<(DeliveryRow & { readonly body: string })[]>`
    select ${deliveryColumns(sql)}, d.body from webhook_delivery d where d.id = ${id} and d.webhook_id = ${webhookId}`;
  return row ?? null;
}

export function listTries(sql: Queries, id: DeliveryId) {
  return sql<(TryRecord & { readonly number: number })[]>`
    select number, at_ms as "atMs", duration_ms as "durationMs", request_headers as "requestHeaders", response_status as status,
      response_headers as "responseHeaders", response_body as "responseBody", error
    from webhook_try where delivery_id = ${id} order by number`;
}

export interface EndedDelivery {
  readonly id: DeliveryId;
  readonly webhookId: WebhookId;
  readonly number: number;
  readonly body: string;
  readonly record: TryRecord;
  readonly nowMs: number;
}

/** A test, which is tried once. */
export async function insertTest(tx: Queries, { id, webhookId, number, body, record, nowMs }: EndedDelivery): Promise<void> {
  await tx`
    insert into webhook_delivery (
      id, webhook_id, number, event, body, status, tries, round_tries, next_try_ms, first_try_ms, created_at_ms, finished_at_ms,
      response_status, error)
    values (${id}, ${webhookId}, ${number}, 'webhook.test', ${body}, ${record.error === null ? 'delivered' : 'failed'}, 1, 1, ${nowMs},
      ${record.atMs}, ${record.atMs}, ${nowMs}, ${record.status}, ${record.error})`;
}

/** It is sent again as soon as possible, whatever waits before it, with all its tries before it. */
export async function wantAgain(tx: Queries, webhookId: WebhookId, id: DeliveryId, nowMs: number): Promise<void> {
  await tx`
    update webhook_delivery set status = 'pending', is_deferred = true, round_tries = 0, first_try_ms = null, finished_at_ms = null,
      next_try_ms = least(next_try_ms, created_at_ms)
    where id = ${id}`;
  await tx`update webhook set due_ms = ${nowMs} where id = ${webhookId}`;
}

export interface SealedSecret {
  readonly id: WebhookId;
  readonly secret: Buffer;
  readonly old_secret: Buffer | null;
}

/** Those that another key than the current one has sealed; `head` is how the current ones begin. In the order of their ids, after `after`. */
export function listSealedBefore(sql: Queries, head: Buffer, after: string, rowsMax: number) {
  return sql<SealedSecret[]>`
    select id, secret, old_secret from webhook
    where id > ${after} and (
      substring(secret from 1 for ${head.length}::int) <> ${head} or substring(old_secret from 1 for ${head.length}::int) <> ${head}
    )
    order by id limit ${rowsMax}`;
}

/** Replaces them unless they were changed meanwhile. Whether it did. */
export async function replaceSealed(sql: Queries, before: SealedSecret, after: Omit<SealedSecret, 'id'>): Promise<boolean> {
  const { count } = await sql`
    update webhook set secret = ${after.secret}, old_secret = ${after.old_secret}
    where id = ${before.id} and secret = ${before.secret} and old_secret is not distinct from ${before.old_secret}`;
  return count > 0;
}
