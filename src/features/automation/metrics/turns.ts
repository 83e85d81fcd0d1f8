/**
 * The SQL of `metric_turn`: what is looked at next. Any node takes a turn that is due, under a lease whose token stands for the turn as it was then:
 * a change of the rule takes the token away, and what is reported with an old one is not taken.
 */
import { randomUUID } from 'node:crypto';
import type { AlertRuleId, ArtifactId, MetricWatchId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { MetricKey } from './rows.ts';

export type TurnOf =
  | { readonly kind: 'rule'; readonly id: AlertRuleId }
  | { readonly kind: 'watch'; readonly id: MetricWatchId }
  | { readonly kind: 'metric'; readonly metricId: string };

export interface TurnPlace {
  readonly artifactId: ArtifactId;
  readonly of: TurnOf;
}

/** A turn that this node has taken. */
export interface Claim extends TurnPlace {
  readonly turnId: string;
  readonly token: string;
  /** When it was due; null for one that is switched off and was asked for. */
  readonly dueAtMs: number | null;
}

interface TurnRow {
  readonly id: string;
  readonly artifact_id: ArtifactId;
  readonly rule_id: AlertRuleId | null;
  readonly watch_id: MetricWatchId | null;
  readonly metric_id: string | null;
  readonly due_at_ms: number | null;
}

function turnIdOf({ artifactId, of }: TurnPlace): string {
  return of.kind === 'metric' ? `${artifactId}/${of.metricId}` : of.id;
}

/** Sets when it is looked at next; null for not at all. Whoever looks at it now loses the turn. */
export async function setTurn(tx: Queries, place: TurnPlace, dueAtMs: number | null): Promise<void> {
  const { artifactId, of } = place;
  await tx`
    insert into metric_turn (id, artifact_id, rule_id, watch_id, metric_id, due_at_ms)
    values (
      ${turnIdOf(place)}, ${artifactId}, ${of.kind === 'rule' ? of.id : null}, ${of.kind === 'watch' ? of.id : null},
      ${of.kind === 'metric' ? of.metricId : null}, ${dueAtMs})
    on conflict (id) do update set due_at_ms = excluded.due_at_ms, lease_token = null, lease_ends_at = null, is_hastened = false`;
}

/** A turn is locked before what it is of, by whoever changes either. */
export async function lockTurn(tx: Queries, place: TurnPlace): Promise<void> {
  await tx`select 1 from metric_turn where id = ${turnIdOf(place)} for update`;
}

/** Rows that are looked through for artifacts with turns left. */
const CANDIDATES = 512;

export interface ClaimBounds {
  readonly turnsMax: number;
  readonly perArtifactMax: number;
  readonly leaseMs: number;
  /** Artifacts with as many looks under way as they may have. */
  readonly busy: readonly ArtifactId[];
}

/** Takes turns that are due, the longest waiting first. Those whose lease has ended are due again. */
export async function claimTurns(sql: Queries, nowMs: number, bounds: ClaimBounds): Promise<Claim[]> {
  const { turnsMax, perArtifactMax, leaseMs, busy } = bounds;
  const token = randomUUID();
  const rows = await sql<TurnRow[]>`
    with first as materialized (
      select id, artifact_id, due_at_ms from metric_turn
      where due_at_ms <= ${nowMs} and (lease_ends_at is null or lease_ends_at < clock_timestamp())
        and artifact_id <> all(${busy as ArtifactId[]}::text[])
      order by due_at_ms limit ${CANDIDATES}
    ), ranked as materialized (
      select id, due_at_ms, row_number() over (partition by artifact_id order by due_at_ms, id) as place from first
    ), taken as (
      select t.id from metric_turn t
      where t.id in (select id from ranked where place <= ${perArtifactMax} order by due_at_ms, id limit ${turnsMax})
        and t.due_at_ms <= ${nowMs} and (t.lease_ends_at is null or t.lease_ends_at < clock_timestamp())
      for update skip locked
    )
    update metric_turn t set lease_token = ${token}, lease_ends_at = clock_timestamp() + ${leaseMs} * interval '1 ms', is_hastened = false
    from taken where t.id = taken.id
    returning t.id, t.artifact_id, t.rule_id, t.watch_id, t.metric_id, t.due_at_ms`;
  return rows.map((row) => claimOf(row, token));
}

/** Takes this turn, due or not. Null where it is under way. */
export async function claimTurn(sql: Queries, place: TurnPlace, leaseMs: number): Promise<Claim | null> {
  const token = randomUUID();
  const [row] = await sql<TurnRow[]>`
    update metric_turn set lease_token = ${token}, lease_ends_at = clock_timestamp() + ${leaseMs} * interval '1 ms'
    where id = ${turnIdOf(place)} and (lease_ends_at is null or lease_ends_at < clock_timestamp())
    returning id, artifact_id, rule_id, watch_id, metric_id, due_at_ms`;
  return row === undefined ? null : claimOf(row, token);
}

function claimOf(row: TurnRow, token: string): Claim {
  return { turnId: row.id, token, dueAtMs: row.due_at_ms, artifactId: row.artifact_id, of: ofRow(row) };
}

function ofRow({ rule_id, watch_id, metric_id }: TurnRow): TurnOf {
  if (rule_id !== null) return { kind: 'rule', id: rule_id };
  if (watch_id !== null) return { kind: 'watch', id: watch_id };
  if (metric_id !== null) return { kind: 'metric', metricId: metric_id };
  throw new Error('a turn is of a rule, a watch or a metric');
}

/** Ends a turn in the transaction of its result. False where somebody else has it by now: then nothing of the result counts. */
export async function endTurn(tx: Queries, { turnId, token }: Claim, nextDueAtMs: number | null): Promise<boolean> {
  const ended = await tx`
    update metric_turn set
      due_at_ms = case when is_hastened then least(due_at_ms, ${nextDueAtMs}::bigint) else ${nextDueAtMs}::bigint end,
      lease_token = null, lease_ends_at = null, is_hastened = false
    where id = ${turnId} and lease_token = ${token}`;
  return ended.count > 0;
}

/** These turns are due now, or again as soon as the look that is under way ends. Those that are switched off stay so. */
export async function hastenTurns(sql: Queries, ids: readonly string[], nowMs: number): Promise<void> {
  await sql`
    update metric_turn set due_at_ms = ${nowMs}, is_hastened = true
    where id = any(${[...ids]}::text[]) and (due_at_ms > ${nowMs} or lease_token is not null)`;
}

export function metricTurn({ artifactId, metricId }: MetricKey): TurnPlace {
  return { artifactId, of: { kind: 'metric', metricId } };
}
