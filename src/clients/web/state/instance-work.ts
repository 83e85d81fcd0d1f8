/** What the installation does by itself: mail, jobs, deliveries, and exports and deletions of people's data. */
import { api, type InstanceDelivery, type InstanceMail, type InstanceRun, type PersonDeletion, type PersonExport } from '../api/client.ts';
import { pageOf, usePages } from './pages.ts';
import { changed } from './store.ts';

export type MailState = InstanceMail['state'];
export const MAIL_STATES = ['queued', 'failed', 'suppressed', 'sent'] as const satisfies readonly MailState[];

export function useInstanceMails(q: string, state: 'all' | MailState) {
  return usePages<InstanceMail>(`instance:mails:${state}:${q}`, async (cursor) => {
    const { body } = await api.instanceMails.list({ query: { q: q || undefined, cursor, ...(state !== 'all' && { state }) } });
    return pageOf(body.mails, body);
  });
}

export async function retryMail(mailId: string): Promise<void> {
  try {
    await api.instanceMails.retry({ params: { mailId } });
  } finally {
    changed('instance:mails:', 'instance:counts', 'instance:audit:');
  }
}

export async function dropMail(mailId: string): Promise<void> {
  try {
    await api.instanceMails.drop({ params: { mailId } });
  } finally {
    changed('instance:mails:', 'instance:counts', 'instance:audit:');
  }
}

export type RunState = InstanceRun['state'];
export const RUN_STATES = ['running', 'queued', 'failed', 'next'] as const satisfies readonly RunState[];

export function useInstanceRuns(q: string, state: RunState) {
  return usePages<InstanceRun>(`instance:runs:${state}:${q}`, async (cursor) => {
    const { body } = await api.instanceRuns.list({ query: { q: q || undefined, state, cursor } });
    return pageOf(body.jobs, body);
  });
}

export type DeliveryStatus = InstanceDelivery['status'];
export const DELIVERY_STATUSES = ['failed', 'pending', 'delivered'] as const satisfies readonly DeliveryStatus[];

export function useInstanceDeliveries(q: string, status: DeliveryStatus) {
  return usePages<InstanceDelivery>(`instance:deliveries:${status}:${q}`, async (cursor) => {
    const { body } = await api.instanceDeliveries.list({ query: { q: q || undefined, status, cursor } });
    return pageOf(body.deliveries, body);
  });
}

export async function redeliver(deliveryId: string): Promise<void> {
  try {
    await api.instanceDeliveries.redeliver({ params: { deliveryId } });
  } finally {
    changed('instance:deliveries:', 'instance:counts', 'instance:audit:');
  }
}

export function usePersonExports(userId?: string) {
  return usePages<PersonExport>(`instance:exports:${userId ?? ''}`, async (cursor) => {
    const { body } = await api.personData.exports({ query: { cursor, user_id: userId } });
    return pageOf(body.exports, body);
  });
}

export async function exportPerson(userId: string): Promise<void> {
  try {
    await api.personData.export({ params: { userId } });
  } finally {
    changed('instance:exports:', 'instance:audit:');
  }
}

export function usePersonDeletions() {
  return usePages<PersonDeletion>('instance:deletions', async (cursor) => {
    const { body } = await api.personData.deletions({ query: { cursor } });
    return pageOf(body.deletions, body);
  });
}

type NewDeletion = Parameters<typeof api.personData.delete>[0]['body'];

/** Answers when it begins. */
export async function deletePerson(userId: string, body: NewDeletion): Promise<string> {
  const made = (await api.personData.delete({ params: { userId }, body })).body;
  changed('instance:deletions', `instance:person:${userId}`, 'instance:people:', 'instance:audit:');
  return made.due_at;
}

export async function cancelDeletion(deletionId: string): Promise<void> {
  try {
    await api.personData.cancel({ params: { deletionId } });
  } finally {
    changed('instance:deletions', 'instance:audit:');
  }
}

const UNDER_WAY_MS = 1000;
const FOLLOW_MS_MAX = 3_600_000;

/** After how long one of these has probably changed; undefined where none will by itself. */
export function personWorkChangesMs(exports: readonly PersonExport[], deletions: readonly PersonDeletion[], nowMs = Date.now()) {
  if (exports.some(({ status }) => status === 'queued' || status === 'running')) return UNDER_WAY_MS;
  if (deletions.some(({ status }) => status === 'running')) return UNDER_WAY_MS;
  const waits = deletions.filter(({ status }) => status === 'waiting').map(({ due_at }) => Date.parse(due_at) - nowMs);
  return waits.length === 0 ? undefined : Math.min(FOLLOW_MS_MAX, Math.max(UNDER_WAY_MS, Math.min(...waits)));
}
