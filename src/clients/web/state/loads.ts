/** What screens load, each under one key. */
import {
  type AccessRequest,
  type Artifact,
  type AuditEntry,
  api,
  type Collaborator,
  type Comment,
  type Folder,
  type PersonalFolder,
  type SharedItem,
} from '../api/client.ts';
import { type PageOf, pageOf, usePages } from './pages.ts';
import { keyOf, type Place } from './place.ts';
import { SORTS, type Sort } from './prefs.ts';
import { useLoaded } from './store.ts';

const CARDS_A_PAGE = 60;
const ROWS_A_PAGE = 50;
/** So many comments of one page are read; further ones are on the page itself. */
const COMMENTS_MAX = 500;
/** So many requests for access are looked through for those of one page; all of them are listed at "My pages". */
const REQUESTS_MAX = 500;
const REQUESTS_A_CALL = 100;

export interface AnyFolder extends PersonalFolder {
  readonly visibility?: Folder['visibility'];
}

function placeQuery(place: Place) {
  switch (place.kind) {
    case 'mine':
      return {};
    case 'favorites':
      return { favorites: true };
    case 'folder':
      return { folder_id: place.folderId };
    case 'workspace':
      return { workspace_id: place.slug, folder_id: place.folderId };
    default:
      return place satisfies never;
  }
}

export function useArtifacts(place: Place, containing: string, sort: Sort = SORTS[0]) {
  return usePages<Artifact>(`artifacts:${keyOf(place)}:${sort}:${containing}`, async (cursor) => {
    const query = { ...placeQuery(place), q: containing || undefined, sort, cursor, limit: CARDS_A_PAGE };
    const { body } = await api.artifacts.list({ query });
    return pageOf(body.artifacts, body);
  });
}

/** Pages of others that are shared with this person by name. */
export function useSharedByName() {
  return usePages<Artifact>('artifacts:shared', async (cursor) => {
    const { body } = await api.artifacts.list({ query: { shared: true, cursor, limit: CARDS_A_PAGE } });
    return pageOf(body.artifacts, body);
  });
}

/** What workspaces share with this person from outside. */
export function useSharedFromOutside() {
  return usePages<SharedItem>('shared', async (cursor) => {
    const { body } = await api.shared.list({ query: { cursor } });
    return pageOf(body.shared, body);
  });
}

export function useDeleted(workspaceId?: string) {
  return usePages<Artifact>(`deleted:${workspaceId ?? ''}`, async (cursor) => {
    const { body } = await api.artifacts.listDeleted({ query: { cursor, workspace_id: workspaceId } });
    return pageOf(body.artifacts, body);
  });
}

export function useFolders(place: 'mine' | string) {
  return useLoaded<readonly AnyFolder[]>(`folders:${place}`, async () => {
    if (place === 'mine') return (await api.personalFolders.list()).body.folders;
    return (await api.folders.list({ params: { workspaceId: place }, query: { all: '1' } })).body.folders;
  });
}

export function useArtifact(id: string) {
  return useLoaded(`artifact:${id}`, async () => (await api.artifacts.get({ params: { id } })).body);
}

export type ViewsRange = '7' | '30' | '90';

export function useViews(id: string, range: ViewsRange) {
  return useLoaded(`views:${id}:${range}`, async () => (await api.analytics.views({ params: { id }, query: { range } })).body);
}

export function usePresence(id: string) {
  return useLoaded(`presence:${id}`, async () => (await api.presence.count({ params: { id } })).body.count);
}

export function useVersions(id: string) {
  return usePages(`versions:${id}`, async (cursor) => {
    const { body } = await api.versions.list({ params: { id }, query: { cursor } });
    return pageOf(body.versions, body);
  });
}

export function useFiles(id: string, version: string | undefined) {
  return useLoaded(`files:${id}:${version ?? ''}`, async () => (await api.versions.files({ params: { id }, query: { version } })).body);
}

export function useDatasets(id: string) {
  return usePages(`datasets:${id}`, async (cursor) => {
    const { data } = (await api.datasets.list({ params: { artifactId: id }, query: { cursor } })).body;
    return { items: data.datasets, next: data.nextCursor };
  });
}

export function useDataset(id: string, dataset: string) {
  return useLoaded(`datasets:${id}:${dataset}`, async () => (await api.datasets.get({ params: { artifactId: id, dataset } })).body.data);
}

/** Rows of one version, page by page; a page may have none and still have more after it. */
export function useDatasetRows(id: string, dataset: string, version: number, filter: string) {
  return usePages(`datasets:${id}:${dataset}:${version}:${filter}`, async (cursor) => {
    const query = { version, limit: ROWS_A_PAGE, cursor, ...(filter !== '' && { filter }) };
    const { data } = (await api.datasets.rows({ params: { artifactId: id, dataset }, query })).body;
    return { items: data.rows, next: data.nextCursor };
  });
}

