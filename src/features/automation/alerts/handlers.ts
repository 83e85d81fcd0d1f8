/** The endpoints of alert rules. */
import { type ArtifactHead, decide, type Principal } from '../../../../actors/access/access.ts';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type AlertRuleId, newId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { refusalOf } from '../../../edge/refusals.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { lockRow } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import type { ModuleDeps } from '../../module.ts';
import { type AuditedCall, audit } from '../../workspaces/audit/audit.ts';
import { type Heads, requireRight } from '../metrics/access.ts';
import { requireMetric } from '../metrics/handlers.ts';
import { readSamples } from '../metrics/rows.ts';
import { LEASE_MS } from '../metrics/turn-loop.ts';
import { claimTurn, endTurn, lockTurn, setTurn, type TurnPlace } from '../metrics/turns.ts';
import { backtest } from './backtest.ts';
import { changedSpec, newSpec } from './changes.ts';
import { type EvaluationDeps, evaluate, nextDueOf } from './evaluation.ts';
import { countEvents, endWaiting, listEvents } from './event-rows.ts';
import { rehearse } from './rehearsal.ts';
import { countRules, countRulesOfPerson, deleteRule, insertRule, listRules, type RuleRow, readRule, updateRule } from './rows.ts';
import { presentEvent, presentRule, scheduleOf } from './rules.ts';

type Ids =
  | 'alerts.list'
  | 'alerts.create'
  | 'alerts.backtest'
  | 'alerts.get'
  | 'alerts.update'
  | 'alerts.delete'
  | 'alerts.run'
  | 'alerts.rehearse'
  | 'alerts.events';

export interface AlertDeps extends Pick<ModuleDeps, 'sealer'>, EvaluationDeps {
  readonly heads: Heads;
}

export function alertHandlers(deps: AlertDeps): Handlers<Ids> {
  const { sql, heads } = deps;
  return {
    'alerts.list': async ({ principal, query: { artifact_id, limit, cursor, count } }) => {
      await requireRight(heads, artifact_id, principal, 'edit');
      const rows = await listRules(sql, artifact_id, decodeCursor(cursor), limit + 1);
      const { items, page } = cutPage(rows, limit, ({ created_at_ms, id }) => ({ number: created_at_ms, id }));
      const total = count ? { total: await countRules(sql, artifact_id) } : {};
      return { reply: 'ok', body: { alerts: items.map(presentRule), ...page, ...total } };
    },
    'alerts.create': async (call) => ({ reply: 'created', body: presentRule(await create(deps, call)) }),
    'alerts.backtest': async ({ principal, body }) => {
      await requireRight(heads, body.artifact_id, principal, 'edit');
      const { op, value } = body.condition;
      const schedule = scheduleOf(body.schedule, body.timezone ?? 'UTC');
      const { artifact_id: artifactId, metric_id: metricId } = await requireMetric(sql, body.artifact_id, body.metric_id);
      const samples = await readSamples(sql, { artifactId, metricId }, 0, LIMITS.metricSamplesPerMetricMax);
      const condition = { op, threshold: value, cooldown_s: body.cooldown_seconds ?? LIMITS.alertCooldownSDefault };
      const { wouldHaveFired, evaluations, fromMs, toMs, events } = await backtest(samples, schedule, condition);
      return {
        reply: 'ok',
        body: {
          would_have_fired: wouldHaveFired,
          evaluations,
          from: fromMs === null ? null : dateTime(fromMs),
          to: toMs === null ? null : dateTime(toMs),
          events: events.map(({ at_ms, ...event }) => ({ at: dateTime(at_ms), ...event })),
        },
      };
    },
    'alerts.get': async ({ principal, params }) => {
      const { rule } = await requireRule(deps, params.alertId, principal);
      return shown(rule);
    },
    'alerts.update': async (call) => shown(await update(deps, call)),
    'alerts.delete': async (call) => {
      const { head, rule: found } = await requireRule(deps, call.params.alertId, call.principal);
      await sql.begin(async (tx) => {
        const rule = await lockedRule(tx, found, call);
        await deleteRule(tx, rule.id);
        await auditRule(tx, call, head, rule, 'delete');
      });
      return { reply: 'ok', body: { success: true } };
    },
    'alerts.run': async (call) => {
      const { rule } = await requireRule(deps, call.params.alertId, call.principal);
      return { reply: 'ok', body: await runNow(deps, rule) };
    },
    'alerts.rehearse': async ({ principal, params }) => {
      const { rule } = await requireRule(deps, params.alertId, principal);
      return { reply: 'ok', body: await rehearse(deps, rule.id) };
    },
    'alerts.events': async ({ principal, params, query: { fired, limit, cursor, count } }) => {
      const { rule } = await requireRule(deps, params.alertId, principal);
      const rows = await listEvents(sql, rule.id, fired, decodeCursor(cursor), limit + 1);
      const { items, page } = cutPage(rows, limit, ({ at_ms, id }) => ({ number: at_ms, id }));
      const total = count ? { total: await countEvents(sql, rule.id, fired) } : {};
      return { reply: 'ok', body: { events: items.map(presentEvent), ...page, ...total } };
    },
  };
}

function shown(row: RuleRow) {
  const body = presentRule(row);
  return { reply: 'ok', body, etag: bodyEtag(body) } as const;
}

interface Found {
  readonly rule: RuleRow;
  readonly head: ArtifactHead;
}

