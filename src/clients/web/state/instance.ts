/** People, workspaces and pages of the installation as its administrators see them, each with what its change must match. */
import { type Answer, api, type InstanceArtifact, type InstancePerson, type InstanceWorkspace } from '../api/client.ts';
import { pageOf, usePages } from './pages.ts';
import { changed, showAtOnce, useLoaded } from './store.ts';
import { undoing } from './toasts.ts';

export type Tier = InstancePerson['tier'];
export const TIERS = ['free', 'pro', 'team'] as const satisfies readonly Tier[];
/** A filter of suspensions: undefined for both. */
export type Suspended = 'all' | 'yes' | 'no';

function suspendedQuery(suspended: Suspended): { readonly suspended?: 'true' | 'false' } {
  return suspended === 'all' ? {} : { suspended: suspended === 'yes' ? 'true' : 'false' };
}

export interface PeopleFilter {
  readonly q: string;
  readonly role: 'all' | 'admin' | 'staff';
  readonly tier: 'all' | Tier;
  readonly suspended: Suspended;
}

export function useInstancePeople({ q, role, tier, suspended }: PeopleFilter) {
  return usePages<InstancePerson>(`instance:people:${role}:${tier}:${suspended}:${q}`, async (cursor) => {
    const query = {
      ...{ q: q || undefined, cursor, ...suspendedQuery(suspended) },
      ...(role !== 'all' && { role }),
      ...(tier !== 'all' && { tier }),
    };
    const { body } = await api.instancePeople.list({ query });
    return pageOf(body.people, body);
  });
}

/** A thing with its version, so that a change overwrites no other. */
export interface Read<T> {
  readonly shown: T;
  readonly etag: string | undefined;
}

export function useInstancePerson(userId: string) {
  return useLoaded<Read<InstancePerson>>(`instance:person:${userId}`, async () => {
    const { body, headers } = await api.instancePeople.get({ params: { userId } });
    return { shown: body, etag: headers.get('etag') ?? undefined };
  });
}

export function matching(etag: string | undefined): { readonly ifMatch?: string } {
  return etag === undefined ? {} : { ifMatch: etag };
}

type PersonChange = Parameters<typeof api.instancePeople.update>[0]['body'];

export async function changePerson({ shown: { id }, etag }: Read<InstancePerson>, body: PersonChange): Promise<void> {
  const { tier, is_admin, is_staff } = body;
  const undo = showAtOnce<Read<InstancePerson>>(`instance:person:${id}`, (read) => ({
    ...read,
    shown: {
      ...read.shown,
      ...(tier !== undefined && { tier }),
      ...(is_admin !== undefined && { is_admin }),
      ...(is_staff !== undefined && { is_staff }),
    },
  }));
  try {
    await undoing(undo, api.instancePeople.update({ params: { userId: id }, body, ...matching(etag) }));
  } finally {
    // After a conflict, what is there now is shown.
    changed(`instance:person:${id}`, 'instance:people:', 'instance:counts', 'instance:audit:');
  }
}

/** Answers how many sessions have ended. */
export async function signOutEverywhere(userId: string): Promise<number> {
  const { body } = await api.instancePeople.signOut({ params: { userId } });
  changed('instance:audit:');
  return body.ended;
}

/** An address of any of their accounts, null where none has one. */
export async function readAddress({ email, linked }: InstancePerson): Promise<string | null> {
  if (email !== null) return email;
  for (const userId of linked) {
    const other = (await api.instancePeople.get({ params: { userId } })).body.email;
    if (other !== null) return other;
  }
  return null;
}

/** The account with this address, null where there is none. */
export async function accountWith(email: string): Promise<string | null> {
  const wanted = email.trim().toLowerCase();
  const { people } = (await api.instancePeople.list({ query: { q: wanted, limit: 100 } })).body;
  return people.find((one) => one.email?.toLowerCase() === wanted)?.id ?? null;
}

export interface WorkspacesFilter {
  readonly q: string;
  readonly tier: 'all' | Tier;
  readonly suspended: Suspended;
}

