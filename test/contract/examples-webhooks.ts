/** Prepares what the examples of webhooks need. */
import type { TestEasel, TestUser } from '../support/easel.ts';
import { post } from '../support/requests.ts';

/** What these examples need of the world of `examples.ts`. */
interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly artifactId: string;
}

interface Arranged {
  readonly ids?: Readonly<Record<string, string>>;
}

/** Nothing listens there: a test of the webhook is answered, and not taken. */
const URL_OF_NOBODY = 'https://127.0.0.1:1/';

async function webhook({ easel, owner, artifactId }: World): Promise<{ readonly ids: { readonly webhook: string } }> {
  const body = { url: URL_OF_NOBODY, events: ['data.changed'], artifact_id: artifactId };
  const reply = await easel.fetch('/v1/webhooks', { token: owner.token, ...post(body) });
  if (!reply.ok) throw new Error(`/v1/webhooks answered ${reply.status}: ${await reply.text()}`);
  return { ids: { webhook: ((await reply.json()) as { webhook: { id: string } }).webhook.id } };
}

async function delivery(world: World): Promise<Arranged> {
  const { ids } = await webhook(world);
  const tested = await world.easel.fetch(`/v1/webhooks/${ids.webhook}/test`, { method: 'POST', token: world.owner.token });
  return { ids: { ...ids, delivery: ((await tested.json()) as { id: string }).id } };
}

export const webhookArrangements = {
  'webhooks.get': webhook,
  'webhooks.update': webhook,
  'webhooks.delete': webhook,
  'webhooks.rotate': webhook,
  'webhooks.test': webhook,
  'webhooks.deliveries': webhook,
  'webhooks.delivery': delivery,
  'webhooks.redeliver': delivery,
};
