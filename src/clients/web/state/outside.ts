/** Who has access without being a collaborator, and what a workspace shares with people outside. */
import { api, type Grant, type Others, type PreviewLink, type ReachingGrant, type Sharee } from '../api/client.ts';
import { words } from '../words/words.ts';
import { type ListReply, pageOf, usePages } from './pages.ts';
import { changeAccess, simulatedChange } from './planned.ts';
import { changed, showAtOnce, useLoaded } from './store.ts';
import { optimistic, tell } from './toasts.ts';

/** So many grants and links of one page are listed; the rest is at the workspace. */
const LISTED_MAX = 300;
const LISTED_A_CALL = 100;

export type Capability = Grant['capability'];

/** The first pages of a list, as far as it is shown in a dialog. */
async function firstOf<R extends ListReply>(load: (cursor: string | undefined) => Promise<R>): Promise<readonly R[]> {
  const pages: R[] = [];
  let cursor: string | undefined;
  while (pages.length * LISTED_A_CALL < LISTED_MAX) {
    const page = await load(cursor);
    pages.push(page);
    if (!page.has_more || page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  return pages;
}

export type OtherAccess = Pick<Others, 'members' | 'counts_outside'> & {
  readonly grants: readonly ReachingGrant[];
  readonly links: readonly PreviewLink[];
};

export function useOtherAccess(id: string) {
  return useLoaded<OtherAccess>(`access:${id}`, async () => {
    const params = { id };
    const [grants, links] = await Promise.all([
      firstOf(async (cursor) => (await api.access.list({ params, query: { cursor, limit: LISTED_A_CALL } })).body),
      firstOf(async (cursor) => (await api.previewLinks.list({ params, query: { cursor, limit: LISTED_A_CALL } })).body),
    ]);
    const { members = false, counts_outside = false } = grants[0] ?? {};
    return { members, counts_outside, grants: grants.flatMap((page) => page.grants), links: links.flatMap((page) => page.links) };
  });
}

export async function endPreviewLink(id: string, link: PreviewLink): Promise<void> {
  const undo = showAtOnce<OtherAccess>(`access:${id}`, (shown) => ({ ...shown, links: shown.links.filter((one) => one.id !== link.id) }));
  const done = await optimistic(undo, () => api.previewLinks.delete({ params: { id, link: link.id } }));
  changed(`access:${id}`);
  if (done !== undefined) tell(words.value.others.linkEnded);
}

export function useSharees(slug: string) {
  return usePages<Sharee>(`sharees:${slug}`, async (cursor) => {
    const { body } = await api.sharees.list({ params: { workspaceId: slug }, query: { cursor } });
    return pageOf(body.sharees, body);
  });
}

/** Whether the workspace may share outside now. */
export function useMayShareOutside(slug: string) {
  return useLoaded(`features:${slug}`, async () => {
    const { features } = (await api.features.get({ params: { workspaceId: slug } })).body;
    return features['collab.external_sharing'];
  });
}

export function useGrants(
  slug: string,
  { subjectId, resourceId }: { readonly subjectId?: string | undefined; readonly resourceId?: string } = {},
) {
  return usePages<Grant>(`grants:${slug}:${subjectId ?? ''}:${resourceId ?? ''}`, async (cursor) => {
    const query = { cursor, subject_id: subjectId, resource_id: resourceId };
    const { body } = await api.grants.list({ params: { workspaceId: slug }, query });
    return pageOf(body.grants, body);
  });
}

/** With whom: an organisation that is known, or an address. */
export type Subject = { readonly sharee: Pick<Sharee, 'id' | 'name'> } | { readonly email: string };
export type Resource = { readonly type: Grant['resource_type']; readonly id: string };

export interface Terms {
  readonly capability: Capability;
  readonly expires_at: string | undefined;
}

/** Answers whether it was made. Throws what the server refuses, for the form that asks. */
export async function shareOutside(slug: string, subject: Subject, resource: Resource, terms: Terms): Promise<boolean> {
  const { planned, outside } = words.value;
  const name = 'email' in subject ? subject.email : subject.sharee.name;
  const params = { workspaceId: slug };
  const what = { resource_type: resource.type, resource_id: resource.id, ...terms };
  const make = (ifMatch: string | undefined) =>
    'email' in subject
      ? api.grants.sharePerson({ params, body: { email: subject.email, ...what }, ifMatch })
      : api.grants.create({ params, body: { subject_type: 'sharee', subject_id: subject.sharee.id, ...what }, ifMatch });
  const grant =
    'email' in subject ? { email: subject.email, ...terms } : { subject_type: 'sharee' as const, subject_id: subject.sharee.id, ...terms };
  const titles = { title: planned.share(name), action: planned.shareAction };
  // Only what is done with one page can be simulated.
  const made =
    resource.type === 'artifact'
      ? await simulatedChange({ artifactId: resource.id, plan: { grant }, ...titles, make })
      : await make(undefined);
  changed('access:', `grants:${slug}`, `sharees:${slug}`);
  if (made !== undefined) tell(outside.shared(name));
  return made !== undefined;
}

type Ended = Pick<Grant, 'id' | 'subject_type' | 'subject_id' | 'subject_name'> & {
  readonly resource_type: Grant['resource_type'];
  readonly resource_id: string | null;
};

/** `slug`: or the id of the workspace. */
export async function endGrant(slug: string, grant: Ended): Promise<void> {
  const { id, subject_type, subject_id, subject_name: name, resource_type, resource_id } = grant;
  const { planned, outside } = words.value;
  const make = (ifMatch?: string) => api.grants.delete({ params: { workspaceId: slug, grantId: id }, ifMatch });
  const done =
    resource_type === 'artifact' && resource_id !== null
      ? await changeAccess({
          artifactId: resource_id,
          plan: { grant: { subject_type, subject_id, capability: null } },
          title: planned.end(name),
          action: planned.endAction,
          make,
        })
      : await optimistic(
          () => undefined,
          () => make(),
        );
  changed('access:', 'grants:', 'sharees:');
  if (done !== undefined) tell(outside.ended(name));
}
