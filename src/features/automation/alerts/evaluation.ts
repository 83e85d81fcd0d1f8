/** Evaluates a rule under its turn: reads its metric, judges, and keeps what was found in one transaction. */

import { Failure } from '../../../../protocol/core/errors.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type Locale, localeOf } from '../../../mail/templates/message.ts';
import type { Bus, Fact } from '../../../platform/bus.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { readLanguages } from '../email/rows.ts';
import { nextDue } from '../jobs/schedule.ts';
import type { MetricReader, Reading } from '../metrics/reading.ts';
import { addSample, type MetricRow, readMetric } from '../metrics/rows.ts';
import { type Claim, endTurn, setTurn } from '../metrics/turns.ts';
import { mailNotices } from '../notifications/notice-mails.ts';
import { addNotices, type NewNotice } from '../notifications/notices.ts';
import { type EventRow, endWaiting, insertEvent } from './event-rows.ts';
import { type AlertFacts, type AlertMessage, messageOf } from './message.ts';
import { disableRule, type RuleRow, readRule, writeRuleState } from './rows.ts';
import { judge, scheduleOf } from './rules.ts';

export interface EvaluationDeps extends Pick<ServiceDeps, 'sql' | 'clock' | 'config'> {
  readonly bus: Pick<Bus, 'tell'>;
  readonly reader: Pick<MetricReader, 'metric'>;
  readonly deliveries: { wake(): void };
}

export interface Subject {
  readonly rule: RuleRow;
  readonly metric: MetricRow;
  readonly artifactName: string;
}

/** Null where the rule is gone. */
export async function readSubject(sql: Queries, id: RuleRow['id']): Promise<Subject | null> {
  const rule = await readRule(sql, id);
  if (rule === null) return null;
  const metric = await readMetric(sql, rule.artifact_id, rule.metric_id);
  const [artifact] = await sql<{ name: string }[]>`select name from artifact where id = ${rule.artifact_id}`;
  return metric === null || artifact === undefined ? null : { rule, metric, artifactName: artifact.name };
}

/** The next time after now: what was missed is evaluated once. */
export function nextDueOf(
  { schedule, timezone, enabled }: Pick<RuleRow, 'schedule' | 'timezone' | 'enabled'>,
  nowMs: number,
): number | null {
  return enabled ? nextDue(scheduleOf(schedule, timezone), nowMs) : null;
}

/** Of whoever made the rule: what the rule may read is what this account may read. */
export function readFor({ reader }: Pick<EvaluationDeps, 'reader'>, { rule, metric }: Subject): Promise<Reading> {
  return reader.metric({ artifactId: rule.artifact_id, userId: rule.created_by }, metric.source);
}

/** Null where nothing was evaluated, or the turn was lost meanwhile: then nothing has changed. Rejects where the service could not read. */
export async function evaluate(deps: EvaluationDeps, claim: Claim): Promise<EventRow | null> {
  const { sql, clock, bus } = deps;
  if (claim.of.kind !== 'rule') throw new Error('this is the turn of something else');
  const subject = await readSubject(sql, claim.of.id);
  if (subject === null) return null;
  const reading = await readFor(deps, subject);
  const nowMs = clock.nowMs();
  const facts: Fact[] = [];
  const event = await sql.begin(async (tx) => {
    facts.length = 0;
    if (!(await endTurn(tx, claim, nextDueOf(subject.rule, nowMs))) || reading.kind === 'asleep') return null;
    return reading.kind === 'failed'
      ? failed(tx, deps, subject, reading.error, nowMs, facts)
      : found(tx, subject, reading.value, nowMs, facts);
  });
  for (const fact of facts) bus.tell(fact);
  if (event?.delivery === 'waiting') deps.deliveries.wake();
  return event;
}

