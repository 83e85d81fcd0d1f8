/** Webhooks and their deliveries, and the proxy's settings, each loaded under one key. */
import { api, type Webhook, type WebhookDelivery } from '../api/client.ts';
import { pageOf, usePages } from './pages.ts';
import { useLoaded } from './store.ts';

/** Of an artifact or of a workspace, by their ids. */
export type HooksOf = { readonly artifact_id: string } | { readonly workspace_id: string };

export function hooksKey(of: HooksOf): string {
  return `hooks:${'artifact_id' in of ? of.artifact_id : of.workspace_id}`;
}

export function useHooks(of: HooksOf) {
  return usePages<Webhook>(hooksKey(of), async (cursor) => {
    const { body } = await api.webhooks.list({ query: { ...of, cursor } });
    return pageOf(body.webhooks, body);
  });
}

export function useDeliveries(webhookId: string) {
  return usePages<WebhookDelivery>(`deliveries:${webhookId}`, async (cursor) => {
    const { body } = await api.webhooks.deliveries({ params: { webhookId }, query: { cursor, limit: 20 } });
    return pageOf(body.deliveries, body);
  });
}

export function useDelivery(webhookId: string, deliveryId: string) {
  return useLoaded(`deliveries:${webhookId}:${deliveryId}`, async () => {
    return (await api.webhooks.delivery({ params: { webhookId, deliveryId } })).body;
  });
}

export function useProxyConfig(artifactId: string) {
  return useLoaded(`proxy:${artifactId}`, async () => (await api.proxy.getConfig({ params: { artifactId } })).body.data);
}