export function usePeople(id: string) {
  return useLoaded(`people:${id}`, async () => (await api.comments.people({ params: { artifactId: id } })).body.data);
}

export function useComments(id: string) {
  return useLoaded<readonly Comment[]>(`comments:${id}`, async () => {
    const all: Comment[] = [];
    let cursor: string | undefined;
    do {
      const { data } = (await api.comments.list({ params: { artifactId: id }, query: { cursor, limit: 100 } })).body;
      all.push(...data.comments);
      cursor = data.hasMore && data.nextCursor !== null ? data.nextCursor : undefined;
    } while (cursor !== undefined && all.length < COMMENTS_MAX);
    return all;
  });
}

/** Somebody whom a page is shared with, or its owner. */
export type Holder = Omit<Collaborator, 'role' | 'added_at'> & { readonly role: Collaborator['role'] | 'owner' };

/** The owner first, where a person owns the page. */
export function useHolders(id: string) {
  return usePages<Holder>(`collaborators:${id}`, async (cursor) => {
    const { body } = await api.collaborators.list({ params: { id }, query: { cursor } });
    const { owner, collaborators } = body;
    const first: Holder[] = cursor === undefined && owner !== null ? [{ ...owner, role: 'owner', pending: false }] : [];
    return pageOf([...first, ...collaborators], body);
  });
}

/** The requests for access that wait for this person. */
export function useIncomingRequests() {
  return usePages<AccessRequest>('requests:all', async (cursor) => {
    const { body } = await api.accessRequests.incoming({ query: { cursor } });
    return pageOf(body.requests, body);
  });
}

/** Those for one page. It has the shape of a list, because a decision changes both. */
export function useRequestsFor(id: string) {
  return useLoaded<PageOf<AccessRequest>>(`requests:${id}`, async () => {
    const items: AccessRequest[] = [];
    let cursor: string | undefined;
    for (let looked = 0; looked < REQUESTS_MAX; looked += REQUESTS_A_CALL) {
      const { body } = await api.accessRequests.incoming({ query: { cursor, limit: REQUESTS_A_CALL } });
      items.push(...body.requests.filter(({ artifact_id }) => artifact_id === id));
      if (!body.has_more || body.next_cursor === null) break;
      cursor = body.next_cursor;
    }
    return { items, next: null };
  });
}

/** How many open comments are unread. */
export function useUnread() {
  return useLoaded('inbox:unread', async () => {
    const { body } = await api.inbox.list({ query: { unread: 'true', resolved: 'false', count: 'true', limit: 1 } });
    return body.total ?? 0;
  });
}

export function useWorkspace(slug: string) {
  return useLoaded(`workspace:${slug}`, async () => (await api.workspaces.get({ params: { workspaceId: slug } })).body);
}

export function useMembers(slug: string) {
  return usePages(`members:${slug}`, async (cursor) => {
    const { body } = await api.members.list({ params: { workspaceId: slug }, query: { cursor } });
    return pageOf(body.members, body);
  });
}

export function useInvites(slug: string) {
  return usePages(`invites:${slug}`, async (cursor) => {
    const { body } = await api.invites.list({ params: { workspaceId: slug }, query: { cursor, status: 'pending' } });
    return pageOf(body.invites, body);
  });
}

export function useAgentTokens(slug: string) {
  return usePages(`agents:${slug}`, async (cursor) => {
    const { body } = await api.agentTokens.list({ params: { workspaceId: slug }, query: { cursor } });
    return pageOf(body.agent_tokens, body);
  });
}

export function useWaiting(slug: string) {
  return usePages(`waiting:${slug}`, async (cursor) => {
    const { body } = await api.publishPolicy.waiting({ params: { workspaceId: slug }, query: { cursor } });
    return pageOf(body.waiting, body);
  });
}

export function usePublishPolicy(slug: string) {
  return useLoaded(`policy:${slug}`, async () => (await api.publishPolicy.get({ params: { workspaceId: slug } })).body);
}

export function useAudit(slug: string, action: string) {
  return usePages<AuditEntry>(`audit:${slug}:${action}`, async (cursor) => {
    const { body } = await api.audit.list({ params: { workspaceId: slug }, query: { cursor, action: action || undefined } });
    if (!('has_more' in body)) throw new Error('the record was answered as a file');
    return pageOf(body.entries, body);
  });
}

export function useAccount() {
  return useLoaded('account', async () => (await api.accounts.account()).body);
}
