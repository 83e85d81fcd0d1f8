/** The SQL of `alert_event`: what each evaluation found, and what is delivered of it. */
import { randomUUID } from 'node:crypto';
import type { AlertEventId, AlertRuleId, ArtifactId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import { isSuspended } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import { isPersonSuspended } from '../../people/persons/rows.ts';

export interface EventRow {
  readonly id: AlertEventId;
  readonly rule_id: AlertRuleId;
  readonly at_ms: number;
  readonly value: number | null;
  readonly fired: boolean;
  readonly recovered: boolean;
  readonly delivery: 'none' | 'waiting' | 'delivered' | 'ended';
  readonly attempts: number;
  readonly error: string | null;
}

function columns(sql: Queries) {
  return sql`e.id, e.rule_id, e.at_ms, e.value, e.fired, e.recovered, e.delivery, e.attempts, e.error`;
}

function isListed(sql: Queries, ruleId: AlertRuleId, fired: boolean) {
  return sql`e.rule_id = ${ruleId} ${fired ? sql`and (e.fired or e.recovered)` : sql``}`;
}

/** Newest first. */
export function listEvents(sql: Queries, ruleId: AlertRuleId, fired: boolean, after: PageKey, rowsMax: number): Promise<EventRow[]> {
  return sql<EventRow[]>`
    select ${columns(sql)} from alert_event e
    where ${isListed(sql, ruleId, fired)} and e.at_ms <= ${after.number} and (e.at_ms < ${after.number} or e.id > ${after.id})
    order by e.at_ms desc, e.id limit ${rowsMax}`;
}

export async function countEvents(sql: Queries, ruleId: AlertRuleId, fired: boolean): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from alert_event e where ${isListed(sql, ruleId, fired)}`;
  return row?.total ?? 0;
}

export async function insertEvent(tx: Queries, event: EventRow): Promise<void> {
  await tx`
    insert into alert_event (id, rule_id, at_ms, value, fired, recovered, delivery, attempts, error, next_attempt_at_ms)
    values (
      ${event.id}, ${event.rule_id}, ${event.at_ms}, ${event.value}, ${event.fired}, ${event.recovered}, ${event.delivery}, ${event.attempts},
      ${event.error}, ${event.delivery === 'waiting' ? event.at_ms : null})`;
}

/** Nothing more is sent of what waits, as far as no delivery is under way. */
export async function endWaiting(tx: Queries, ruleId: AlertRuleId, reason: string): Promise<void> {
  await tx`
    update alert_event set delivery = 'ended', error = ${reason}, next_attempt_at_ms = null
    where rule_id = ${ruleId} and delivery = 'waiting' and (lease_ends_at is null or lease_ends_at < clock_timestamp())`;
}

export interface DeliveryClaim extends EventRow {
  readonly artifact_id: ArtifactId;
  readonly token: string;
}

export interface DeliveryBounds {
  readonly eventsMax: number;
  readonly perArtifactMax: number;
  readonly leaseMs: number;
  /** Artifacts with as many deliveries under way as they may have. */
  readonly busy: readonly ArtifactId[];
}

const CANDIDATES = 512;

/**
 * Takes events whose delivery is due. Those of one rule go out one after the other, in their order. What is suspended, or whose maker is, waits
 * until that is lifted.
 */
export async function claimDeliveries(sql: Queries, nowMs: number, bounds: DeliveryBounds): Promise<DeliveryClaim[]> {
  const { eventsMax, perArtifactMax, leaseMs, busy } = bounds;
  const token = randomUUID();
  const rows = await sql<(EventRow & { readonly artifact_id: ArtifactId })[]>`
    with first as materialized (
      select f.id, f.next_attempt_at_ms, r.artifact_id from alert_event f join alert_rule r on r.id = f.rule_id
      where f.next_attempt_at_ms <= ${nowMs} and (f.lease_ends_at is null or f.lease_ends_at < clock_timestamp()) and r.artifact_id <> all(${busy as ArtifactId[]}::text[])
        and not exists (select from artifact a where a.id = r.artifact_id and ${isSuspended(sql)})
        and not exists (select from account a where a.id = r.created_by and ${isPersonSuspended(sql)})
        and not exists (
          select from alert_event p where p.rule_id = f.rule_id and p.delivery = 'waiting' and (p.at_ms, p.id) < (f.at_ms, f.id))
      order by f.next_attempt_at_ms limit ${CANDIDATES}
    ), ranked as materialized (
      select id, artifact_id, next_attempt_at_ms, row_number() over (partition by artifact_id order by next_attempt_at_ms, id) as place from first
    ), taken as (
      select e.id, k.artifact_id from alert_event e join ranked k on k.id = e.id
      where k.id in (select id from ranked where place <= ${perArtifactMax} order by next_attempt_at_ms, id limit ${eventsMax})
        and e.next_attempt_at_ms <= ${nowMs} and (e.lease_ends_at is null or e.lease_ends_at < clock_timestamp())
      for update of e skip locked
    )
    update alert_event e set
      lease_token = ${token}, lease_ends_at = clock_timestamp() + ${leaseMs} * interval '1 ms', attempts = e.attempts + 1
    from taken where e.id = taken.id
    returning ${columns(sql)}, taken.artifact_id`;
  return rows.map((row) => ({ ...row, token }));
}

/** False where somebody else delivers it by now. */
export async function markDelivered(tx: Queries, { id, token }: DeliveryClaim): Promise<boolean> {
  const marked = await tx`
    update alert_event set delivery = 'delivered', error = null, next_attempt_at_ms = null, lease_token = null, lease_ends_at = null
    where id = ${id} and lease_token = ${token} and delivery = 'waiting'`;
  return marked.count > 0;
}

/** Tried again at `againAtMs`; null ends it. What fired is not told any more once the rule has recovered or is switched off. */
export async function markFailed(tx: Queries, { id, token }: DeliveryClaim, error: string, againAtMs: number | null): Promise<void> {
  await tx`
    update alert_event e set
      delivery = case when o.over then 'ended' else 'waiting' end, error = ${error},
      next_attempt_at_ms = case when o.over then null else ${againAtMs}::bigint end, lease_token = null, lease_ends_at = null
    from alert_event own join alert_rule r on r.id = own.rule_id cross join lateral (
      select ${againAtMs}::bigint is null or not r.enabled
        or exists (select from alert_event l where l.rule_id = own.rule_id and l.recovered and l.at_ms > own.at_ms) as over
    ) o
    where own.id = e.id and e.id = ${id} and e.lease_token = ${token} and e.delivery = 'waiting'`;
}

/** Answers how many it has removed: old ones, and those beyond the most that are kept of one rule. */
export async function deleteOldEvents(sql: Queries, beforeMs: number, keptMax: number): Promise<number> {
  const old = await sql`delete from alert_event where at_ms <= ${beforeMs}`;
  const beyond = await sql`
    delete from alert_event e using (
      select r.id, edge.at_ms from alert_rule r cross join lateral (
        select k.at_ms from alert_event k where k.rule_id = r.id order by k.at_ms desc offset ${keptMax} limit 1
      ) edge
    ) full_one
    where e.rule_id = full_one.id and e.at_ms <= full_one.at_ms`;
  return old.count + beyond.count;
}
