/** The catalog and the connections of a workspace, each loaded under one key. */
import { api, type CatalogEntry, type CatalogFacets, type Connection } from '../api/client.ts';
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
