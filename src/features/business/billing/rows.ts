/** The SQL of what a workspace has at the payment provider, as it was seen last. */

import type { SubscriptionStatus } from '../../../../protocol/business/billing.ts';
import { PLANS, type PlanId } from '../../../../protocol/business/billing-plans.ts';
import type { WorkspaceRole } from '../../../../protocol/core/endpoint.ts';
import type { SubscriptionId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';
import type { Mirrored, WorkspacePlan } from './rules.ts';

export interface Payer {
  readonly role: WorkspaceRole;
  readonly is_manager: boolean;
}

/** The best role of a person in a workspace that is not deleted, and whether any of their accounts manages what it pays; null for strangers. */
export async function readPayer(sql: Queries, workspaceId: WorkspaceId, accounts: Accounts): Promise<Payer | null> {
  const [row] = await sql<Payer[]>`
    select (array_agg(m.role order by array_position(array['owner', 'admin', 'member'], m.role)))[1] as role,
      bool_or(m.billing_manager) as is_manager
    from workspace_member m join workspace w on w.id = m.workspace_id
    where m.workspace_id = ${workspaceId} and m.user_id = any(${accounts as UserId[]}) and w.deleted_at_ms is null
    group by m.workspace_id`;
  return row ?? null;
}

export interface BillingPerson {
  readonly user_id: UserId;
  readonly email: string | null;
  readonly locale: unknown;
}

/** Who is told about payments: owners and billing managers, the first that joined first, bounded. */
export function listBillingPeople(sql: Queries, workspaceId: WorkspaceId, rowsMax: number): Promise<BillingPerson[]> {
  return sql<BillingPerson[]>`
    select m.user_id, a.email, a.metadata -> 'locale' as locale from workspace_member m join account a on a.id = m.user_id
    where m.workspace_id = ${workspaceId} and (m.role = 'owner' or m.billing_manager) order by m.joined_at_ms, m.user_id limit ${rowsMax}`;
}

export interface PaidWorkspace {
  readonly id: WorkspaceId;
  readonly name: string;
  readonly slug: string;
  readonly locale: string;
  readonly plan_tier: Tier;
  readonly plan_status: SubscriptionStatus;
  readonly is_deleted: boolean;
}

/** Also where it is deleted: what it pays has to end then. */
export async function lockPaidWorkspace(tx: Queries, id: WorkspaceId): Promise<PaidWorkspace | null> {
  const [row] = await tx<PaidWorkspace[]>`
    select id, name, slug, locale, plan_tier, plan_status, deleted_at_ms is not null as is_deleted from workspace where id = ${id} for update`;
  return row ?? null;
}

const PAID_BY_SEATS = Object.values(PLANS).flatMap(({ id, per_seat }) => (per_seat ? [id] : []));

/** The seats that a workspace pays for, or has for its trial; null where nothing is paid by seats. */
export async function readPaidSeats(tx: Queries, id: WorkspaceId): Promise<number | null> {
  const [row] = await tx<{ seats: number | null }[]>`
    select max(seats) as seats from billing_subscription
    where workspace_id = ${id} and status in ('trialing', 'active', 'past_due') and plan_id = any(${PAID_BY_SEATS}::text[])`;
  return row?.seats ?? null;
}

export async function writeWorkspacePlan(tx: Queries, id: WorkspaceId, { tier, status }: WorkspacePlan, nowMs: number): Promise<void> {
  await tx`
    update workspace set plan_tier = ${tier}, plan_status = ${status}, updated_at_ms = greatest(${nowMs}, updated_at_ms + 1) where id = ${id}`;
}

export interface CustomerRow {
  readonly workspace_id: WorkspaceId;
  readonly provider: string;
  readonly ref: string;
  readonly base_tier: Tier;
  readonly look_no: number;
  readonly seen_no: number;
  /** What was paid and is not used yet. */
  readonly credit_cents: number;
}

export async function readCustomer(sql: Queries, workspaceId: WorkspaceId, provider: string): Promise<CustomerRow | null> {
  const [row] = await sql<CustomerRow[]>`
    select workspace_id, provider, ref, base_tier, look_no, seen_no, credit_cents from billing_customer
    where workspace_id = ${workspaceId} and provider = ${provider}`;
  return row ?? null;
}

/** The tier that the workspace has without a subscription, as it was before the first one of any provider; null where there was none. */
export async function readBaseTier(sql: Queries, workspaceId: WorkspaceId): Promise<Tier | null> {
  const [row] = await sql<{ base_tier: Tier }[]>`
    select base_tier from billing_customer where workspace_id = ${workspaceId} order by created_at_ms, provider limit 1`;
  return row?.base_tier ?? null;
}

export async function replaceCustomer(tx: Queries, workspaceId: WorkspaceId, provider: string, ref: string): Promise<void> {
  await tx`update billing_customer set ref = ${ref} where workspace_id = ${workspaceId} and provider = ${provider}`;
}

/** The first stays, where a call was repeated. */
export async function insertCustomer(
  tx: Queries,
  {
    workspaceId,
    provider,
    ref,
    baseTier,
    nowMs,
  }: { workspaceId: WorkspaceId; provider: string; ref: string; baseTier: Tier; nowMs: number },
): Promise<void> {
  await tx`
    insert into billing_customer (workspace_id, provider, ref, base_tier, looked_at_ms, created_at_ms)
    values (${workspaceId}, ${provider}, ${ref}, ${baseTier}, ${nowMs}, ${nowMs}) on conflict do nothing`;
}

export async function readWorkspaceOf(sql: Queries, provider: string, ref: string): Promise<WorkspaceId | null> {
  const [row] = await sql<{ workspace_id: WorkspaceId }[]>`
    select workspace_id from billing_customer where provider = ${provider} and ref = ${ref}`;
  return row?.workspace_id ?? null;
}

/** The number of a look that begins now; null where the customer is unknown. */
export async function beginLook(sql: Queries, workspaceId: WorkspaceId, provider: string): Promise<number | null> {
  const [row] = await sql<{ look_no: number }[]>`
    update billing_customer set look_no = look_no + 1 where workspace_id = ${workspaceId} and provider = ${provider} returning look_no`;
  return row?.look_no ?? null;
}

/** Something has changed there. Null where the customer is unknown. */
export async function wantLook(sql: Queries, provider: string, ref: string): Promise<WorkspaceId | null> {
  const [row] = await sql<{ workspace_id: WorkspaceId }[]>`
    update billing_customer set look_no = look_no + 1, look_after_ms = 0 where provider = ${provider} and ref = ${ref} returning workspace_id`;
  return row?.workspace_id ?? null;
}

export async function writeSeen(
  tx: Queries,
  workspaceId: WorkspaceId,
  provider: string,
  { lookNo, creditCents, nowMs }: { readonly lookNo: number; readonly creditCents: number; readonly nowMs: number },
): Promise<void> {
  await tx`
    update billing_customer set seen_no = ${lookNo}, credit_cents = ${creditCents}, looked_at_ms = ${nowMs}, look_after_ms = 0
    where workspace_id = ${workspaceId} and provider = ${provider}`;
}

/**
 * Claims customers to look at until `untilMs`: where something has changed, where nothing was seen for long, and where a trial, a period or a
 * kept plan has ended since.
 */
export async function claimLooks(
  sql: Queries,
  {
    provider,
    nowMs,
    unseenSinceMs,
    untilMs,
    rowsMax,
  }: { provider: string; nowMs: number; unseenSinceMs: number; untilMs: number; rowsMax: number },
): Promise<WorkspaceId[]> {
  const rows = await sql<{ workspace_id: WorkspaceId }[]>`
    update billing_customer set look_after_ms = ${untilMs}
    where (workspace_id, provider) in (
      select c.workspace_id, c.provider from billing_customer c
      where c.provider = ${provider} and c.look_after_ms <= ${nowMs} and (c.look_no > c.seen_no or exists (
        select from billing_subscription s where s.workspace_id = c.workspace_id and s.provider = c.provider and s.status <> 'canceled' and (
          c.looked_at_ms <= ${unseenSinceMs}
          or (s.trial_ends_at_ms > c.looked_at_ms and s.trial_ends_at_ms <= ${nowMs})
          or (s.period_ends_at_ms > c.looked_at_ms and s.period_ends_at_ms <= ${nowMs})
          or (s.kept_until_ms > c.looked_at_ms and s.kept_until_ms <= ${nowMs}))))
      order by c.looked_at_ms, c.workspace_id limit ${rowsMax} for update skip locked)
    returning workspace_id`;
  return rows.map(({ workspace_id }) => workspace_id);
}

interface KeptColumns {
  readonly keptPlanId: PlanId | null;
  readonly keptSeats: number | null;
  readonly keptUntilMs: number | null;
}

/** A subscription with whose workspace it is. */
export interface SubscriptionRow extends Mirrored {
  readonly workspaceId: WorkspaceId;
}

export function subscriptionColumns(sql: Queries) {
  return sql`
    s.id, s.workspace_id as "workspaceId", s.ref, s.status, s.plan_id as "planId", s.seats, s.kept_plan_id as "keptPlanId",
    s.kept_seats as "keptSeats", s.kept_until_ms as "keptUntilMs", s.trial_ends_at_ms as "trialEndsAtMs",
    s.period_ends_at_ms as "periodEndsAtMs", s.cancel_at_period_end as "cancelAtPeriodEnd", s.action_url as "actionUrl",
    s.past_due_since_ms as "pastDueSinceMs", s.dunning_sent as "dunningSent", s.canceled_at_ms as "canceledAtMs",
    s.created_at_ms as "createdAtMs"`;
}

export function whole({ keptPlanId, keptSeats, keptUntilMs, ...row }: Omit<SubscriptionRow, 'kept'> & KeptColumns): SubscriptionRow {
  const kept =
    keptPlanId === null || keptSeats === null || keptUntilMs === null
      ? null
      : { planId: keptPlanId, seats: keptSeats, untilMs: keptUntilMs };
  return { ...row, kept };
}

export type Stored = Omit<SubscriptionRow, 'kept'> & KeptColumns;

/** The one that runs, else the last one; null where there was none. */
export async function readSubscription(sql: Queries, workspaceId: WorkspaceId, provider: string): Promise<SubscriptionRow | null> {
  const [row] = await sql<Stored[]>`
    select ${subscriptionColumns(sql)} from billing_subscription s where s.workspace_id = ${workspaceId} and s.provider = ${provider}
    order by (s.status <> 'canceled') desc, s.created_at_ms desc, s.id limit 1`;
  return row === undefined ? null : whole(row);
}

export async function readSubscriptionById(sql: Queries, id: SubscriptionId, provider: string): Promise<SubscriptionRow | null> {
  const [row] = await sql<Stored[]>`
    select ${subscriptionColumns(sql)} from billing_subscription s where s.id = ${id} and s.provider = ${provider}`;
  return row === undefined ? null : whole(row);
}

export async function readSubscriptionByRef(sql: Queries, provider: string, ref: string): Promise<SubscriptionRow | null> {
  const [row] = await sql<Stored[]>`
    select ${subscriptionColumns(sql)} from billing_subscription s where s.ref = ${ref} and s.provider = ${provider}`;
  return row === undefined ? null : whole(row);
}

export async function putSubscription(tx: Queries, workspaceId: WorkspaceId, provider: string, next: Mirrored): Promise<void> {
  await tx`
    insert into billing_subscription (
      id, workspace_id, provider, ref, status, plan_id, seats, kept_plan_id, kept_seats, kept_until_ms, trial_ends_at_ms, period_ends_at_ms,
      cancel_at_period_end, action_url, past_due_since_ms, dunning_sent, canceled_at_ms, created_at_ms)
    values (
      ${next.id}, ${workspaceId}, ${provider}, ${next.ref}, ${next.status}, ${next.planId}, ${next.seats}, ${next.kept?.planId ?? null},
      ${next.kept?.seats ?? null}, ${next.kept?.untilMs ?? null}, ${next.trialEndsAtMs}, ${next.periodEndsAtMs}, ${next.cancelAtPeriodEnd},
      ${next.actionUrl}, ${next.pastDueSinceMs}, ${next.dunningSent}, ${next.canceledAtMs}, ${next.createdAtMs})
    on conflict (id) do update set status = excluded.status, plan_id = excluded.plan_id, seats = excluded.seats,
      kept_plan_id = excluded.kept_plan_id, kept_seats = excluded.kept_seats, kept_until_ms = excluded.kept_until_ms,
      trial_ends_at_ms = excluded.trial_ends_at_ms, period_ends_at_ms = excluded.period_ends_at_ms,
      cancel_at_period_end = excluded.cancel_at_period_end, action_url = excluded.action_url,
      past_due_since_ms = excluded.past_due_since_ms, dunning_sent = excluded.dunning_sent, canceled_at_ms = excluded.canceled_at_ms`;
}

/**
 * Unpaid ones of which the next reminder is due, or which are unpaid since `endSinceMs` and end. `reminderMs`: when each reminder is due after the
 * first refusal.
 */
export async function listUnpaid(
  sql: Queries,
  {
    provider,
    nowMs,
    endSinceMs,
    reminderMs,
    rowsMax,
  }: { provider: string; nowMs: number; endSinceMs: number; reminderMs: readonly number[]; rowsMax: number },
): Promise<SubscriptionRow[]> {
  const rows = await sql<Stored[]>`
    select ${subscriptionColumns(sql)} from billing_subscription s where s.provider = ${provider} and s.status = 'past_due' and (
      s.past_due_since_ms <= ${endSinceMs} or s.past_due_since_ms + (${reminderMs as number[]}::bigint[])[s.dunning_sent + 1] <= ${nowMs})
    order by s.past_due_since_ms, s.id limit ${rowsMax}`;
  return rows.map(whole);
}

/** Those that run though their workspace is deleted. */
export async function listOrphaned(sql: Queries, provider: string, rowsMax: number): Promise<SubscriptionRow[]> {
  const rows = await sql<Stored[]>`
    select ${subscriptionColumns(sql)} from billing_subscription s join workspace w on w.id = s.workspace_id
    where s.provider = ${provider} and s.status <> 'canceled' and w.deleted_at_ms is not null order by s.id limit ${rowsMax}`;
  return rows.map(whole);
}

/** False where another node has sent it. */
export async function noteDunning(tx: Queries, id: SubscriptionId, before: number, sent: number): Promise<boolean> {
  const { count } = await tx`
    update billing_subscription set dunning_sent = ${sent} where id = ${id} and dunning_sent = ${before} and status = 'past_due'`;
  return count > 0;
}

/** False where it was taken before. */
export async function insertEvent(
  tx: Queries,
  provider: string,
  { id, kind }: { id: string; kind: string },
  nowMs: number,
): Promise<boolean> {
  const { count } = await tx`
    insert into billing_event (provider, id, kind, received_at_ms) values (${provider}, ${id}, ${kind}, ${nowMs}) on conflict do nothing`;
  return count > 0;
}

export async function deleteOldEvents(sql: Queries, receivedBeforeMs: number): Promise<number> {
  return (await sql`delete from billing_event where received_at_ms <= ${receivedBeforeMs}`).count;
}
