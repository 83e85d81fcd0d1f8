/** The SQL of looks: what a webhook has seen, what has happened since, and the deliveries that become of it. */
import type { WebhookEvent } from '../../../../protocol/automation/webhooks.ts';
import type { ArtifactId, DeliveryId, VersionId, WebhookId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Queries } from '../../deps.ts';
import type { ArtifactState } from './deliveries.ts';

export interface LookRow {
  readonly id: WebhookId;
  readonly artifact_id: ArtifactId | null;
  readonly workspace_id: WorkspaceId | null;
  readonly events: readonly WebhookEvent[];
  readonly seen_seq: number;
  readonly seen_updated_at_ms: number;
  readonly seen_version_id: VersionId | null;
  readonly seen_deleted: boolean;
  readonly looked_at_ms: number;
  readonly last_number: number;
  readonly waiting: number;
}

/** Null where it is turned off or gone. Looks at one webhook wait for each other until the transaction ends. */
export async function lockForLook(tx: Queries, id: WebhookId): Promise<LookRow | null> {
  await tx`select 1 from webhook where id = ${id} for update`;
  const [row] = await tx<LookRow[]>`
    select w.id, w.artifact_id, w.workspace_id, w.events, w.seen_seq, w.seen_updated_at_ms, w.seen_version_id, w.seen_deleted,
      w.looked_at_ms, w.last_number,
      (select count(*)::int from webhook_delivery d where d.webhook_id = w.id and d.status = 'pending') as waiting
    from webhook w where w.id = ${id} and w.disabled_at_ms is null`;
  return row ?? null;
}

export async function readArtifactState(tx: Queries, id: ArtifactId): Promise<ArtifactState | null> {
  const [row] = await tx<ArtifactState[]>`
    select a.id, a.name, a.slug, a.visibility, a.workspace_id as "workspaceId", a.updated_at_ms as "updatedAtMs",
      a.deleted_at_ms is not null as "isDeleted", a.seq, a.live_version_id as "versionId", v.version_no as "versionNo",
      v.label as "versionLabel"
    from artifact a left join artifact_version v on v.id = a.live_version_id where a.id = ${id}`;
  return row ?? null;
}

export interface NewDelivery {
  readonly id: DeliveryId;
  readonly number: number;
  readonly event: WebhookEvent;
  readonly body: string;
}

export async function insertDeliveries(tx: Queries, webhookId: WebhookId, made: readonly NewDelivery[], nowMs: number): Promise<void> {
  await tx`
    insert into webhook_delivery (id, webhook_id, number, event, body, status, next_try_ms, created_at_ms)
    select d.id, ${webhookId}, d.number, d.event, d.body, 'pending', ${nowMs}, ${nowMs}
    from unnest(
      ${made.map(({ id }) => id)}::text[], ${made.map(({ number }) => number)}::bigint[], ${made.map(({ event }) => event)}::text[],
      ${made.map(({ body }) => body)}::text[]
    ) as d (id, number, event, body)`;
}

export interface Seen {
  readonly seq: number;
  readonly updatedAtMs: number;
  readonly versionId: VersionId | null;
  readonly isDeleted: boolean;
  readonly lastNumber: number;
  /** Whether deliveries were made. */
  readonly hasMore: boolean;
}

/** What was made is due at once, except while its host fails: then with the next try. */
export async function writeSeen(tx: Queries, id: WebhookId, seen: Seen, nowMs: number): Promise<void> {
  await tx`
    update webhook set seen_seq = ${seen.seq}, seen_updated_at_ms = ${seen.updatedAtMs}, seen_version_id = ${seen.versionId},
      seen_deleted = ${seen.isDeleted}, looked_at_ms = ${nowMs}, last_number = ${seen.lastNumber},
      due_ms = case when not ${seen.hasMore} then due_ms when failures = 0 then ${nowMs} else coalesce(due_ms, ${nowMs}) end
    where id = ${id}`;
}

export interface EventRow {
  readonly number: number;
  readonly event: WebhookEvent;
  /** JSON text. */
  readonly data: string;
}

/** Takes the oldest events of a webhook from the list. */
export async function takeEvents(tx: Queries, id: WebhookId, rowsMax: number): Promise<readonly EventRow[]> {
  const rows = await tx<EventRow[]>`
    delete from webhook_event where number in (
      select number from webhook_event where webhook_id = ${id} order by number limit ${rowsMax}
    ) returning number, event, data::text as data`;
  return [...rows].sort((a, b) => a.number - b.number);
}

/** Answers how many were dropped, the oldest first. */
export async function dropEventsBeyond(tx: Queries, id: WebhookId, keptMax: number): Promise<number> {
  const { count } = await tx`
    delete from webhook_event where webhook_id = ${id} and number <= (
      select number from webhook_event where webhook_id = ${id} order by number desc offset ${keptMax} limit 1
    )`;
  return count;
}

/** Those of an artifact that have something new to see. */
export async function findUnseen(sql: Queries, rowsMax: number): Promise<readonly WebhookId[]> {
  const rows = await sql<{ id: WebhookId }[]>`
    select w.id from webhook w join artifact a on a.id = w.artifact_id
    where w.disabled_at_ms is null and (
      a.seq <> w.seen_seq or a.updated_at_ms <> w.seen_updated_at_ms or a.live_version_id is distinct from w.seen_version_id
      or (a.deleted_at_ms is not null) <> w.seen_deleted
    )
    order by w.looked_at_ms limit ${rowsMax}`;
  return rows.map(({ id }) => id);
}

/** Those of a workspace that have events. */
export async function findWithEvents(sql: Queries): Promise<readonly WebhookId[]> {
  const rows = await sql<{ id: WebhookId }[]>`
    select w.id from webhook w
    where w.workspace_id is not null and w.disabled_at_ms is null and exists (select from webhook_event e where e.webhook_id = w.id)`;
  return rows.map(({ id }) => id);
}

export interface Subscribed {
  readonly id: WebhookId;
  readonly artifactId: ArtifactId;
}

/** The webhooks of these artifacts that are turned on. */
export async function findOfArtifacts(sql: Queries, ids: readonly ArtifactId[]): Promise<readonly Subscribed[]> {
  return await sql<Subscribed[]>`
    select id, artifact_id as "artifactId" from webhook where artifact_id = any(${ids as ArtifactId[]}::text[]) and disabled_at_ms is null`;
}

/** Artifacts with webhooks that are turned on; at most so many. */
export async function listSubscribed(sql: Queries, rowsMax: number): Promise<readonly ArtifactId[]> {
  const rows = await sql<{ id: ArtifactId }[]>`
    select distinct artifact_id as id from webhook where artifact_id is not null and disabled_at_ms is null limit ${rowsMax}`;
  return rows.map(({ id }) => id);
}

/** Beyond the number that is kept; those that wait stay. */
export async function trimDeliveries(tx: Queries, id: WebhookId, lastNumber: number): Promise<void> {
  await tx`
    delete from webhook_delivery
    where webhook_id = ${id} and status <> 'pending' and number <= ${lastNumber - LIMITS.webhookDeliveriesKept}`;
}

/** Answers how many. */
export async function forgetDeliveries(sql: Queries, beforeMs: number): Promise<number> {
  const { count } = await sql`delete from webhook_delivery where status <> 'pending' and created_at_ms < ${beforeMs}`;
  return count;
}
