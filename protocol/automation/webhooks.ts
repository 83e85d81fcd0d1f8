/** Outgoing webhooks. Source: contract.md §8; how a delivery is signed and verified is in deploy/webhooks. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, storedText, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull, changesTo } from '../core/round-trip.ts';

/** Of an artifact. Several changes of one thing within a second may be one event, with the last state. */
export const ARTIFACT_EVENTS = [
  'artifact.updated',
  'artifact.deleted',
  'artifact.restored',
  'version.published',
  'data.changed',
  'document.changed',
  'comment.added',
  'comment.updated',
  'comment.deleted',
] as const;
/** Of a workspace, as its audit log has them. */
export const WORKSPACE_EVENTS = [
  'artifact.created',
  'artifact.updated',
  'artifact.deleted',
  'artifact.restored',
  'version.published',
  'collaborator.changed',
  'member.invited',
  'member.added',
  'member.updated',
  'member.removed',
  'grant.changed',
  'workspace.updated',
] as const;

export const webhookEvent = z.enum([...new Set([...ARTIFACT_EVENTS, ...WORKSPACE_EVENTS])]).meta({
  description: `of an artifact: ${ARTIFACT_EVENTS.join(', ')}; of a workspace: ${WORKSPACE_EVENTS.join(', ')}`,
});
export type WebhookEvent = z.infer<typeof webhookEvent>;

export const webhookDisabledReason = z.enum(['off', 'failing', 'gone', 'access_lost']).meta({
  description:
    '`off`: somebody turned it off; `failing`: nothing was taken for a week; `gone`: its host answered 410; `access_lost`: who created it may no longer manage the artifact or the workspace',
});

export const webhook = z.object({
  id: idSchema('webhook'),
  artifact_id: idSchema('artifact').nullable(),
  workspace_id: idSchema('workspace').nullable(),
  url: z.string(),
  events: z.array(webhookEvent),
  description: z.string(),
  enabled: z.boolean(),
  disabled_reason: webhookDisabledReason.nullable(),
  disabled_at: dateTime.nullable(),
  created_by: idSchema('user').meta({ description: 'on whose access it stands: who created it, or turned it on last' }),
  created_at: dateTime,
  updated_at: dateTime,
  old_secret_until: dateTime
    .nullable()
    .meta({ description: 'until then deliveries are also signed with the secret before the last rotation' }),
  failing_since: dateTime.nullable().meta({ description: 'since then no try was taken' }),
  next_try_at: dateTime.nullable().meta({ description: 'null where nothing waits to be sent' }),
});

export const webhookDeliveryStatus = z.enum(['pending', 'delivered', 'failed']);
const deliveredEvent = z.union([webhookEvent, z.literal('webhook.test')]);

export const webhookDelivery = z.object({
  id: idSchema('delivery').meta({ description: 'the header webhook-id, the same on every try' }),
  webhook_id: idSchema('webhook'),
  number: z
    .number()
    .int()
    .meta({ description: 'rises by one with each delivery of a webhook: the receiver sees whether one is missing or late' }),
  event: deliveredEvent,
  status: webhookDeliveryStatus,
  tries: z.number().int(),
  next_try_at: dateTime.nullable(),
  created_at: dateTime,
  finished_at: dateTime.nullable(),
  response_status: z.number().int().nullable().meta({ description: 'of the last try' }),
  error: z.string().nullable().meta({ description: 'why the last try was not taken' }),
});

export const webhookTry = z.object({
  number: z.number().int(),
  at: dateTime,
  duration_ms: z.number().int(),
  request_headers: z.record(z.string(), z.string()),
  response_status: z.number().int().nullable().meta({ description: 'null where there was no answer' }),
  response_headers: z.record(z.string(), z.string()),
  response_body: z.string().meta({ description: `its first ${LIMITS.webhookAnswerBytesMax} bytes` }),
  error: z.string().nullable(),
});

export const webhookDeliveryDetail = webhookDelivery.extend({
  request_body: z.string().meta({ description: 'exactly what is sent, and signed' }),
  attempts: z.array(webhookTry),
});

const url = z
  .string()
  .max(LIMITS.connectionUrlCharsMax)
  .refine((text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, username, password } = new URL(text);
    return protocol === 'https:' && username + password === '';
  }, 'must begin with https:// and have no user or password');

const events = z
  .array(webhookEvent)
  .min(1)
  .max(webhookEvent.options.length)
  .transform((names) => [...new Set(names)]);
const description = storedText(LIMITS.webhookDescriptionCharsMax).trim();

export const newWebhook = z
  .strictObject({
    url,
    events,
    artifact_id: absentOrNull(idSchema('artifact')),
    workspace_id: absentOrNull(idSchema('workspace')),
    description: description.default(''),
  })
  .refine(
    (body) => (body.artifact_id === undefined) !== (body.workspace_id === undefined),
    'must name an artifact by artifact_id or a workspace by workspace_id',
  );

export const webhookUpdate = changesTo(webhook, {
  url: url.optional(),
  events: events.optional(),
  description: description.optional(),
  enabled: z.boolean().optional(),
}).refine((body) => Object.keys(body).length > 0, 'must change at least one field');

const person = { who: 'account', person: true } as const;
const one = z.object({ webhookId: idSchema('webhook') });
const oneDelivery = one.extend({ deliveryId: idSchema('delivery') });
const withSecret = z.object({
  webhook,
  secret: z.string().meta({ description: 'shown once; keys the signatures of deliveries' }),
});

