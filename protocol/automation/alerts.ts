/** Alert rules: what is compared when, and who is told. Source: spec.md "Metric alert rule", contract.md §8, §15. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema, pageQuery, pageReply, storedText, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull, changesTo } from '../core/round-trip.ts';
import { metricId } from './metrics.ts';

export const ALERT_OPS = ['gt', 'gte', 'lt', 'lte', 'eq', 'neq', 'change_pct_gt', 'change_pct_lt'] as const;
export type AlertOp = (typeof ALERT_OPS)[number];

/** What an answer shows in place of a secret. Sent back, it means that the secret stays. */
export const MASKED_SECRET = '********';

export const alertCondition = z.strictObject({
  op: z.enum(ALERT_OPS).meta({ description: 'change_pct_gt and change_pct_lt compare the change in percent since the previous value' }),
  value: z.number(),
});

const url = (scheme: RegExp, said: string) =>
  z
    .string()
    .max(LIMITS.alertUrlCharsMax)
    .refine((text) => scheme.test(text) && URL.canParse(text), `must be a URL that begins with ${said}`);

const secret = absentOrNull(
  storedText(LIMITS.alertSecretCharsMax).refine(
    (text) => text.length >= MASKED_SECRET.length,
    `must have ${MASKED_SECRET.length} characters at least`,
  ),
);

export const DESTINATION_KINDS = ['email', 'webhook', 'http_get', 'bell'] as const;

export const alertDestination = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('email'),
    config: z.strictObject({ to: z.array(z.email().max(LIMITS.emailCharsMax)).min(1).max(LIMITS.alertRecipientsMax) }),
  }),
  z.strictObject({
    kind: z.literal('webhook'),
    config: z.strictObject({
      url: url(/^https?:[/][/]/i, 'https:// or http://').meta({ description: 'gets a POST with JSON' }),
      secret: secret.meta({ description: `signs what is sent; answers show ${MASKED_SECRET}` }),
    }),
  }),
  z.strictObject({ kind: z.literal('http_get'), config: z.strictObject({ url: url(/^https?:[/][/]/i, 'https:// or http://') }) }),
  z.strictObject({ kind: z.literal('bell'), config: z.strictObject({}) }),
]);
export type AlertDestination = z.output<typeof alertDestination>;

export const destinationShown = z.object({
  kind: z.enum(DESTINATION_KINDS),
  config: z.object({ to: z.array(z.string()).optional(), url: z.string().optional(), secret: z.string().optional() }),
});

const message = storedText(LIMITS.alertMessageCharsMax).meta({
  description: 'a template with {{data.value}}, threshold, op, metric, rule, artifact, state and at',
});
const schedule = z
  .string()
  .max(LIMITS.scheduleCharsMax)
  .meta({ description: 'five fields: minute, hour, day of the month, month, day of the week' });
const timezone = z.string().max(100).meta({ description: 'a name such as Europe/Berlin' });
const cooldown = z.number().int().min(0).max(LIMITS.alertCooldownSMax);

export const alertRule = z.object({
  id: idSchema('alertRule'),
  artifact_id: idSchema('artifact'),
  metric_id: z.string(),
  name: z.string(),
  condition: alertCondition,
  schedule,
  timezone,
  destination: destinationShown,
  message: z.string().nullable(),
  cooldown_seconds: z.number().int().meta({ description: 'after an alert the rule does not alert again for so long' }),
  notify_recovery: z.boolean().meta({ description: 'whether it is also told when the condition does not hold any more' }),
  enabled: z.boolean(),
  disabled_reason: z.string().nullable().meta({ description: 'why the service has switched it off' }),
  state: z.enum(['ok', 'firing']),
  last_value: z.number().nullable(),
  last_fired_at: dateTime.nullable(),
  next_evaluation_at: dateTime.nullable(),
  created_at: z.number().int().meta({ description: 'Unix ms' }),
  updated_at: dateTime,
});

const ruleFields = {
  metric_id: metricId,
  condition: alertCondition,
  schedule,
  timezone: absentOrNull(timezone).meta({ description: 'default: UTC' }),
  message: absentOrNull(message),
  cooldown_seconds: absentOrNull(cooldown).meta({ description: `default: ${LIMITS.alertCooldownSDefault}` }),
  notify_recovery: z.boolean().default(false),
  enabled: z.boolean().default(true),
};

