/** What is typed into the form of a rule, and what it becomes. */
import type { AlertRule, MetricDefinition } from '../../api/client.ts';
import type { MetricBody, RuleBody } from '../../state/alerts.ts';

export const OPS = ['gt', 'gte', 'lt', 'lte', 'eq', 'neq', 'change_pct_gt', 'change_pct_lt'] as const;
export const DESTINATIONS = ['bell', 'email', 'webhook', 'http_get'] as const;
export const SOURCES = ['table_count', 'table_aggregate', 'json_path'] as const;
export const FNS = ['sum', 'avg', 'min', 'max', 'count'] as const;

export interface RuleDraft {
  readonly name: string;
  /** Empty for a new one. */
  readonly metricId: string;
  readonly newId: string;
  readonly source: (typeof SOURCES)[number];
  readonly key: string;
  readonly path: string;
  readonly table: string;
  readonly field: string;
  readonly fn: (typeof FNS)[number];
  readonly op: (typeof OPS)[number];
  readonly value: string;
  readonly schedule: string;
  readonly destination: (typeof DESTINATIONS)[number];
  readonly to: string;
  readonly url: string;
  readonly secret: string;
  readonly message: string;
  readonly cooldownMinutes: string;
  readonly notifyRecovery: boolean;
}

export function draftOf(rule: AlertRule | undefined, metrics: readonly MetricDefinition[]): RuleDraft {
  const config = rule?.destination.config;
  return {
    name: rule?.name ?? '',
    metricId: rule?.metric_id ?? metrics[0]?.metric_id ?? '',
    newId: '',
    ...({ source: 'table_count', key: '', path: '$', table: '', field: '', fn: 'sum' } as const),
    op: rule?.condition.op ?? 'gt',
    value: rule === undefined ? '' : String(rule.condition.value),
    schedule: rule?.schedule ?? '*/15 * * * *',
    destination: rule?.destination.kind ?? 'bell',
    to: config?.to?.join(', ') ?? '',
    url: config?.url ?? '',
    secret: config?.secret ?? '',
    message: rule?.message ?? '',
    cooldownMinutes: String((rule?.cooldown_seconds ?? 3600) / 60),
    notifyRecovery: rule?.notify_recovery ?? false,
  };
}

export function metricBodyOf(artifactId: string, draft: RuleDraft): MetricBody {
  const { newId, source, key, path, table, field, fn } = draft;
  const base = { artifact_id: artifactId, metric_id: newId };
  switch (source) {
    case 'json_path':
      return { ...base, source: { kind: source, key, path } };
    case 'table_count':
      return { ...base, source: { kind: source, table } };
    case 'table_aggregate':
      return { ...base, source: { kind: source, table, field, fn } };
    default:
      return source satisfies never;
  }
}

export function ruleBodyOf(artifactId: string, draft: RuleDraft) {
  const { op, value, schedule, message, notifyRecovery } = draft;
  return {
    artifact_id: artifactId,
    metric_id: draft.metricId === '' ? draft.newId : draft.metricId,
    name: draft.name,
    condition: { op, value: Number(value) },
    schedule,
    destination: destinationOf(draft),
    message: message === '' ? null : message,
    cooldown_seconds: Math.round(Number(draft.cooldownMinutes) * 60),
    notify_recovery: notifyRecovery,
  } satisfies RuleBody;
}

function destinationOf({ destination, to, url, secret }: RuleDraft): RuleBody['destination'] {
  switch (destination) {
    case 'bell':
      return { kind: destination, config: {} };
    case 'email':
      return { kind: destination, config: { to: to.split(/[\s,;]+/).filter((address) => address !== '') } };
    case 'webhook':
      return { kind: destination, config: { url, ...(secret !== '' && { secret }) } };
    case 'http_get':
      return { kind: destination, config: { url } };
    default:
      return destination satisfies never;
  }
}