export const webhooks = {
  'webhooks.list': endpoint({
    method: 'GET',
    path: '/v1/webhooks',
    group: 'webhooks',
    summary: 'The webhooks of an artifact or a workspace, or without either those that the caller stands for. Newest first.',
    access: person,
    limit: 'none',
    query: z.object({ artifact_id: idSchema('artifact').optional(), workspace_id: idSchema('workspace').optional(), ...pageQuery }),
    replies: { ok: { status: 200, body: z.object({ webhooks: z.array(webhook), ...pageReply }) } },
    errors: ['ARTIFACT_NOT_FOUND', 'WORKSPACE_NOT_FOUND', 'FORBIDDEN'],
  }),
  'webhooks.create': endpoint({
    method: 'POST',
    path: '/v1/webhooks',
    group: 'webhooks',
    summary:
      'Has events of an artifact (for its owner and editors) or of a workspace (for its admins) sent to an https URL, from now on. The secret is shown this once.',
    access: person,
    limit: 'webhooks',
    body: { kind: 'json', schema: newWebhook, bytesMax: LIMITS.bodyBytesMax },
    replies: { created: { status: 201, body: withSecret } },
    errors: ['ARTIFACT_NOT_FOUND', 'WORKSPACE_NOT_FOUND', 'FORBIDDEN', 'WEBHOOK_LIMIT_EXCEEDED', 'SECRETS_NOT_CONFIGURED'],
  }),
  'webhooks.get': endpoint({
    method: 'GET',
    path: '/v1/webhooks/{webhookId}',
    group: 'webhooks',
    summary: 'One webhook, without its secret.',
    access: person,
    limit: 'none',
    params: one,
    conditional: true,
    replies: { ok: { status: 200, body: webhook } },
    errors: ['WEBHOOK_NOT_FOUND'],
  }),
  'webhooks.update': endpoint({
    method: 'PATCH',
    path: '/v1/webhooks/{webhookId}',
    group: 'webhooks',
    summary:
      'Changes a webhook. What waits is tried at once. Turned off, it misses what happens; turned on again, it stands on the access of whoever did that.',
    access: person,
    limit: 'webhooks',
    params: one,
    conditional: true,
    resource: 'webhooks.get',
    body: { kind: 'json', schema: webhookUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: webhook } },
    errors: ['WEBHOOK_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'webhooks.delete': endpoint({
    method: 'DELETE',
    path: '/v1/webhooks/{webhookId}',
    group: 'webhooks',
    summary: 'Deletes a webhook with all its deliveries.',
    access: person,
    limit: 'webhooks',
    params: one,
    conditional: true,
    resource: 'webhooks.get',
    replies: { ok: { status: 200, body: success } },
    errors: ['WEBHOOK_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'webhooks.rotate': endpoint({
    method: 'POST',
    path: '/v1/webhooks/{webhookId}/rotate',
    group: 'webhooks',
    summary: 'Makes a new secret, shown this once. For 24 hours deliveries carry the signatures of both.',
    access: person,
    limit: 'webhooks',
    params: one,
    replies: { ok: { status: 200, body: withSecret } },
    errors: ['WEBHOOK_NOT_FOUND', 'SECRETS_NOT_CONFIGURED'],
  }),
  'webhooks.test': endpoint({
    method: 'POST',
    path: '/v1/webhooks/{webhookId}/test',
    group: 'webhooks',
    summary: 'Sends a delivery of the event webhook.test now, once, and tells what the host answered.',
    access: person,
    limit: 'webhooks',
    params: one,
    replies: { ok: { status: 200, body: webhookDeliveryDetail } },
    errors: ['WEBHOOK_NOT_FOUND', 'UNAVAILABLE'],
  }),
  'webhooks.deliveries': endpoint({
    method: 'GET',
    path: '/v1/webhooks/{webhookId}/deliveries',
    group: 'webhooks',
    summary: `The deliveries of a webhook, newest first: the last ${LIMITS.webhookDeliveriesKept} of ${LIMITS.webhookRetentionDays} days, and all that wait.`,
    access: person,
    limit: 'none',
    params: one,
    query: z.object({ status: webhookDeliveryStatus.optional(), ...pageQuery }),
    replies: { ok: { status: 200, body: z.object({ deliveries: z.array(webhookDelivery), ...pageReply }) } },
    errors: ['WEBHOOK_NOT_FOUND'],
  }),
  'webhooks.delivery': endpoint({
    method: 'GET',
    path: '/v1/webhooks/{webhookId}/deliveries/{deliveryId}',
    group: 'webhooks',
    summary: 'One delivery: what is sent, and what was answered to each try.',
    access: person,
    limit: 'none',
    params: oneDelivery,
    conditional: true,
    replies: { ok: { status: 200, body: webhookDeliveryDetail } },
    errors: ['WEBHOOK_NOT_FOUND', 'DELIVERY_NOT_FOUND'],
  }),
  'webhooks.redeliver': endpoint({
    method: 'POST',
    path: '/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
    group: 'webhooks',
    summary: 'Sends a delivery again as soon as possible, out of order, with the same id, number and body.',
    access: person,
    limit: 'webhooks',
    params: oneDelivery,
    replies: { accepted: { status: 202, body: webhookDelivery } },
    errors: ['WEBHOOK_NOT_FOUND', 'DELIVERY_NOT_FOUND', 'WEBHOOK_DISABLED'],
  }),
} as const;