export function useInstanceWorkspaces({ q, tier, suspended }: WorkspacesFilter) {
  return usePages<InstanceWorkspace>(`instance:workspaces:${tier}:${suspended}:${q}`, async (cursor) => {
    const query = { q: q || undefined, cursor, ...suspendedQuery(suspended), ...(tier !== 'all' && { plan_tier: tier }) };
    const { body } = await api.instanceWorkspaces.list({ query });
    return pageOf(body.workspaces, body);
  });
}

export function useInstanceWorkspace(workspaceId: string) {
  return useLoaded<Read<InstanceWorkspace>>(`instance:workspace:${workspaceId}`, async () => {
    const { body, headers } = await api.instanceWorkspaces.get({ params: { workspaceId } });
    return { shown: body, etag: headers.get('etag') ?? undefined };
  });
}

type WorkspaceChange = Parameters<typeof api.instanceWorkspaces.update>[0]['body'];

export async function changeWorkspace({ shown: { id }, etag }: Read<InstanceWorkspace>, body: WorkspaceChange): Promise<void> {
  try {
    await api.instanceWorkspaces.update({ params: { workspaceId: id }, body, ...matching(etag) });
  } finally {
    changed(`instance:workspace:${id}`, 'instance:workspaces:', `instance:features:${id}`, 'instance:audit:');
  }
}

export type Features = Answer<'features', 'update'>['features'];
export type FeatureName = keyof Features;
export const FEATURE_NAMES = [
  ...(['collab.external_sharing', 'collab.guest_comments', 'knowledge', 'catalog'] as const),
  ...(['file_imports', 'agents', 'custom_branding'] as const),
] satisfies readonly FeatureName[];

/** An administrator need not be a member, who alone may read them: a change of nothing answers them too. */
export function useFeaturesOf(workspaceId: string) {
  return useLoaded<Features>(`instance:features:${workspaceId}`, async () => {
    return (await api.features.update({ params: { workspaceId }, body: { features: {} } })).body.features;
  });
}

/** `isOn` null: what the plan says. */
export async function setFeature(workspaceId: string, name: FeatureName, isOn: boolean | null): Promise<void> {
  try {
    await api.features.update({ params: { workspaceId }, body: { features: { [name]: isOn } } });
  } finally {
    changed(`instance:features:${workspaceId}`, 'instance:audit:');
  }
}

export type ProvisionRequest = Parameters<typeof api.provisioning.provision>[0]['body'];

export async function provision(body: ProvisionRequest) {
  const reply = await api.provisioning.provision({ body });
  changed('instance:workspaces:', 'instance:workspace:', 'instance:counts', 'instance:audit:');
  return reply.body;
}

export interface PagesFilter {
  readonly q: string;
  readonly ownerId: string | undefined;
  readonly suspended: Suspended;
}

export function useInstancePages({ q, ownerId, suspended }: PagesFilter) {
  return usePages<InstanceArtifact>(`instance:pages:${ownerId ?? ''}:${suspended}:${q}`, async (cursor) => {
    const query = { q: q || undefined, owner_id: ownerId, cursor, ...suspendedQuery(suspended) };
    const { body } = await api.instanceArtifacts.list({ query });
    return pageOf(body.artifacts, body);
  });
}

export function useInstancePage(id: string) {
  return useLoaded<Read<InstanceArtifact>>(`instance:page:${id}`, async () => {
    const { body, headers } = await api.instanceArtifacts.get({ params: { id } });
    return { shown: body, etag: headers.get('etag') ?? undefined };
  });
}

type PageChange = Parameters<typeof api.instanceArtifacts.update>[0]['body'];

export async function changePage({ shown: { id }, etag }: Read<InstanceArtifact>, body: PageChange): Promise<void> {
  try {
    await api.instanceArtifacts.update({ params: { id }, body, ...matching(etag) });
  } finally {
    changed(`instance:page:${id}`, 'instance:pages:', 'instance:audit:');
  }
}