/** A gap says nothing: neither that the condition holds nor that it does not. */
async function found(
  tx: Queries,
  { rule, metric, artifactName }: Subject,
  value: number | null,
  nowMs: number,
  facts: Fact[],
): Promise<EventRow> {
  const base = { ...NOTHING_SENT, id: newId('alertEvent'), rule_id: rule.id, at_ms: nowMs, value };
  if (value === null) {
    if (rule.failures > 0) await writeRuleState(tx, rule.id, { ...rule, failures: 0 });
    await insertEvent(tx, base);
    return base;
  }
  const { fires, recovers, memory } = judge(rule, rule, value, nowMs);
  await writeRuleState(tx, rule.id, { ...memory, last_value_at_ms: nowMs, failures: 0 });
  await addSample(tx, { artifactId: rule.artifact_id, metricId: metric.metric_id }, { at_ms: nowMs, value });
  // What has not been told yet is over.
  if (recovers) await endWaiting(tx, rule.id, 'The condition did not hold any more before this could be delivered.');
  const isTold = fires || (recovers && rule.notify_recovery);
  const isBell = rule.destination_kind === 'bell';
  const event: EventRow = {
    ...base,
    fired: fires,
    recovered: recovers,
    delivery: isTold ? (isBell ? 'delivered' : 'waiting') : 'none',
    attempts: isTold && isBell ? 1 : 0,
  };
  await insertEvent(tx, event);
  if (isTold && isBell) {
    const locale = await localeOfRule(tx, rule);
    const message = messageFor({ rule, metric, artifactName }, event, locale);
    facts.push(await addNotices(tx, [noticeOf(rule, fires ? 'alert.fired' : 'alert.recovered', message)], nowMs));
  }
  return event;
}

/** The last of several failures in a row switches the rule off and says so. */
async function failed(
  tx: Queries,
  { config }: Pick<EvaluationDeps, 'config'>,
  { rule }: Subject,
  error: string,
  nowMs: number,
  facts: Fact[],
): Promise<EventRow> {
  const event: EventRow = { ...NOTHING_SENT, id: newId('alertEvent'), rule_id: rule.id, at_ms: nowMs, value: null, error };
  const failures = rule.failures + 1;
  await writeRuleState(tx, rule.id, { ...rule, failures });
  await insertEvent(tx, event);
  if (!rule.enabled || failures < LIMITS.alertFailuresMax) return event;
  await disableRule(tx, rule.id, error, nowMs);
  await setTurn(tx, { artifactId: rule.artifact_id, of: { kind: 'rule', id: rule.id } }, null);
  await endWaiting(tx, rule.id, 'The rule was switched off.');
  const title = `The alert rule "${rule.name}" is switched off`;
  const text = `It failed ${failures} times in a row. The last time: ${error}`;
  const notices = [noticeOf(rule, 'alert.disabled', { title, text })];
  await mailNotices(tx, notices, { config, nowMs });
  facts.push(await addNotices(tx, notices, nowMs));
  return event;
}

const NOTHING_SENT = { fired: false, recovered: false, delivery: 'none', attempts: 0, error: null } as const;

function noticeOf(rule: RuleRow, kind: string, { title, text }: AlertMessage): NewNotice {
  return { userId: rule.created_by, kind, title, body: text, artifactId: rule.artifact_id, url: `/p/${rule.artifact_id}/alerts` };
}

/** What an event says, in the words of the rule. */
export function messageFor(
  { rule, metric, artifactName }: Subject,
  { at_ms, value, recovered }: { readonly at_ms: number; readonly value: number | null; readonly recovered: boolean },
  locale: Locale,
): AlertMessage {
  const facts: AlertFacts = {
    rule: rule.name,
    metric: metric.name,
    artifact: artifactName,
    op: rule.op,
    threshold: rule.threshold,
    value: value ?? 0,
    state: recovered ? 'recovered' : 'firing',
    atMs: at_ms,
  };
  return messageOf(rule.message, facts, locale);
}

/** In which language the service speaks to who made the rule. */
export async function localeOfRule(sql: Queries, { artifact_id, created_by }: RuleRow): Promise<Locale> {
  return localeOf(...(await readLanguages(sql, artifact_id, created_by)));
}

/** Throws ALERT_NOT_FOUND. */
export async function requireSubject(sql: Queries, id: RuleRow['id']): Promise<Subject> {
  const subject = await readSubject(sql, id);
  if (subject === null) throw new Failure('ALERT_NOT_FOUND');
  return subject;
}
