/** The collections of a library: the person's own, or a workspace's by its slug. */
import { type Answer, api } from '../api/client.ts';
import { keyOf } from './assets.ts';
import { pageOf, usePages } from './pages.ts';
import { changed, useLoaded } from './store.ts';

export type Collection = Answer<'assets', 'listCollections'>['collections'][number];

/** Those of one file are listed so far. */
const LISTED_MAX = 100;

interface Asked {
  readonly cursor?: string | undefined;
  readonly limit: number;
  readonly file?: string;
}

async function list(slug: string | undefined, query: Asked) {
  const { body } = await (slug === undefined
    ? api.assets.listCollections({ query })
    : api.workspaceAssets.listCollections({ params: { workspaceId: slug }, query }));
  return body;
}

export function useCollections(slug: string | undefined) {
  return usePages<Collection>(`${keyOf(slug)}:collections`, async (cursor) => {
    const body = await list(slug, { cursor, limit: LISTED_MAX });
    return pageOf(body.collections, { has_more: body.hasMore, next_cursor: body.nextCursor });
  });
}

export function useCollectionsOf(slug: string | undefined, fileId: string) {
  return useLoaded<readonly Collection[]>(`${keyOf(slug)}:of:${fileId}`, async () => {
    const { collections } = await list(slug, { limit: LISTED_MAX, file: fileId });
    return collections;
  });
}

export async function makeCollection(slug: string | undefined, name: string): Promise<Collection> {
  const body = { name };
  const made = await (slug === undefined
    ? api.assets.createCollection({ body })
    : api.workspaceAssets.createCollection({ params: { workspaceId: slug }, body }));
  changed(`${keyOf(slug)}:collections`);
  return made.body;
}

export async function renameCollection(slug: string | undefined, collectionId: string, name: string): Promise<void> {
  const body = { name };
  if (slug === undefined) await api.assets.updateCollection({ params: { collectionId }, body });
  else await api.workspaceAssets.updateCollection({ params: { workspaceId: slug, collectionId }, body });
  changed(keyOf(slug));
}

export async function removeCollection(slug: string | undefined, collectionId: string): Promise<void> {
  if (slug === undefined) await api.assets.removeCollection({ params: { collectionId } });
  else await api.workspaceAssets.removeCollection({ params: { workspaceId: slug, collectionId } });
  changed(keyOf(slug));
}

export async function putInto(slug: string | undefined, collectionId: string, deliverableId: string): Promise<void> {
  const body = { deliverableId };
  if (slug === undefined) await api.assets.addItem({ params: { collectionId }, body });
  else await api.workspaceAssets.addItem({ params: { workspaceId: slug, collectionId }, body });
  changed(keyOf(slug));
}

export async function takeOut(slug: string | undefined, collectionId: string, fileId: string): Promise<void> {
  if (slug === undefined) await api.assets.removeItem({ params: { collectionId, fileId } });
  else await api.workspaceAssets.removeItem({ params: { workspaceId: slug, collectionId, fileId } });
  changed(keyOf(slug));
}
