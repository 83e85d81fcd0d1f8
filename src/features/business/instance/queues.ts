/** The endpoints of the mail outbox, of deliveries, of jobs and of orders to the payment provider of the whole installation. */
import type { z } from 'zod';
import type { instanceDelivery, instanceMail, instancePayment, instanceRun } from '../../../../protocol/business/instance-queues.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { BaseCall, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { presentDelivery } from '../../automation/webhooks/present.ts';
import { lockWebhook, wantAgain } from '../../automation/webhooks/rows.ts';
import type { Queries } from '../../deps.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { type AnyOperationRow, countAnyOperations, listAnyOperations } from '../billing/operation-rows.ts';
import { adminOf, lockAdmins } from './admins.ts';
import type { InstanceDeps } from './people.ts';
import {
  type AnyDeliveryRow,
  type AnyRunRow,
  countAnyDeliveries,
  countAnyRuns,
  countMails,
  dropMail,
  listAnyDeliveries,
  listAnyRuns,
  listMails,
  lockMail,
  type MailId,
  type MailRow,
  type RunState,
  readAnyDelivery,
  readMail,
  retryMail,
} from './queue-rows.ts';

export interface QueueDeps extends InstanceDeps {
  readonly webhooks: { wake(): void };
}

type MailIds = 'instanceMails.list' | 'instanceMails.retry' | 'instanceMails.drop';

export function instanceMailHandlers(deps: QueueDeps): Handlers<MailIds> {
  const { sql, mail } = deps;
  return {
    'instanceMails.list': async ({ query }) => {
      const filter = { q: query.q, state: query.state };
      const rows = await listMails(sql, filter, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countMails(sql, filter) } : {};
      return { reply: 'ok', body: { mails: items.map(presentMail), ...page, ...total } };
    },
    'instanceMails.retry': async (call) => {
      const row = await sql.begin((tx) => changeMail(tx, call, call.params.mailId as MailId, 'retry'));
      mail.wake();
      return { reply: 'accepted', body: presentMail(row) };
    },
    'instanceMails.drop': async (call) => {
      await sql.begin((tx) => changeMail(tx, call, call.params.mailId as MailId, 'drop'));
      return { reply: 'ok', body: { success: true } };
    },
  };
}

/** Throws MAIL_NOT_FOUND, MAIL_ENDED, ADMIN_REQUIRED. The record names no address: it outlives the mail. */
async function changeMail(tx: Queries, call: BaseCall, id: MailId, verb: 'retry' | 'drop'): Promise<MailRow> {
  await lockAdmins(tx, adminOf(call.principal).userId);
  await lockMail(tx, id);
  const before = await readMail(tx, id);
  if (before === null) throw new Failure('MAIL_NOT_FOUND');
  if (before.state === 'sent' || before.state === 'suppressed') throw new Failure('MAIL_ENDED');
  if (verb === 'retry') await retryMail(tx, id, call.nowMs);
  else await dropMail(tx, id, call.nowMs);
  await audit(tx, call, { workspaceId: null, action: `mail.${verb}`, target: { type: 'mail', id, name: before.kind }, detail: {} });
  return (await readMail(tx, id)) ?? before;
}

function presentMail(row: MailRow): z.input<typeof instanceMail> {
  const { id, recipient, subject, kind, artifact_id, state, attempts, failure } = row;
  return {
    ...{ id, recipient, subject, kind, artifact_id, state, attempts, failure },
    next_attempt_at: timeOf(row.next_attempt_at_ms),
    sent_at: timeOf(row.sent_at_ms),
    created_at: dateTime(row.created_at_ms),
  };
}

type DeliveryIds = 'instancePayments.list' | 'instanceDeliveries.list' | 'instanceDeliveries.redeliver' | 'instanceRuns.list';

export function instanceDeliveryHandlers(deps: QueueDeps): Handlers<DeliveryIds> {
  const { sql, webhooks } = deps;
  return {
    'instanceDeliveries.list': async ({ query }) => {
      const filter = { q: query.q, status: query.status };
      const rows = await listAnyDeliveries(sql, filter, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countAnyDeliveries(sql, filter) } : {};
      return { reply: 'ok', body: { deliveries: items.map(presentAnyDelivery), ...page, ...total } };
    },
    'instanceDeliveries.redeliver': async (call) => {
      const row = await sql.begin(async (tx) => {
        await lockAdmins(tx, adminOf(call.principal).userId);
        const found = await readAnyDelivery(tx, call.params.deliveryId);
        if (found === null || (await lockWebhook(tx, found.webhook_id)) === null) throw new Failure('DELIVERY_NOT_FOUND');
        const before = await readAnyDelivery(tx, found.id);
        if (before === null) throw new Failure('DELIVERY_NOT_FOUND');
        if (before.disabled_at_ms !== null) throw new Failure('WEBHOOK_DISABLED');
        await wantAgain(tx, before.webhook_id, before.id, call.nowMs);
        const target = { type: 'webhook', id: before.webhook_id, name: hostOf(before) };
        const detail = { delivery_id: before.id };
        await audit(tx, call, { workspaceId: before.workspace_id, action: 'webhook.redeliver', target, detail });
        return (await readAnyDelivery(tx, before.id)) ?? before;
      });
      webhooks.wake();
      return { reply: 'accepted', body: presentAnyDelivery(row) };
    },
    'instancePayments.list': async ({ query }) => {
      const filter = { q: query.q, state: query.state };
      const rows = await listAnyOperations(sql, filter, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id.replaceAll('-', '') }));
      const total = query.count ? { total: await countAnyOperations(sql, filter) } : {};
      return { reply: 'ok', body: { operations: items.map(presentPayment), ...page, ...total } };
    },
    'instanceRuns.list': async ({ query }) => {
      const filter = { q: query.q, state: query.state };
      const after = decodeCursor(query.cursor);
      const rows = await listAnyRuns(sql, filter, after, query.limit + 1, query.cursor === undefined);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.at_ms, id: row.key }));
      const total = query.count ? { total: await countAnyRuns(sql, filter) } : {};
      return { reply: 'ok', body: { jobs: items.map((row) => presentRun(row, query.state)), ...page, ...total } };
    },
  };
}

function presentAnyDelivery(row: AnyDeliveryRow): z.input<typeof instanceDelivery> {
  const { artifact_id, workspace_id, user_id } = row;
  return { ...presentDelivery(row), host: hostOf(row), artifact_id, workspace_id, user_id };
}

function presentPayment({ created_by, created_at_ms, finished_at_ms, ...row }: AnyOperationRow): z.input<typeof instancePayment> {
  return { ...row, user_id: created_by, created_at: dateTime(created_at_ms), finished_at: timeOf(finished_at_ms) };
}

function hostOf({ url }: Pick<AnyDeliveryRow, 'url'>): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

function presentRun(row: AnyRunRow, state: RunState): z.input<typeof instanceRun> {
  const { id, job_id, artifact_id, user_id, title, action, error } = row;
  return { id, job_id, artifact_id, user_id, title, action, state, at: dateTime(row.at_ms), error };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : dateTime(ms);
}
