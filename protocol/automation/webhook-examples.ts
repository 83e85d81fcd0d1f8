/** Examples of webhooks. */
import { AT, EXAMPLE_IDS } from '../core/example.ts';

const one = { params: { webhookId: EXAMPLE_IDS.webhook } };
const oneDelivery = { params: { ...one.params, deliveryId: EXAMPLE_IDS.delivery } };

const wanted = {
  url: 'https://hooks.example.com/easel',
  events: ['data.changed', 'comment.added'],
  artifact_id: EXAMPLE_IDS.artifact,
  description: 'Tells the team',
} as const;

const webhook = {
  ...wanted,
  events: [...wanted.events],
  id: EXAMPLE_IDS.webhook,
  workspace_id: null,
  enabled: true,
  disabled_reason: null,
  disabled_at: null,
  created_by: EXAMPLE_IDS.user,
  created_at: AT,
  updated_at: AT,
  old_secret_until: null,
  failing_since: null,
  next_try_at: null,
} as const;
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

export const webhookExamples = {
  'webhooks.list': { query: { artifact_id: EXAMPLE_IDS.artifact, limit: '5' } },
  'webhooks.create': { body: wanted, reply: { webhook, secret } },
  'webhooks.get': one,
  'webhooks.update': { ...one, body: { enabled: true } },
  'webhooks.delete': one,
  'webhooks.rotate': one,
  'webhooks.test': one,
  'webhooks.deliveries': { ...one, query: { status: 'failed', limit: '5' } },
  'webhooks.delivery': oneDelivery,
  'webhooks.redeliver': oneDelivery,
} as const;
