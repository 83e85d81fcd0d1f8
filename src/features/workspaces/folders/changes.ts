/** Makes, changes, moves and deletes folders: one transaction each, one after the other in a workspace or an account. */
import { type Conditions, checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type FolderId, newId, type UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { countInFolders, viewerOf } from '../../artifacts/artifacts/lists.ts';
import { changeTimeMs } from '../../artifacts/artifacts/rules.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { type AuditedCall, audit } from '../audit/audit.ts';
import { requireMayOpen } from './outside.ts';
import { presentFolder, presentPersonal, viewEtag } from './present.ts';
import {
  deleteFolder,
  type FolderRow,
  type FolderScope,
  insertFolder,
  listFolders,
  lockFolders,
  readReadme,
  type Unfiled,
  unfileAll,
  updateFolder,
} from './rows.ts';
import { keptVisibility, numbered, sharesNames, slugOfName } from './rules.ts';
import { FolderTree, FolderView } from './tree.ts';

type Deps = Pick<ServiceDeps, 'sql' | 'clock' | 'bus'>;

/** Undefined fields stay as they are; of a new folder they are empty. */
export interface FolderChange {
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  readonly description?: string | null | undefined;
  readonly readme?: string | null | undefined;
  readonly parent_id?: FolderId | null | undefined;
  readonly visibility?: FolderRow['visibility'] | undefined;
  readonly guest_comments?: boolean | null | undefined;
}

/** The call that changes folders. */
export interface Changer extends Conditions, AuditedCall {
  readonly user: UserId;
}

export async function makeFolder(
  deps: Deps,
  call: Changer,
  scope: FolderScope,
  wish: FolderChange & { readonly name: string },
): Promise<FolderRow> {
  const nowMs = deps.clock.nowMs();
  const made = await inScope(deps, scope, async (tx, tree) => {
    const view = new FolderView(tree, call.principal);
    if (tree.all.length >= LIMITS.foldersMax) throw new Failure('FOLDER_LIMIT_EXCEEDED');
    const parentId = requireParent(view, wish.parent_id ?? null);
    requireDepth(tree.upFrom(parentId).length + 1);
    const row: FolderRow = {
      id: newId('folder'),
      workspace_id: scope.workspaceId,
      owner_id: scope.ownerId,
      parent_id: parentId,
      slug: wish.slug ?? slugOfName(wish.name),
      name: wish.name,
      description: wish.description ?? null,
      visibility: wish.visibility ?? 'inherit',
      guest_comments: wish.guest_comments ?? null,
      created_by: call.user,
      created_at_ms: nowMs,
      updated_at_ms: nowMs,
    };
    const named = { ...row, slug: freeSlug(view, row, wish.slug !== undefined) };
    await insertFolder(tx, named, wish.readme ?? null);
    await record(tx, call, 'folder.create', named, { slug: named.slug, visibility: named.visibility, parent_id: named.parent_id });
    return named;
  });
  deps.bus.tell({ kind: 'folder.changed', ...scope });
  return made;
}

/** For a caller who owns the folder. Throws FOLDER_NOT_FOUND when it was deleted since, VERSION_CONFLICT, FOLDER_CYCLE, FOLDER_SLUG_TAKEN. */
export async function changeFolder(deps: Deps, call: Changer, scope: FolderScope, id: FolderId, wish: FolderChange): Promise<FolderRow> {
  const changed = await inScope(deps, scope, async (tx, tree) => {
    const view = new FolderView(tree, call.principal);
    const before = requireFolder(view, id);
    checkConditions({ etag: await etagNow(tx, call, view, before), updatedAtMs: before.updated_at_ms }, call);
    const parentId = placeFor(view, before, wish.parent_id);
    const visibility = wish.visibility ?? visibilityAt(tree, before, parentId);
    const next: FolderRow = {
      ...before,
      name: wish.name ?? before.name,
      slug: wish.slug ?? before.slug,
      description: wish.description === undefined ? before.description : wish.description,
      guest_comments: wish.guest_comments === undefined ? before.guest_comments : wish.guest_comments,
      parent_id: parentId,
      visibility,
      updated_at_ms: changeTimeMs(before, deps.clock.nowMs()),
    };
    const named = { ...next, slug: freeSlug(view, next, true) };
    await requireMayOpen(tx, call, scope.workspaceId, tree, new FolderTree(tree.all.map((row) => (row.id === id ? named : row))));
    await updateFolder(tx, named, wish.readme);
    await record(tx, call, 'folder.update', named, differences(before, named));
    return named;
  });
  deps.bus.tell({ kind: 'folder.changed', ...scope });
  return changed;
}

/** What was in it, as far as the caller saw it. */
export interface DeletedContents {
  readonly artifacts: number;
  readonly subfolders: number;
}

/** For a caller who owns the folder. Nobody sees more of what was in it than before. */
export async function removeFolder(deps: Deps, call: Changer, scope: FolderScope, id: FolderId): Promise<DeletedContents> {
  const removed = await inScope(deps, scope, async (tx, tree) => {
    const view = new FolderView(tree, call.principal);
    const row = requireFolder(view, id);
    checkConditions({ etag: await etagNow(tx, call, view, row), updatedAtMs: row.updated_at_ms }, call);
    const seen = await countInFolders(tx, viewerOf(call.principal), scope.workspaceId);
    const contents = { artifacts: seen.get(id) ?? 0, subfolders: view.childrenOf(id).length };
    const left = await moveUp(tx, tree, row, deps.clock.nowMs());
    await requireMayOpen(tx, call, scope.workspaceId, tree, new FolderTree(left));
    const unfiled = await unfileAll(tx, id, scope.workspaceId !== null && tree.effectiveOf(row) === 'private');
    await deleteFolder(tx, id);
    await record(tx, call, 'folder.delete', row, { artifacts_unfiled: unfiled.length });
    return { contents, unfiled };
  });
  deps.bus.tell({ kind: 'folder.changed', ...scope });
  tellUnfiled(deps, removed.unfiled);
  return removed.contents;
}

/** The ETag of a GET now, which a refusal answers. */
async function etagNow(tx: Queries, { principal }: Changer, view: FolderView, row: FolderRow): Promise<string> {
  const counts = await countInFolders(tx, viewerOf(principal), row.workspace_id);
  const shown = { view, row, readme: await readReadme(tx, row.id), counts };
  return viewEtag(row, row.workspace_id === null ? presentPersonal(shown) : presentFolder(shown));
}

/** Only what happens in a workspace is recorded. */
async function record(
  tx: Queries,
  call: AuditedCall,
  action: string,
  row: FolderRow,
  detail: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (row.workspace_id === null) return;
  await audit(tx, call, { workspaceId: row.workspace_id, action, target: { type: 'folder', id: row.id, name: row.name }, detail });
}

const RECORDED = ['name', 'slug', 'visibility', 'parent_id', 'guest_comments'] as const;

function differences(before: FolderRow, after: FolderRow): Readonly<Record<string, unknown>> {
  const changed = RECORDED.filter((field) => before[field] !== after[field]);
  return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
}

function tellUnfiled({ bus }: Deps, unfiled: readonly Unfiled[]): void {
  for (const { id, slug, isLive } of unfiled) if (isLive) bus.tell({ kind: 'artifact.changed', artifactId: id, slugs: [slug] });
}

/** The folders right below one that is deleted take its place. Answers all that are left. */
async function moveUp(tx: Queries, tree: FolderTree, row: FolderRow, nowMs: number): Promise<readonly FolderRow[]> {
  const there: FolderRow[] = tree.all.filter(({ id, parent_id }) => parent_id !== row.id && id !== row.id);
  for (const child of tree.childrenOf(row.id)) {
    const moved = { ...child, parent_id: row.parent_id, visibility: visibilityAt(tree, child, row.parent_id) };
    const isTaken = (slug: string) => there.some((other) => other.slug === slug && sharesNames(other, moved));
    // The slug of the deleted folder is still in the index.
    const slug = numbered(moved.slug, (wished) => isTaken(wished) || (wished === row.slug && sharesNames(row, moved)));
    const next = { ...moved, slug, updated_at_ms: changeTimeMs(child, nowMs) };
    await updateFolder(tx, next, undefined);
    there.push(next);
  }
  return there;
}

async function inScope<T>(deps: Deps, scope: FolderScope, work: (tx: Queries, tree: FolderTree) => Promise<T>): Promise<T> {
  const [done] = await deps.sql.begin(async (tx) => {
    await lockFolders(tx, scope);
    const of = scope.workspaceId === null ? { owners: [scope.ownerId] } : { workspaceId: scope.workspaceId };
    // In a list, because the types of the client would unwrap what is returned bare.
    return [await work(tx, new FolderTree(await listFolders(tx, of)))] as const;
  });
  return done as T;
}

function requireFolder(view: FolderView, id: FolderId): FolderRow {
  const row = view.find(id);
  if (row === undefined || view.roleIn(row) !== 'owner') throw new Failure('FOLDER_NOT_FOUND');
  return row;
}

/** Throws FOLDER_NOT_FOUND for a parent that the caller does not see. */
function requireParent(view: FolderView, id: FolderId | null): FolderId | null {
  if (id !== null && view.find(id) === undefined) throw new Failure('FOLDER_NOT_FOUND', { param: 'parent_id' });
  return id;
}

/** Where a folder goes. The parent that the caller is shown may be sent back: it moves nothing. */
function placeFor(view: FolderView, row: FolderRow, wished: FolderId | null | undefined): FolderId | null {
  if (wished === undefined || wished === (view.parentOf(row)?.id ?? null)) return row.parent_id;
  const parentId = requireParent(view, wished);
  if (parentId === null) return null;
  if (view.tree.isBelow(parentId, row.id)) throw new Failure('FOLDER_CYCLE', { param: 'parent_id' });
  requireDepth(view.tree.upFrom(parentId).length + view.tree.levelsOf(row.id));
  return parentId;
}

/** Throws FOLDER_TOO_DEEP. */
function requireDepth(levels: number): void {
  if (levels > LIMITS.folderDepthMax) throw new Failure('FOLDER_TOO_DEEP', { param: 'parent_id' });
}

/** The visibility that a folder has at another place, where nobody sees it who did not see it before. */
function visibilityAt(tree: FolderTree, row: FolderRow, parentId: FolderId | null): FolderRow['visibility'] {
  if (row.workspace_id === null || parentId === row.parent_id) return row.visibility;
  return keptVisibility(row.visibility, tree.effectiveOf(row), tree.effective(row.visibility, parentId));
}

/**
 * The slug for a folder at its place. One that is taken by a folder which the caller sees is refused where it was asked for; any other is
 * numbered, so that nothing tells of folders which the caller does not see.
 */
function freeSlug(view: FolderView, row: FolderRow, isAskedFor: boolean): string {
  const others = view.tree.all.filter((other) => other.id !== row.id && sharesNames(other, row));
  const taken = others.filter(({ slug }) => slug === row.slug);
  if (isAskedFor && taken.some((other) => view.sees(other))) throw new Failure('FOLDER_SLUG_TAKEN', { param: 'slug' });
  return numbered(row.slug, (slug) => others.some((other) => other.slug === slug));
}
