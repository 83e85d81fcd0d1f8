/** What waits, fails or runs in the whole installation: mail, deliveries of webhooks, runs of jobs, orders to the payment provider. */
import { z } from 'zod';
import { webhookDelivery, webhookDeliveryStatus } from '../automation/webhooks.ts';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { instanceAdmin, q } from './access.ts';

const count = z.number().int();
export const mailState = z.enum(['queued', 'failed', 'suppressed', 'sent']);

/** A mail in the outbox. Its text is not shown. */
export const instanceMail = z.object({
  id: idSchema('mail'),
  recipient: z.string(),
  subject: z.string(),
  kind: z.string(),
  artifact_id: idSchema('artifact').nullable(),
  state: mailState,
  attempts: count,
  failure: z.string().nullable().meta({ description: 'what the mail server said last' }),
  next_attempt_at: dateTime.nullable(),
  sent_at: dateTime.nullable(),
  created_at: dateTime,
});

export const instanceDelivery = webhookDelivery.extend({
  host: z.string().meta({ description: 'of the address, which is not shown whole because it may hold a secret' }),
  artifact_id: idSchema('artifact').nullable(),
  workspace_id: idSchema('workspace').nullable(),
  user_id: idSchema('user').meta({ description: 'who stands for the webhook' }),
});

export const instanceRun = z.object({
  id: idSchema('run').nullable().meta({ description: 'null for a job that is due next' }),
  job_id: idSchema('job'),
  artifact_id: idSchema('artifact'),
  user_id: idSchema('user').meta({ description: 'in whose name it runs' }),
  title: z.string(),
  action: z.string(),
  state: z.enum(['queued', 'running', 'failed', 'next']),
  at: dateTime.meta({ description: 'when it began, failed, was queued or is due' }),
  error: z.string().nullable(),
});

export const instancePayment = z.object({
  id: z.string(),
  workspace_id: idSchema('workspace'),
  provider: z.string(),
  kind: z.string().meta({ description: 'subscribe, change, cancel, resume, card, default, detach or checkout' }),
  state: z.enum(['open', 'done', 'failed', 'unknown']).meta({
    description:
      '`unknown`: nobody has learned whether the provider has made it, and it is not made again. Look at the customer there; what it has is shown to the workspace in any case',
  }),
  failure: z.string().nullable().meta({ description: 'the code of the error' }),
  tries: count,
  user_id: idSchema('user').nullable().meta({ description: 'who asked; null where the service did it by itself' }),
  created_at: dateTime,
  finished_at: dateTime.nullable(),
});

const ofMail = z.object({ mailId: idSchema('mail') });
const ofDelivery = z.object({ deliveryId: idSchema('delivery') });

export const instanceQueues = {
  'instanceMails.list': endpoint({
    method: 'GET',
    path: '/v1/admin/mails',
    group: 'instance',
    summary: 'The mail outbox, newest first, without the texts.',
    access: instanceAdmin,
    limit: 'adminCalls',
    query: z.object({
      ...pageQuery,
      q: q.meta({ description: 'a part of the address or the subject' }),
      state: mailState.optional(),
    }),
    replies: { ok: { status: 200, body: z.object({ mails: z.array(instanceMail), ...pageReply }) } },
    errors: [],
  }),
  'instanceMails.retry': endpoint({
    method: 'POST',
    path: '/v1/admin/mails/{mailId}/retry',
    group: 'instance',
    summary: 'Sends a mail that waits or was given up as soon as possible. One that was suppressed stays so.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofMail,
    replies: { accepted: { status: 202, body: instanceMail } },
    errors: ['MAIL_NOT_FOUND', 'MAIL_ENDED'],
  }),
  'instanceMails.drop': endpoint({
    method: 'DELETE',
    path: '/v1/admin/mails/{mailId}',
    group: 'instance',
    summary: 'Takes a mail that waits or was given up out of the outbox.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofMail,
    replies: { ok: { status: 200, body: success } },
    errors: ['MAIL_NOT_FOUND', 'MAIL_ENDED'],
  }),
  'instanceDeliveries.list': endpoint({
    method: 'GET',
    path: '/v1/admin/deliveries',
    group: 'instance',
    summary: 'Deliveries of all webhooks, newest first: the failed ones unless a status is named.',
    access: instanceAdmin,
    limit: 'adminCalls',
    query: z.object({
      ...pageQuery,
      q: q.meta({ description: 'a part of the address of the webhook' }),
      status: webhookDeliveryStatus.default('failed'),
    }),
    replies: { ok: { status: 200, body: z.object({ deliveries: z.array(instanceDelivery), ...pageReply }) } },
    errors: [],
  }),
  'instanceDeliveries.redeliver': endpoint({
    method: 'POST',
    path: '/v1/admin/deliveries/{deliveryId}/redeliver',
    group: 'instance',
    summary: 'Sends a delivery again as soon as possible, with the same id, number and body.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofDelivery,
    replies: { accepted: { status: 202, body: instanceDelivery } },
    errors: ['DELIVERY_NOT_FOUND', 'WEBHOOK_DISABLED'],
  }),
  'instancePayments.list': endpoint({
    method: 'GET',
    path: '/v1/admin/billing-operations',
    group: 'instance',
    summary: 'Orders to the payment provider, newest first: those that are under way, and how the others ended.',
    access: instanceAdmin,
    limit: 'adminCalls',
    query: z.object({
      ...pageQuery,
      q: q.meta({ description: 'the id of a workspace' }),
      state: instancePayment.shape.state.optional(),
    }),
    replies: { ok: { status: 200, body: z.object({ operations: z.array(instancePayment), ...pageReply }) } },
    errors: [],
  }),
  'instanceRuns.list': endpoint({
    method: 'GET',
    path: '/v1/admin/jobs',
    group: 'instance',
    summary: 'Runs of all jobs: those that run, that wait or that failed, newest first, or the jobs that are due next, the soonest first.',
    access: instanceAdmin,
    limit: 'adminCalls',
    query: z.object({
      ...pageQuery,
      q: q.meta({ description: 'a part of the title' }),
      state: z.enum(['queued', 'running', 'failed', 'next']).default('running'),
    }),
    replies: { ok: { status: 200, body: z.object({ jobs: z.array(instanceRun), ...pageReply }) } },
    errors: [],
  }),
} as const;
