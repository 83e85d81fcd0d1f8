import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { webhookHandlers } from './handlers.ts';
import { forgetDeliveries } from './look-rows.ts';
import { resealWebhooks } from './reseal.ts';
import { forgetOldSecrets } from './rows.ts';
import { WebhookSender } from './sender.ts';
import { WebhookWatch } from './watch.ts';

type Ids = keyof ReturnType<typeof webhookHandlers>;

const KEPT_MS = RETENTION['webhook deliveries'].keptMs;

export function webhooksModule(deps: ModuleDeps): Module<Ids> & { readonly webhooks: { wake(): void } } {
  const { sql, clock } = deps;
  const ending = new AbortController();
  const sender = new WebhookSender({ ...deps, onEnded: (id) => watch.ended(id) });
  const watch = new WebhookWatch({ ...deps, onMade: () => sender.wake() });
  return {
    webhooks: { wake: () => sender.wake() },
    handlers: webhookHandlers({ ...deps, wake: () => sender.wake(), ending: ending.signal }),
    sweeps: [
      { name: 'webhook deliveries', run: () => forgetDeliveries(sql, clock.nowMs() - KEPT_MS) },
      { name: 'webhook secrets', run: () => forgetOldSecrets(sql, clock.nowMs()) },
      { name: 'resealed webhooks', run: (signal) => resealWebhooks(deps, signal) },
    ],
    gauges: [
      { name: 'easel_webhook_tries_open', help: 'Deliveries of webhooks that are being tried.', read: () => sender.underWay },
      { name: 'easel_webhook_artifacts', help: 'Artifacts whose commits are watched for webhooks.', read: () => watch.subscribed },
    ],
    start: () => {
      watch.start();
      sender.wake();
    },
    close: async () => {
      ending.abort(new Error('the service stops'));
      await watch.close();
      await sender.close();
    },
  };
}
