/** Files of a library: the person's own, or a workspace's by its slug. */
import { useEffect } from 'preact/hooks';
import { type Answer, api, freshKey } from '../api/client.ts';
import { pageOf, usePages } from './pages.ts';
import { changed, useLoaded } from './store.ts';

export type Deliverable = Answer<'assets', 'list'>['deliverables'][number];
export type LooseFile = Answer<'assets', 'list'>['loose'][number];
export type Asset = Deliverable | LooseFile;
export type AssetVersion = Answer<'assets', 'versions'>['versions'][number];
export type ShareLink = Answer<'assets', 'links'>['links'][number];
export type NewLink = NonNullable<Parameters<typeof api.assets.createLink>[0]>['body'];

/** So many versions and links are listed; the service keeps no more versions. */
const LISTED_MAX = 100;

export const keyOf = (slug: string | undefined) => `assets:${slug ?? 'mine'}`;

/** The addresses that the service gives may have another name of its host than this window. */
export const here = (url: string) => new URL(url).pathname + new URL(url).search;

/** `collection`: only what is in it. */
export function useAssets(slug: string | undefined, collection?: string) {
  return usePages<Asset>(collection === undefined ? keyOf(slug) : `${keyOf(slug)}:in:${collection}`, async (cursor) => {
    const query = { cursor, collection };
    const { body } = await (slug === undefined
      ? api.assets.list({ query })
      : api.workspaceAssets.list({ params: { workspaceId: slug }, query }));
    const items = [...body.deliverables, ...body.loose].sort((a, b) => b.createdAt.localeCompare(a.createdAt));
    return pageOf<Asset>(items, { has_more: body.hasMore, next_cursor: body.nextCursor });
  });
}

/** All that has versions, to choose from in a field, which has no end to scroll to; newest first. */
export function useDeliverables(slug: string | undefined): readonly Deliverable[] {
  const { items = [], hasMore, isLoadingMore, moreProblem, more } = useAssets(slug);
  useEffect(() => {
    if (hasMore && !isLoadingMore && moreProblem === undefined) more();
  });
  return items.filter((item): item is Deliverable => 'versionNo' in item);
}

export function useUsedBytes(slug: string | undefined) {
  return useLoaded(`${keyOf(slug)}:used`, async () => {
    const query = { limit: 1 };
    const { body } = await (slug === undefined
      ? api.assets.list({ query })
      : api.workspaceAssets.list({ params: { workspaceId: slug }, query }));
    return body.usedBytes;
  });
}

export function useVersions(slug: string | undefined, fileId: string) {
  return useLoaded<readonly AssetVersion[]>(`asset:${fileId}:versions`, async () => {
    const query = { limit: LISTED_MAX };
    const { body } = await (slug === undefined
      ? api.assets.versions({ params: { fileId }, query })
      : api.workspaceAssets.versions({ params: { workspaceId: slug, fileId }, query }));
    return body.versions;
  });
}

export function useLinks(slug: string | undefined, fileId: string) {
  return useLoaded<readonly ShareLink[]>(`asset:${fileId}:links`, async () => {
    const query = { limit: LISTED_MAX };
    const { body } = await (slug === undefined
      ? api.assets.links({ params: { fileId }, query })
      : api.workspaceAssets.links({ params: { workspaceId: slug, fileId }, query }));
    return body.links;
  });
}

export async function makeLink(slug: string | undefined, fileId: string, body: NewLink): Promise<void> {
  if (slug === undefined) await api.assets.createLink({ params: { fileId }, body });
  else await api.workspaceAssets.createLink({ params: { workspaceId: slug, fileId }, body });
  changed(`asset:${fileId}:links`);
}

export async function endLink(slug: string | undefined, fileId: string, linkId: string): Promise<void> {
  if (slug === undefined) await api.assets.revokeLink({ params: { fileId, linkId } });
  else await api.workspaceAssets.revokeLink({ params: { workspaceId: slug, fileId, linkId } });
  changed(`asset:${fileId}:links`);
}

export async function rename(slug: string | undefined, fileId: string, name: string): Promise<void> {
  const body = { name };
  if (slug === undefined) await api.assets.update({ params: { fileId }, body });
  else await api.workspaceAssets.update({ params: { workspaceId: slug, fileId }, body });
  changed(keyOf(slug));
}

export async function removeAsset(slug: string | undefined, { id }: Asset): Promise<void> {
  const isLoose = id.startsWith('blob_');
  if (slug === undefined) {
    await (isLoose ? api.assets.removeLoose({ params: { blobId: id } }) : api.assets.remove({ params: { fileId: id } }));
  } else {
    const params = { workspaceId: slug };
    await (isLoose
      ? api.workspaceAssets.removeLoose({ params: { ...params, blobId: id } })
      : api.workspaceAssets.remove({ params: { ...params, fileId: id } }));
  }
  changed(keyOf(slug));
}

/** `idempotencyKey`: the same for a repetition of this call whose answer was lost. */
export async function makeDeliverable(slug: string | undefined, blobId: string, idempotencyKey = freshKey()): Promise<Deliverable> {
  const body = { blobId };
  const made = await (slug === undefined
    ? api.assets.create({ body, idempotencyKey })
    : api.workspaceAssets.create({ params: { workspaceId: slug }, body, idempotencyKey }));
  return made.body;
}

/** `idempotencyKey`: as for `makeDeliverable`. */
export async function addVersion(slug: string | undefined, fileId: string, blobId: string, idempotencyKey: string): Promise<void> {
  const body = { blobId };
  if (slug === undefined) await api.assets.addVersion({ params: { fileId }, body, idempotencyKey });
  else await api.workspaceAssets.addVersion({ params: { workspaceId: slug, fileId }, body, idempotencyKey });
}