export const newAlertRule = z.strictObject({
  artifact_id: idSchema('artifact'),
  name: nameSchema,
  destination: alertDestination,
  ...ruleFields,
});
export type NewAlertRule = z.output<typeof newAlertRule>;

export const alertRuleUpdate = changesTo(alertRule, {
  metric_id: metricId.optional(),
  name: nameSchema.optional(),
  condition: alertCondition.optional(),
  schedule: schedule.optional(),
  timezone: timezone.optional(),
  destination: alertDestination.optional(),
  message: message.nullable().optional(),
  cooldown_seconds: cooldown.optional(),
  notify_recovery: z.boolean().optional(),
  enabled: z.boolean().optional(),
}).refine((body) => Object.keys(body).length > 0, 'must change at least one field');
export type AlertRuleUpdate = z.output<typeof alertRuleUpdate>;

/** A rule before it is saved: whom it would tell need not be decided yet. */
export const alertBacktestBody = z.strictObject({
  artifact_id: idSchema('artifact'),
  name: nameSchema.optional(),
  destination: alertDestination.optional(),
  ...ruleFields,
});

export const alertEvent = z.object({
  id: idSchema('alertEvent'),
  at: dateTime,
  value: z.number().nullable().meta({ description: 'null where the metric had no value' }),
  fired: z.boolean().meta({ description: 'the condition began to hold, and the rule alerted' }),
  recovered: z.boolean().meta({ description: 'the condition does not hold any more' }),
  delivered: z.boolean(),
  attempts: z.number().int().meta({ description: 'how often it was tried to deliver it' }),
  error: z.string().nullable(),
});

export const alertBacktest = z.object({
  would_have_fired: z.number().int(),
  evaluations: z.number().int(),
  from: dateTime.nullable().meta({ description: 'the first evaluation; null where nothing is kept of the metric' }),
  to: dateTime.nullable(),
  events: z
    .array(z.object({ at: dateTime, value: z.number(), fired: z.boolean(), recovered: z.boolean() }))
    .meta({ description: 'the last 100 at which the rule would have fired or recovered, newest first' }),
});

/** What a rehearsal answers, in the shape of jobs. Source: contract.md §15. */
export const alertRehearsal = z.object({
  value: z.number().nullable(),
  would_fire: z.boolean().meta({ description: 'whether an evaluation now would alert' }),
  would: z.object({
    write: z.array(z.object({ channel: z.string(), name: z.string(), before: z.unknown(), after: z.unknown() })),
    send: z.array(z.object({ to: z.array(z.string()), subject: z.string(), text: z.string() })),
    call: z.array(z.object({ method: z.string(), url: z.string(), body: z.string().nullable() })),
    ring: z.array(z.object({ title: z.string(), body: z.string() })),
  }),
  output: z.string().meta({ description: 'what the rule finds, in words' }),
  error: z.string().nullable(),
});

const reads = { who: 'account', scope: 'artifacts:publish' } as const;
const writes = { who: 'account', person: true } as const;
const params = z.object({ alertId: idSchema('alertRule') });
const invalid = ['INVALID_SCHEDULE'] as const;