/** Throws ALERT_NOT_FOUND where the caller may not know of its artifact, FORBIDDEN and INSUFFICIENT_SCOPE. */
async function requireRule({ sql, heads }: AlertDeps, id: AlertRuleId, principal: Principal): Promise<Found> {
  const rule = await readRule(sql, id);
  const head = rule === null ? null : await heads.get(rule.artifact_id);
  const decision = decide(head, principal, 'edit', 'artifacts:publish');
  if (rule === null || head === null || decision === 'hidden') throw new Failure('ALERT_NOT_FOUND');
  if (decision !== 'allowed') throw refusalOf(decision, 'artifacts:publish');
  return { rule, head };
}

/** For a change, under its locks and the conditions of the call. The turn first, as everybody does who changes either. */
async function lockedRule(tx: Queries, found: RuleRow, call: Pick<Call, 'ifMatch' | 'ifNoneMatch' | 'refusal'>): Promise<RuleRow> {
  await lockTurn(tx, turnOf(found));
  const rule = await required(tx, found.id);
  if (call.refusal !== undefined) throw call.refusal;
  checkConditions({ etag: bodyEtag(presentRule(rule)), updatedAtMs: rule.updated_at_ms }, call);
  return rule;
}

function turnOf({ artifact_id, id }: Pick<RuleRow, 'artifact_id' | 'id'>): TurnPlace {
  return { artifactId: artifact_id, of: { kind: 'rule', id } };
}

async function create(deps: AlertDeps, call: Call<Endpoints['alerts.create']>): Promise<RuleRow> {
  const { body, principal, user, nowMs } = call;
  const head = await requireRight(deps.heads, body.artifact_id, principal, 'edit');
  const id = newId('alertRule');
  const spec = newSpec(deps.sealer, id, body);
  return deps.sql.begin(async (tx) => {
    await lockRow(tx, body.artifact_id);
    await requireMetric(tx, body.artifact_id, body.metric_id);
    await requireRoom(tx, body.artifact_id, user);
    await insertRule(tx, { id, artifactId: body.artifact_id, createdBy: user, spec, nowMs });
    await setTurn(tx, turnOf({ artifact_id: body.artifact_id, id }), nextDueOf(spec, nowMs));
    const rule = await required(tx, id);
    await auditRule(tx, call, head, rule, 'create');
    return rule;
  });
}

async function requireRoom(tx: Queries, artifactId: RuleRow['artifact_id'], user: RuleRow['created_by']): Promise<void> {
  const { alertRulesPerArtifactMax, alertRulesPerPersonMax } = LIMITS;
  if ((await countRules(tx, artifactId)) >= alertRulesPerArtifactMax) {
    throw new Failure('ALERT_LIMIT_EXCEEDED', { message: `An artifact may have ${alertRulesPerArtifactMax} alert rules.` });
  }
  if ((await countRulesOfPerson(tx, user)) >= alertRulesPerPersonMax) {
    throw new Failure('ALERT_LIMIT_EXCEEDED', { message: `A person may have ${alertRulesPerPersonMax} alert rules.` });
  }
}

async function update(deps: AlertDeps, call: Call<Endpoints['alerts.update']>): Promise<RuleRow> {
  const { body, params, nowMs } = call;
  // Before the transaction: it may have to read the head on another connection.
  const { head, rule: found } = await requireRule(deps, params.alertId, call.principal);
  return deps.sql.begin(async (tx) => {
    const before = await lockedRule(tx, found, call);
    const { spec, isAnew } = changedSpec(deps.sealer, before, body);
    if (body.metric_id !== undefined) await requireMetric(tx, before.artifact_id, body.metric_id);
    await updateRule(tx, before.id, spec, isAnew, nowMs);
    await setTurn(tx, turnOf(before), nextDueOf(spec, nowMs));
    if (!spec.enabled) await endWaiting(tx, before.id, 'The rule was switched off.');
    await auditRule(tx, call, head, before, 'update', { fields: Object.keys(body) });
    return required(tx, before.id);
  });
}

async function required(sql: Queries, id: AlertRuleId): Promise<RuleRow> {
  const rule = await readRule(sql, id);
  if (rule === null) throw new Failure('ALERT_NOT_FOUND');
  return rule;
}

/** Throws RUN_IN_PROGRESS, and UNAVAILABLE where the metric could not be read. */
async function runNow(deps: AlertDeps, rule: RuleRow) {
  const { sql, clock } = deps;
  const claim = await claimTurn(sql, turnOf(rule), LEASE_MS);
  if (claim === null) throw new Failure('RUN_IN_PROGRESS', { message: 'The rule is being evaluated.' });
  try {
    const event = await evaluate(deps, claim);
    if (event === null) throw new Failure('RUN_IN_PROGRESS', { message: 'The rule was changed meanwhile.' });
    return { event: presentEvent(event), alert: presentRule(await required(sql, rule.id)) };
  } catch (error) {
    // What failed is due as before.
    await endTurn(sql, claim, nextDueOf(rule, clock.nowMs())).catch(() => undefined);
    throw error;
  }
}

/** Where it reports to and what it reads, never its secret. */
async function auditRule(
  tx: Queries,
  by: AuditedCall,
  head: ArtifactHead,
  rule: RuleRow,
  verb: 'create' | 'update' | 'delete',
  detail: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  if (head.workspaceId === null) return;
  const target = { type: 'alert', id: rule.id, name: rule.name };
  const told = { artifact_id: rule.artifact_id, metric_id: rule.metric_id, destination: rule.destination_kind, ...detail };
  await audit(tx, by, { workspaceId: head.workspaceId, action: `alert.${verb}`, target, detail: told });
}
