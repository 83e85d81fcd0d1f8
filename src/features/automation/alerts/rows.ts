/** The SQL of `alert_rule`. */
import type { JSONValue } from 'postgres';
import type { AlertDestination, AlertOp } from '../../../../protocol/automation/alerts.ts';
import type { AlertRuleId, ArtifactId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

export interface RuleSpec {
  readonly metric_id: string;
  readonly name: string;
  readonly op: AlertOp;
  readonly threshold: number;
  readonly schedule: string;
  readonly timezone: string;
  readonly destination_kind: AlertDestination['kind'];
  /** Without the secret. */
  readonly destination: { readonly to?: readonly string[]; readonly url?: string };
  readonly sealed_secret: Buffer | null;
  readonly message: string | null;
  readonly cooldown_s: number;
  readonly notify_recovery: boolean;
  readonly enabled: boolean;
}

/** What evaluations change. */
export interface RuleState {
  readonly is_firing: boolean;
  readonly last_value: number | null;
  readonly last_value_at_ms: number | null;
  readonly last_fired_at_ms: number | null;
  readonly failures: number;
}

export interface RuleRow extends RuleSpec, RuleState {
  readonly id: AlertRuleId;
  readonly artifact_id: ArtifactId;
  readonly created_by: UserId;
  readonly disabled_reason: string | null;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  /** When it is evaluated next; null where it is switched off. */
  readonly due_at_ms: number | null;
}

function columns(sql: Queries) {
  return sql`
    r.id, r.artifact_id, r.metric_id, r.created_by, r.name, r.op, r.threshold, r.schedule, r.timezone, r.destination_kind, r.destination,
    r.sealed_secret, r.message, r.cooldown_s, r.notify_recovery, r.enabled, r.disabled_reason, r.is_firing, r.last_value, r.last_value_at_ms,
    r.last_fired_at_ms, r.failures, r.created_at_ms, r.updated_at_ms, t.due_at_ms`;
}

function joined(sql: Queries) {
  return sql`from alert_rule r left join metric_turn t on t.id = r.id`;
}

export function listRules(sql: Queries, artifactId: ArtifactId, after: PageKey, rowsMax: number): Promise<RuleRow[]> {
  return sql<RuleRow[]>`
    select ${columns(sql)} ${joined(sql)}
    where r.artifact_id = ${artifactId} and (r.created_at_ms < ${after.number} or (r.created_at_ms = ${after.number} and r.id > ${after.id}))
    order by r.created_at_ms desc, r.id limit ${rowsMax}`;
}

export async function countRules(sql: Queries, artifactId: ArtifactId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from alert_rule where artifact_id = ${artifactId}`;
  return row?.total ?? 0;
}

export async function countRulesOfMetric(sql: Queries, artifactId: ArtifactId, metricId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from alert_rule where artifact_id = ${artifactId} and metric_id = ${metricId}`;
  return row?.total ?? 0;
}

export async function countRulesOfPerson(sql: Queries, userId: UserId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from alert_rule where created_by in (
      select p.id from account p where p.person_id = (select a.person_id from account a where a.id = ${userId}))`;
  return row?.total ?? 0;
}

export async function readRule(sql: Queries, id: AlertRuleId): Promise<RuleRow | null> {
  const [row] = await sql<RuleRow[]>`select ${columns(sql)} ${joined(sql)} where r.id = ${id}`;
  return row ?? null;
}

/** Null where the artifact is of no workspace. */
export async function readWorkspaceOf(sql: Queries, artifactId: ArtifactId): Promise<WorkspaceId | null> {
  const [row] = await sql<{ workspace_id: WorkspaceId | null }[]>`select workspace_id from artifact where id = ${artifactId}`;
  return row?.workspace_id ?? null;
}

export interface NewRule {
  readonly id: AlertRuleId;
  readonly artifactId: ArtifactId;
  readonly createdBy: UserId;
  readonly spec: RuleSpec;
  readonly nowMs: number;
}

export async function insertRule(tx: Queries, { id, artifactId, createdBy, spec, nowMs }: NewRule): Promise<void> {
  await tx`
    insert into alert_rule (
      id, artifact_id, metric_id, created_by, name, op, threshold, schedule, timezone, destination_kind, destination, sealed_secret, message,
      cooldown_s, notify_recovery, enabled, created_at_ms, updated_at_ms)
    values (
      ${id}, ${artifactId}, ${spec.metric_id}, ${createdBy}, ${spec.name}, ${spec.op}, ${spec.threshold}, ${spec.schedule}, ${spec.timezone},
      ${spec.destination_kind}, ${tx.json(spec.destination as JSONValue)}, ${spec.sealed_secret}, ${spec.message}, ${spec.cooldown_s},
      ${spec.notify_recovery}, ${spec.enabled}, ${nowMs}, ${nowMs})`;
}

/** `isAnew`: what it has seen so far says nothing about the rule as it is now. A person who changes a rule takes its failures back. */
export async function updateRule(tx: Queries, id: AlertRuleId, spec: RuleSpec, isAnew: boolean, nowMs: number): Promise<void> {
  const anew = isAnew ? tx`, is_firing = false, last_value = null, last_value_at_ms = null, last_fired_at_ms = null` : tx``;
  await tx`
    update alert_rule set
      metric_id = ${spec.metric_id}, name = ${spec.name}, op = ${spec.op}, threshold = ${spec.threshold}, schedule = ${spec.schedule},
      timezone = ${spec.timezone}, destination_kind = ${spec.destination_kind}, destination = ${tx.json(spec.destination as JSONValue)},
      sealed_secret = ${spec.sealed_secret}, message = ${spec.message}, cooldown_s = ${spec.cooldown_s},
      notify_recovery = ${spec.notify_recovery}, enabled = ${spec.enabled}, disabled_reason = null, failures = 0,
      updated_at_ms = greatest(${nowMs}, updated_at_ms + 1) ${anew}
    where id = ${id}`;
}

export async function writeRuleState(tx: Queries, id: AlertRuleId, state: RuleState): Promise<void> {
  await tx`
    update alert_rule set
      is_firing = ${state.is_firing}, last_value = ${state.last_value}, last_value_at_ms = ${state.last_value_at_ms},
      last_fired_at_ms = ${state.last_fired_at_ms}, failures = ${state.failures}
    where id = ${id}`;
}

export async function disableRule(tx: Queries, id: AlertRuleId, reason: string, nowMs: number): Promise<void> {
  await tx`
    update alert_rule set enabled = false, disabled_reason = ${reason}, updated_at_ms = greatest(${nowMs}, updated_at_ms + 1) where id = ${id}`;
}

export async function deleteRule(tx: Queries, id: AlertRuleId): Promise<void> {
  await tx`delete from alert_rule where id = ${id}`;
}

/** The metric is another one from now on. */
export async function resetRulesOfMetric(tx: Queries, artifactId: ArtifactId, metricId: string): Promise<void> {
  await tx`
    update alert_rule set is_firing = false, last_value = null, last_value_at_ms = null
    where artifact_id = ${artifactId} and metric_id = ${metricId}`;
  await tx`
    update metric_turn set lease_token = null, lease_ends_at = null
    where rule_id in (select id from alert_rule where artifact_id = ${artifactId} and metric_id = ${metricId})`;
}

/** Secrets that are not sealed with the key whose seals begin with `head`. */
export function listSealedBefore(sql: Queries, head: Buffer, after: AlertRuleId, rowsMax: number) {
  return sql<{ readonly id: AlertRuleId; readonly sealed_secret: Buffer }[]>`
    select id, sealed_secret from alert_rule
    where sealed_secret is not null and substring(sealed_secret from 1 for ${head.length}::int) <> ${head} and id > ${after}
    order by id limit ${rowsMax}`;
}

/** Replaces a sealed secret, unless somebody has changed it. Whether it did. */
export async function replaceSealed(sql: Queries, id: AlertRuleId, before: Buffer, sealed: Buffer): Promise<boolean> {
  const replaced = await sql`update alert_rule set sealed_secret = ${sealed} where id = ${id} and sealed_secret = ${before}`;
  return replaced.count > 0;
}
