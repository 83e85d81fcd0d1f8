/** The catalog and the connections of a workspace, each loaded under one key. */
import { api, type CatalogEntry, type CatalogFacets, type Connection, type Member } from '../api/client.ts';
import { words } from '../words/words.ts';
import { pageOf, usePages } from './pages.ts';
import { useLoaded } from './store.ts';

export interface CatalogFilter {
  readonly q: string;
  readonly kind: CatalogEntry['kind'] | '';
  readonly domain: string;
  readonly tag: string;
}

export const NO_FILTER: CatalogFilter = { q: '', kind: '', domain: '', tag: '' };

const keyOf = ({ q, kind, domain, tag }: CatalogFilter) => JSON.stringify([q, kind, domain, tag]);

function queryOf({ q, kind, domain, tag }: CatalogFilter) {
  return { q, kind: kind === '' ? undefined : kind, domain: domain || undefined, tag: tag || undefined };
}

export interface CatalogFacts {
  readonly enabled: boolean;
  readonly available: boolean;
  readonly facets: CatalogFacets;
}

/** Whether there is a catalog, and what there is to choose. */
export function useCatalogFacts(slug: string, filter: CatalogFilter) {
  return useLoaded<CatalogFacts>(`catalog:${slug}:facts:${keyOf(filter)}`, async () => {
    const { body } = await api.catalog.list({ params: { workspaceId: slug }, query: { ...queryOf(filter), limit: 1 } });
    return { enabled: body.enabled, available: body.available, facets: body.facets };
  });
}

export function useCatalog(slug: string, filter: CatalogFilter) {
  return usePages<CatalogEntry>(`catalog:${slug}:list:${keyOf(filter)}`, async (cursor) => {
    const { body } = await api.catalog.list({ params: { workspaceId: slug }, query: { ...queryOf(filter), cursor } });
    return pageOf(body.entries, body);
  });
}

export function useEntry(slug: string, entryId: string) {
  return useLoaded(`catalog:${slug}:entry:${entryId}`, async () => {
    return (await api.catalog.get({ params: { workspaceId: slug, entryId } })).body;
  });
}

/** Pages of members that are offered to choose from. */
const MEMBER_PAGES_MAX = 10;
const MEMBERS_A_PAGE = 100;

/** Members that an entry can be given to. */
export function useAllMembers(slug: string) {
  return useLoaded<readonly Member[]>(`members:${slug}:all`, async () => {
    const found: Member[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MEMBER_PAGES_MAX; page += 1) {
      const { body } = await api.members.list({ params: { workspaceId: slug }, query: { limit: MEMBERS_A_PAGE, cursor } });
      found.push(...body.members);
      if (body.next_cursor === null) break;
      cursor = body.next_cursor;
    }
    return found;
  });
}

export function ownerName({ owner }: Pick<CatalogEntry, 'owner'>): string {
  return owner === null ? words.value.catalog.ofWorkspace : (owner.name ?? owner.id);
}

export function useLineage(slug: string, entryId: string) {
  return useLoaded(`catalog:${slug}:lineage:${entryId}`, async () => {
    return (await api.catalog.lineage({ params: { workspaceId: slug, entryId } })).body;
  });
}

export function useConnections(slug: string) {
  return usePages<Connection>(`connections:${slug}`, async (cursor) => {
    const { body } = await api.connections.list({ params: { workspaceId: slug }, query: { cursor } });
    return pageOf(body.connections, body);
  });
}