export const alerts = {
  'alerts.list': endpoint({
    method: 'GET',
    path: '/v1/metric-alerts',
    group: 'alerts',
    summary: 'The alert rules of an artifact that the caller edits, newest first.',
    access: reads,
    limit: 'alerts',
    query: z.object({ artifact_id: idSchema('artifact'), ...pageQuery }),
    replies: { ok: { status: 200, body: z.object({ alerts: z.array(alertRule), ...pageReply }) } },
    errors: ['ARTIFACT_NOT_FOUND', 'FORBIDDEN'],
  }),
  'alerts.create': endpoint({
    method: 'POST',
    path: '/v1/metric-alerts',
    group: 'alerts',
    summary:
      'Creates a rule that compares a metric when its schedule is due, and alerts once when the condition begins to hold. It reads with the rights of its creator.',
    access: writes,
    limit: 'alerts',
    body: { kind: 'json', schema: newAlertRule, bytesMax: LIMITS.bodyBytesMax },
    replies: { created: { status: 201, body: alertRule } },
    errors: ['ARTIFACT_NOT_FOUND', 'FORBIDDEN', 'METRIC_NOT_FOUND', 'ALERT_LIMIT_EXCEEDED', ...invalid],
  }),
  'alerts.backtest': endpoint({
    method: 'POST',
    path: '/v1/metric-alerts/backtest',
    group: 'alerts',
    summary: 'How often a rule would have fired over what is kept of its metric. Nothing is saved or sent.',
    access: reads,
    limit: 'alerts',
    reads: true,
    body: { kind: 'json', schema: alertBacktestBody, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: alertBacktest } },
    errors: ['ARTIFACT_NOT_FOUND', 'FORBIDDEN', 'METRIC_NOT_FOUND', ...invalid],
  }),
  'alerts.get': endpoint({
    method: 'GET',
    path: '/v1/metric-alerts/{alertId}',
    group: 'alerts',
    summary: 'One rule. Its secret is masked.',
    access: reads,
    limit: 'alerts',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: alertRule } },
    errors: ['ALERT_NOT_FOUND', 'FORBIDDEN'],
  }),
  'alerts.update': endpoint({
    method: 'PATCH',
    path: '/v1/metric-alerts/{alertId}',
    group: 'alerts',
    summary: 'Changes a rule, or switches it on and off. Another metric or condition begins anew with the state ok.',
    access: writes,
    limit: 'alerts',
    params,
    conditional: true,
    resource: 'alerts.get',
    body: { kind: 'json', schema: alertRuleUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: alertRule } },
    errors: ['ALERT_NOT_FOUND', 'FORBIDDEN', 'METRIC_NOT_FOUND', 'VERSION_CONFLICT', ...invalid],
  }),
  'alerts.delete': endpoint({
    method: 'DELETE',
    path: '/v1/metric-alerts/{alertId}',
    group: 'alerts',
    summary: 'Deletes a rule with its history.',
    access: writes,
    limit: 'alerts',
    params,
    conditional: true,
    resource: 'alerts.get',
    replies: { ok: { status: 200, body: success } },
    errors: ['ALERT_NOT_FOUND', 'FORBIDDEN', 'VERSION_CONFLICT'],
  }),
  'alerts.run': endpoint({
    method: 'POST',
    path: '/v1/metric-alerts/{alertId}/run',
    group: 'alerts',
    summary: 'Evaluates a rule now, as when its schedule is due: it alerts where the condition begins to hold.',
    access: writes,
    limit: 'alertRuns',
    params,
    replies: { ok: { status: 200, body: z.object({ event: alertEvent, alert: alertRule }) } },
    errors: ['ALERT_NOT_FOUND', 'FORBIDDEN', 'RUN_IN_PROGRESS', 'UNAVAILABLE'],
  }),
  'alerts.rehearse': endpoint({
    method: 'POST',
    path: '/v1/metric-alerts/{alertId}/rehearse',
    group: 'alerts',
    summary: 'What a rule would send and call if its condition began to hold now. Nothing is sent, and nothing changes.',
    access: writes,
    limit: 'alertRuns',
    reads: true,
    params,
    replies: { ok: { status: 200, body: alertRehearsal } },
    errors: ['ALERT_NOT_FOUND', 'FORBIDDEN', 'UNAVAILABLE'],
  }),
  'alerts.events': endpoint({
    method: 'GET',
    path: '/v1/metric-alerts/{alertId}/events',
    group: 'alerts',
    summary: `The evaluations of a rule, newest first: those of the last ${LIMITS.alertEventsKeptDays} days, at most ${LIMITS.alertEventsPerRuleMax}.`,
    access: reads,
    limit: 'alerts',
    params,
    query: z.object({
      fired: z.stringbool().default(false).meta({ description: 'only those that fired or recovered' }),
      ...pageQuery,
    }),
    replies: { ok: { status: 200, body: z.object({ events: z.array(alertEvent), ...pageReply }) } },
    errors: ['ALERT_NOT_FOUND', 'FORBIDDEN'],
  }),
} as const;
