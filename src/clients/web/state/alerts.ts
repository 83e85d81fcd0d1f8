/** Metrics, alert rules and watches of a page. */
import { type AlertEvent, type AlertRule, api, type MetricDefinition, type MetricWatch } from '../api/client.ts';
import { pageOf, usePages } from './pages.ts';
import { changed, useLoaded } from './store.ts';

export type RuleBody = Parameters<typeof api.alerts.create>[0]['body'];
export type MetricBody = Parameters<typeof api.metrics.put>[0]['body'];
export type WatchBody = Parameters<typeof api.watches.create>[0]['body'];

/** As many as there may be. */
const METRICS_MAX = 50;

export function useRules(artifactId: string) {
  return usePages<AlertRule>(`alerts:${artifactId}`, async (cursor) => {
    const { body } = await api.alerts.list({ query: { artifact_id: artifactId, cursor } });
    return pageOf(body.alerts, body);
  });
}

export function useRule(alertId: string) {
  return useLoaded(`alert:${alertId}`, async () => {
    const { body, headers } = await api.alerts.get({ params: { alertId } });
    return { rule: body, etag: headers.get('etag') ?? undefined };
  });
}

export function useEvents(alertId: string, fired: boolean) {
  return usePages<AlertEvent>(`alert-events:${alertId}:${fired}`, async (cursor) => {
    const { body } = await api.alerts.events({ params: { alertId }, query: { cursor, ...(fired && { fired: 'true' as const }) } });
    return pageOf(body.events, body);
  });
}

export function useMetrics(artifactId: string) {
  return useLoaded<readonly MetricDefinition[]>(`metrics:${artifactId}`, async () => {
    const { body } = await api.metrics.list({ query: { artifact_id: artifactId, limit: METRICS_MAX } });
    return body.definitions;
  });
}

export function useWatches(artifactId: string) {
  return usePages<MetricWatch>(`watches:${artifactId}`, async (cursor) => {
    const { body } = await api.watches.list({ query: { artifact_id: artifactId, cursor } });
    return pageOf(body.watches, body);
  });
}

function ruleChanged(alertId?: string): void {
  changed('alerts:', ...(alertId === undefined ? [] : [`alert:${alertId}`, `alert-events:${alertId}`]));
}

export async function saveMetric(body: MetricBody): Promise<void> {
  await api.metrics.put({ body });
  changed(`metrics:${body.artifact_id}`);
}

export async function createRule(body: RuleBody): Promise<string> {
  const { id } = (await api.alerts.create({ body })).body;
  ruleChanged();
  return id;
}

export type RuleChanges = Parameters<typeof api.alerts.update>[0]['body'];

/** `etag`: of what was read; another change since then is not overwritten. */
export async function saveRule(alertId: string, body: RuleChanges, etag: string | undefined): Promise<void> {
  await api.alerts.update({ params: { alertId }, body, ...(etag !== undefined && { ifMatch: etag }) });
  ruleChanged(alertId);
}

export async function turnRule(alertId: string, enabled: boolean): Promise<void> {
  await api.alerts.update({ params: { alertId }, body: { enabled } });
  ruleChanged(alertId);
}

export async function deleteRule(alertId: string): Promise<void> {
  await api.alerts.delete({ params: { alertId } });
  ruleChanged();
}

export async function runRule(alertId: string): Promise<AlertEvent> {
  const { event } = (await api.alerts.run({ params: { alertId } })).body;
  ruleChanged(alertId);
  return event;
}

export async function createWatch(body: WatchBody): Promise<void> {
  await api.watches.create({ body });
  changed(`watches:${body.artifact_id}`);
}

export async function turnWatch({ id, artifact_id }: MetricWatch, enabled: boolean): Promise<void> {
  await api.watches.update({ params: { watchId: id }, body: { enabled } });
  changed(`watches:${artifact_id}`);
}

export async function deleteWatch({ id, artifact_id }: MetricWatch): Promise<void> {
  await api.watches.delete({ params: { watchId: id } });
  changed(`watches:${artifact_id}`);
}
