/**
 * The SQL of deliveries that are due. A node claims a webhook under a lease with a number and sends one delivery at a time; what it reports with
 * an older number changes nothing.
 */
import type { JSONValue } from 'postgres';
import type { ArtifactId, DeliveryId, UserId, WebhookId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { isSuspended } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import { isPersonSuspended } from '../../people/persons/rows.ts';
import type { AfterTry, DisabledReason } from './rules.ts';

export interface WebhookClaim {
  readonly id: WebhookId;
  readonly fence: number;
  readonly userId: UserId;
  readonly artifactId: ArtifactId | null;
  readonly workspaceId: WorkspaceId | null;
}

/** Of one account at most `perUserMax`, and none of those in `busyUsers`. */
export async function claimDue(
  sql: Queries,
  wanted: {
    readonly nowMs: number;
    readonly leaseMs: number;
    readonly max: number;
    readonly busyUsers: readonly UserId[];
    readonly perUserMax: number;
  },
): Promise<readonly WebhookClaim[]> {
  const { nowMs, leaseMs, max, busyUsers, perUserMax } = wanted;
  return await sql<WebhookClaim[]>`
    update webhook set fence = fence + 1, lease_ends_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms'
    where id in (
      select w.id from webhook w join (
        select id, due_ms, row_number() over (partition by user_id order by due_ms) as nth from webhook
        where due_ms <= ${nowMs} and disabled_at_ms is null and (lease_ends_at is null or lease_ends_at <= clock_timestamp())
          and user_id <> all(${busyUsers as UserId[]}::text[]) and not ${isHeldBack(sql)}
      ) due on due.id = w.id and due.nth <= ${perUserMax}
      where w.disabled_at_ms is null and (w.lease_ends_at is null or w.lease_ends_at <= clock_timestamp())
      order by due.due_ms limit ${max} for update of w skip locked
    )
    returning id, fence, user_id as "userId", artifact_id as "artifactId", workspace_id as "workspaceId"`;
}

/** Of webhook `webhook`: what is suspended sends nothing until that is lifted; what happens meanwhile waits. */
function isHeldBack(sql: Queries) {
  return sql`(
    exists (select from account a where a.id = webhook.user_id and ${isPersonSuspended(sql)})
    or exists (select from artifact a where a.id = webhook.artifact_id and ${isSuspended(sql)})
    or exists (select from workspace s where s.id = webhook.workspace_id and s.suspended_at_ms is not null))`;
}

/** Whether it was suspended while it is claimed, or who stands for it. */
export async function mustWait(sql: Queries, id: WebhookId): Promise<boolean> {
  const rows = await sql`select 1 from webhook where id = ${id} and ${isHeldBack(sql)}`;
  return rows.length > 0;
}

/** When the next one is due that nobody holds; null where none waits. */
export async function nextDueMs(sql: Queries): Promise<number | null> {
  const [row] = await sql<{ due: number | null }[]>`
    select min(due_ms) as due from webhook
    where due_ms is not null and disabled_at_ms is null and (lease_ends_at is null or lease_ends_at <= clock_timestamp())
      and not ${isHeldBack(sql)}`;
  return row?.due ?? null;
}

/** The next node goes on at once. */
export async function giveBack(sql: Queries, { id, fence }: Pick<WebhookClaim, 'id' | 'fence'>): Promise<void> {
  await sql`update webhook set lease_ends_at = null where id = ${id} and fence = ${fence}`;
}

export interface DueDelivery {
  readonly id: DeliveryId;
  readonly body: string;
  readonly tries: number;
  readonly roundTries: number;
  readonly firstTryMs: number;
  readonly isDeferred: boolean;
  readonly url: string;
  readonly secret: Buffer;
  readonly oldSecret: Buffer | null;
  readonly oldSecretEndsMs: number | null;
  readonly failures: number;
  readonly failingSinceMs: number | null;
}

/** False where the claim is lost. The lease lasts anew. */
export async function holdClaim(tx: Queries, { id, fence }: WebhookClaim, leaseMs: number): Promise<boolean> {
  const { count } = await tx`
    update webhook set lease_ends_at = clock_timestamp() + ${leaseMs}::int * interval '1 ms'
    where id = ${id} and fence = ${fence} and disabled_at_ms is null`;
  return count > 0;
}

/** The oldest of those that hold up others, or one that has stepped aside and is due; its try counts from now on. Null where none is due. */
export async function beginTry(tx: Queries, id: WebhookId, nowMs: number): Promise<DueDelivery | null> {
  const [row] = await tx<DueDelivery[]>`
    update webhook_delivery d
    set tries = tries + 1, round_tries = round_tries + 1, first_try_ms = coalesce(first_try_ms, ${nowMs})
    from webhook w
    where w.id = d.webhook_id and d.id = (
      select id from webhook_delivery
      where webhook_id = ${id} and status = 'pending' and next_try_ms <= ${nowMs} and (
        is_deferred
        or number = (select min(number) from webhook_delivery where webhook_id = ${id} and status = 'pending' and not is_deferred)
      )
      order by next_try_ms, number limit 1
    )
    returning d.id, d.body, d.tries, d.round_tries as "roundTries", d.first_try_ms as "firstTryMs", d.is_deferred as "isDeferred",
      w.url, w.secret, w.old_secret as "oldSecret", w.old_secret_ends_ms as "oldSecretEndsMs", w.failures,
      w.failing_since_ms as "failingSinceMs"`;
  return row ?? null;
}

/** The try did not take place. */
export async function takeTryBack(tx: Queries, id: WebhookId, deliveryId: DeliveryId, dueMs: number): Promise<void> {
  await tx`update webhook_delivery set tries = tries - 1, round_tries = round_tries - 1 where id = ${deliveryId}`;
  await tx`update webhook set due_ms = ${dueMs}, lease_ends_at = null where id = ${id}`;
}

/** Gives the claim back until the next of its deliveries is due. */
export async function rest(tx: Queries, id: WebhookId): Promise<void> {
  await tx`
    update webhook set lease_ends_at = null, due_ms = (
      select min(next_try_ms) from webhook_delivery
      where webhook_id = ${id} and status = 'pending' and (
        is_deferred
        or number = (select min(number) from webhook_delivery where webhook_id = ${id} and status = 'pending' and not is_deferred)
      )
    )
    where id = ${id}`;
}

export interface TryRecord {
  readonly atMs: number;
  readonly durationMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly status: number | null;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string;
  readonly error: string | null;
}

export async function insertTry(tx: Queries, deliveryId: DeliveryId, number: number, record: TryRecord): Promise<void> {
  const { atMs, durationMs, requestHeaders, status, responseHeaders, responseBody, error } = record;
  await tx`
    insert into webhook_try (
      delivery_id, number, at_ms, duration_ms, request_headers, response_status, response_headers, response_body, error)
    values (${deliveryId}, ${number}, ${atMs}, ${durationMs}, ${tx.json(requestHeaders as JSONValue)}, ${status},
      ${tx.json(responseHeaders as JSONValue)}, ${responseBody}, ${error})
    on conflict do nothing`;
}

export async function writeAfterTry(
  tx: Queries,
  claim: Pick<WebhookClaim, 'id'>,
  deliveryId: DeliveryId,
  record: TryRecord,
  after: AfterTry,
  nowMs: number,
): Promise<void> {
  await tx`
    update webhook_delivery set status = ${after.status}, next_try_ms = ${after.nextTryMs}, is_deferred = ${after.isDeferred},
      finished_at_ms = ${after.status === 'pending' ? null : nowMs}, response_status = ${record.status}, error = ${record.error}
    where id = ${deliveryId}`;
  await tx`
    update webhook set failures = ${after.failures}, failing_since_ms = ${after.failingSinceMs}, due_ms = ${after.dueMs}
    where id = ${claim.id}`;
}

/** It is sent no more. What waits goes on when it is turned on again. Answers its URL; null where it is gone. */
export async function disable(tx: Queries, id: WebhookId, reason: DisabledReason, nowMs: number): Promise<string | null> {
  const [row] = await tx<{ url: string }[]>`
    update webhook set disabled_reason = ${reason}, disabled_at_ms = ${nowMs}, updated_at_ms = greatest(updated_at_ms + 1, ${nowMs}),
      lease_ends_at = null
    where id = ${id} returning url`;
  await tx`delete from webhook_event where webhook_id = ${id}`;
  return row?.url ?? null;
}
