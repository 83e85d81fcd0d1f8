/** Examples of alerts, watches and the bell. */
import { AT, EXAMPLE_IDS } from '../core/example.ts';

const artifact_id = EXAMPLE_IDS.artifact;
const ofArtifact = { query: { artifact_id } };
const one = { params: { artifactId: artifact_id, metricId: 'open_orders' } };
const rule = { params: { alertId: EXAMPLE_IDS.alertRule } };
const watch = { params: { watchId: EXAMPLE_IDS.metricWatch } };

const source = { kind: 'table_count', table: 'orders', where: { status: 'open' } };
const shownMetric = { artifact_id, metric_id: 'open_orders', name: 'Open orders', source, created_at: AT, updated_at: AT };

const compared = { metric_id: 'open_orders', condition: { op: 'gt', value: 100 }, schedule: '*/15 * * * *' };
const told = { destination: { kind: 'bell', config: {} }, message: '{{data.value}} orders are open.', cooldown_seconds: 3600 };
const shownRule = {
  id: EXAMPLE_IDS.alertRule,
  artifact_id,
  name: 'Too many open orders',
  ...compared,
  timezone: 'UTC',
  ...told,
  notify_recovery: false,
  enabled: true,
  disabled_reason: null,
  state: 'ok',
  last_value: null,
  last_fired_at: null,
  next_evaluation_at: '2026-01-05T09:45:00.000Z',
  created_at: 1767605400000,
  updated_at: AT,
};
const shownWatch = {
  id: EXAMPLE_IDS.metricWatch,
  artifact_id,
  table: 'orders',
  kind: 'sum',
  column: 'total',
  threshold_pct: 20,
  last_value: null,
  baseline: null,
  enabled: true,
  created_at: AT,
  updated_at: AT,
};

export const alertExamples = {
  'notifications.list': { query: { unread: 'true', limit: '20' } },
  'notifications.follow': {},
  'notifications.read': { body: { all: true }, reply: { read: 0, unread_count: 0 } },
  'metrics.list': ofArtifact,
  'metrics.put': { body: { artifact_id, metric_id: 'open_orders', name: 'Open orders', source }, reply: shownMetric },
  'metrics.get': one,
  'metrics.delete': one,
  'alerts.list': ofArtifact,
  'alerts.create': { body: { artifact_id, name: 'Too many open orders', ...compared, ...told } },
  'alerts.backtest': {
    body: { artifact_id, ...compared },
    reply: { would_have_fired: 0, evaluations: 0, from: null, to: null, events: [] },
  },
  'alerts.get': { ...rule, reply: shownRule },
  'alerts.update': { ...rule, body: { condition: { op: 'gte', value: 120 } } },
  'alerts.delete': rule,
  'alerts.run': rule,
  'alerts.rehearse': rule,
  'alerts.events': { ...rule, query: { fired: 'true' } },
  'watches.list': ofArtifact,
  'watches.create': { body: { artifact_id, table: 'orders', kind: 'sum', column: 'total' }, reply: { watch: shownWatch } },
  'watches.get': watch,
  'watches.update': { ...watch, body: { threshold_pct: 30 } },
  'watches.delete': watch,
} as const;
