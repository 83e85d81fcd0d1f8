/** The installation as a whole: its health, numbers, banner, flags and record. */
import { type Answer, answered, api, type InstanceAuditEntry, type InstanceQuota } from '../api/client.ts';
import { matching, type Read } from './instance.ts';
import { pageOf, usePages } from './pages.ts';
import { changed, showAtOnce, useLoaded } from './store.ts';
import { undoing } from './toasts.ts';

export function useInstanceHealth() {
  return useLoaded('instance:health', async () => (await api.instanceHealth.get()).body);
}

export function useSlowTurns() {
  return useLoaded('instance:slow', async () => (await api.instanceHealth.slowTurns()).body.turns);
}

export function useInstanceQuotas(kind: InstanceQuota['kind']) {
  return usePages<InstanceQuota>(`instance:quotas:${kind}`, async (cursor) => {
    const { body } = await api.instanceQuotas.list({ query: { kind, cursor, limit: 10 } });
    return pageOf(body.quotas, body);
  });
}

export type CountName = 'people' | 'workspaces' | 'pages' | 'suspended' | 'queued' | 'failed' | 'running' | 'undelivered';

/** How many there are of each: the totals of lists of one item. */
export function useInstanceCounts() {
  return useLoaded<Readonly<Record<CountName, number>>>('instance:counts', async () => {
    const one = { limit: 1, count: 'true' } as const;
    const [people, workspaces, pages, suspended, queued, failed, running, undelivered] = await Promise.all([
      api.instancePeople.list({ query: one }),
      api.instanceWorkspaces.list({ query: one }),
      api.instanceArtifacts.list({ query: one }),
      api.instancePeople.list({ query: { ...one, suspended: 'true' } }),
      api.instanceMails.list({ query: { ...one, state: 'queued' } }),
      api.instanceMails.list({ query: { ...one, state: 'failed' } }),
      api.instanceRuns.list({ query: { ...one, state: 'running' } }),
      api.instanceDeliveries.list({ query: { ...one, status: 'failed' } }),
    ]);
    const total = ({ body }: { readonly body: { readonly total?: number | undefined } }) => body.total ?? 0;
    return {
      ...{ people: total(people), workspaces: total(workspaces), pages: total(pages), suspended: total(suspended) },
      ...{ queued: total(queued), failed: total(failed), running: total(running), undelivered: total(undelivered) },
    };
  });
}

export async function rebuildSearch(): Promise<number> {
  return (await api.search.rebuild()).body.queued;
}

type StoredBanner = Answer<'banner', 'stored'>['banner'];

export function useStoredBanner() {
  return useLoaded<Read<StoredBanner>>('instance:banner', async () => {
    const { body, headers } = await api.banner.stored();
    return { shown: body.banner, etag: headers.get('etag') ?? undefined };
  });
}

/** `banner` null: none. */
export async function putBanner({ etag }: Read<StoredBanner>, banner: NonNullable<StoredBanner> | null): Promise<void> {
  try {
    if (banner === null) await api.banner.clear(matching(etag));
    else await api.banner.set({ body: banner, ...matching(etag) });
  } finally {
    changed('instance:banner', 'instance:audit:');
  }
}

export type Flags = Answer<'instanceFlags', 'get'>['flags'];
export type FlagName = keyof Flags;
export const FLAG_NAMES = ['sign_up', 'anonymous_accounts', 'file_imports', 'ask'] as const satisfies readonly FlagName[];

export function useInstanceFlags() {
  return useLoaded<Read<Flags>>('instance:flags', async () => {
    const { body, headers } = await api.instanceFlags.get();
    return { shown: body.flags, etag: headers.get('etag') ?? undefined };
  });
}

export async function setFlag({ etag }: Read<Flags>, name: FlagName, isOn: boolean): Promise<void> {
  const undo = showAtOnce<Read<Flags>>('instance:flags', (read) => ({
    ...read,
    shown: { ...read.shown, [name]: { ...read.shown[name], enabled: isOn } },
  }));
  try {
    await undoing(undo, api.instanceFlags.update({ body: { flags: { [name]: isOn } }, ...matching(etag) }));
  } finally {
    changed('instance:flags', 'instance:audit:');
  }
}

export interface AuditFilter {
  readonly action: string;
  readonly actor: string;
  readonly target: string;
  /** Days of the reader; the last one is included. */
  readonly from: string;
  readonly to: string;
  readonly onlyInstance: boolean;
}

function auditQuery({ action, actor, target, from, to, onlyInstance }: AuditFilter) {
  const end = to === '' ? undefined : new Date(`${to}T00:00`);
  end?.setDate(end.getDate() + 1);
  return {
    action: action || undefined,
    actor: actor || undefined,
    target: target || undefined,
    from: from === '' ? undefined : new Date(`${from}T00:00`).toISOString(),
    to: end?.toISOString(),
    instance: onlyInstance ? ('true' as const) : undefined,
  };
}

export function useInstanceAudit(filter: AuditFilter) {
  const query = auditQuery(filter);
  return usePages<InstanceAuditEntry>(`instance:audit:${JSON.stringify(query)}`, async (cursor) => {
    const { body } = await api.instanceAudit.list({ query: { ...query, cursor } });
    if (!('has_more' in body)) throw new Error('the record was answered as a file');
    return pageOf(body.entries, body);
  });
}

/** All that the filter finds. */
export async function auditCsv(filter: AuditFilter): Promise<Blob> {
  const given = Object.entries(auditQuery(filter)).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const reply = await answered(() => fetch(`/v1/admin/audit?${new URLSearchParams(given)}`, { headers: { accept: 'text/csv' } }));
  return reply.blob();
}

/** Until then the browser has begun to store a file. */
const SAVING_MS_MAX = 60_000;

/** Has the browser store it. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVING_MS_MAX);
}
