/** Changes of pages and folders. What they come to is shown at once and taken back where the server refuses. */
import { type Artifact, api } from '../api/client.ts';
import { words } from '../words/words.ts';
import type { AnyFolder } from './loads.ts';
import type { PageOf } from './pages.ts';
import { forgetOpened } from './prefs.ts';
import { myId } from './session.ts';
import { changed, showAtOnce } from './store.ts';
import { optimistic, tell } from './toasts.ts';

type Change = (artifact: Artifact) => Artifact | undefined;

/** Changes one page wherever it is shown; undefined takes it out of lists. */
export function showChange(id: string, change: Change): () => void {
  const undoLists = showAtOnce<PageOf<Artifact>>('artifacts:', (page) => ({
    ...page,
    items: page.items.flatMap((item) => (item.id === id ? (change(item) ?? []) : [item])),
  }));
  const undoOne = showAtOnce<Artifact>(`artifact:${id}`, (artifact) => change(artifact) ?? artifact);
  return () => {
    undoLists();
    undoOne();
  };
}

export function artifactsChanged(id: string): void {
  changed('artifacts:', `artifact:${id}`, `access:${id}`);
}

export async function setFavorite({ id }: Artifact, isFavorite: boolean): Promise<void> {
  const undo = showChange(id, (artifact) => ({ ...artifact, is_favorite: isFavorite }));
  const params = { id };
  await optimistic(undo, () => (isFavorite ? api.artifacts.favorite({ params }) : api.artifacts.unfavorite({ params })));
  artifactsChanged(id);
}

type Update = Parameters<typeof api.artifacts.update>[0]['body'];

/** Answers what is there now, or undefined where it was refused. Who may see the page is changed by `setVisibility` alone. */
export async function updateArtifact({ id }: Pick<Artifact, 'id'>, body: Omit<Update, 'visibility' | 'password'>) {
  const undo = showChange(id, (artifact) => ({ ...artifact, ...(body as Partial<Artifact>) }));
  const reply = await optimistic(undo, () => api.artifacts.update({ params: { id }, body }));
  artifactsChanged(id);
  return reply?.body;
}

export async function trashArtifact(artifact: Artifact): Promise<boolean> {
  const { id, name } = artifact;
  const undo = showChange(id, () => undefined);
  const done = await optimistic(undo, () => api.artifacts.delete({ params: { id } }));
  changed('artifacts:', 'deleted:', 'folders:', 'account');
  if (done === undefined) return false;
  forgetOpened(myId(), id);
  tell(words.value.library.trashed(name), { label: words.value.app.undo, run: () => void restoreArtifact(artifact) });
  return true;
}

export async function restoreArtifact({ id, name }: Pick<Artifact, 'id' | 'name'>): Promise<void> {
  const undo = showAtOnce<PageOf<Artifact>>('deleted:', (page) => ({ ...page, items: page.items.filter((item) => item.id !== id) }));
  const done = await optimistic(undo, () => api.artifacts.restore({ params: { id } }));
  changed('artifacts:', 'deleted:', 'folders:', `artifact:${id}`);
  if (done !== undefined) tell(words.value.library.restored(name));
}

/** `place`: `mine`, or the slug of a workspace. Throws what the server refuses, for the form that asks. */
export async function makeFolder(place: string, name: string, parentId: string | undefined): Promise<void> {
  const body = { name, ...(parentId !== undefined && { parent_id: parentId }) };
  if (place === 'mine') await api.personalFolders.create({ body });
  else await api.folders.create({ params: { workspaceId: place }, body });
  changed('folders:');
}

export async function renameFolder(place: string, folderId: string, name: string): Promise<void> {
  if (place === 'mine') await api.personalFolders.update({ params: { folderId }, body: { name } });
  else await api.folders.update({ params: { workspaceId: place, folderId }, body: { name } });
  changed('folders:');
}

export async function deleteFolder(place: string, { id: folderId, name }: AnyFolder): Promise<boolean> {
  const undo = showAtOnce<readonly AnyFolder[]>(`folders:${place}`, (folders) => folders.filter(({ id }) => id !== folderId));
  const done = await optimistic<unknown>(undo, () =>
    place === 'mine'
      ? api.personalFolders.delete({ params: { folderId } })
      : api.folders.delete({ params: { workspaceId: place, folderId } }),
  );
  changed('folders:', 'artifacts:');
  if (done !== undefined) tell(words.value.folders.deleted(name));
  return done !== undefined;
}
