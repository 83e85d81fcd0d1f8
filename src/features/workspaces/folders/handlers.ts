/** The endpoints of folders, and those that file artifacts in them. */
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { FolderId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Handlers } from '../../../edge/call.ts';
import type { FolderSeat } from '../../../edge/subjects.ts';
import { countInFolders, viewerOf } from '../../artifacts/artifacts/lists.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { type AuditedCall, audit } from '../audit/audit.ts';
import type { WorkspaceDirectory } from '../workspaces/directory.ts';
import { changeFolder, type DeletedContents, makeFolder, removeFolder } from './changes.ts';
import { fileArtifact, type Move } from './filing.ts';
import { presenter, presentFolder, presentFolders, presentPersonal, type Shown, viewEtag } from './present.ts';
import { listFolders, readReadme } from './rows.ts';
import { FolderTree, FolderView } from './tree.ts';

type Ids =
  | 'folders.list'
  | 'folders.create'
  | 'folders.byPath'
  | 'folders.get'
  | 'folders.update'
  | 'folders.delete'
  | 'folders.move'
  | 'personalFolders.list'
  | 'personalFolders.create'
  | 'personalFolders.get'
  | 'personalFolders.update'
  | 'personalFolders.delete'
  | 'personalFolders.file';

export type FolderDeps = Pick<ServiceDeps, 'sql' | 'clock' | 'bus'> & { readonly workspaces: WorkspaceDirectory };

export function folderHandlers(deps: FolderDeps): Handlers<Ids> {
  return { ...teamHandlers(deps), ...personalHandlers(deps) };
}

type TeamIds = Extract<Ids, `folders.${string}`>;

function teamHandlers(deps: FolderDeps): Handlers<TeamIds> {
  const { sql } = deps;
  return {
    'folders.list': async ({ principal, workspace, query }) => {
      const view = await viewOf(sql, principal, workspace.id);
      const rows = listedIn(view, query.parent_id ?? null, query.all === '1');
      const counts = await countInFolders(sql, viewerOf(principal), workspace.id);
      return { reply: 'ok', body: { folders: presentFolders(view, rows, counts), can_create: principal.kind === 'user' } };
    },
    'folders.create': async (call) => {
      const { id } = await makeFolder(deps, call, { workspaceId: call.workspace.id, ownerId: null }, call.body);
      return { reply: 'created', body: presentFolder(await showTeam(sql, call.principal, call.workspace.id, id)) };
    },
    'folders.byPath': async ({ principal, params }) => {
      const workspaceId = await visitedWorkspace(deps, params.workspaceId);
      const row = (await viewOf(sql, principal, workspaceId)).byPath(params.path);
      return folderReply(await showTeam(sql, principal, workspaceId, row?.id));
    },
    'folders.get': async ({ principal, params }) => {
      const workspaceId = await visitedWorkspace(deps, params.workspaceId);
      return folderReply(await showTeam(sql, principal, workspaceId, params.folderId));
    },
    'folders.update': async (call) => {
      const workspaceId = await workspaceOf(deps, call.folder, call.params.workspaceId);
      await changeFolder(deps, call, { workspaceId, ownerId: null }, call.params.folderId, call.body);
      return folderReply(await showTeam(sql, call.principal, workspaceId, call.params.folderId));
    },
    'folders.delete': async (call) => {
      const workspaceId = await workspaceOf(deps, call.folder, call.params.workspaceId);
      const { folderId } = call.params;
      return deletedReply(folderId, await removeFolder(deps, call, { workspaceId, ownerId: null }, folderId));
    },
    'folders.move': async (call) => {
      const { principal, workspace, params, body } = call;
      const move = { id: params.artifactId, workspaceId: workspace.id, folderId: body.folder_id };
      await fileArtifact(deps, principal, move, recordMove(call), call);
      return { reply: 'ok', body: { success: true, artifact_id: params.artifactId, folder_id: body.folder_id } };
    },
  };
}

type PersonalIds = Extract<Ids, `personalFolders.${string}`>;

function personalHandlers(deps: FolderDeps): Handlers<PersonalIds> {
  const { sql } = deps;
  return {
    'personalFolders.list': async ({ principal }) => {
      const view = await ownView(sql, principal);
      return { reply: 'ok', body: { folders: view.seen().map(presenter(view, await ownCounts(sql, principal))) } };
    },
    'personalFolders.create': async (call) => {
      const owner = await ownerFor(deps, call, call.body.parent_id ?? null);
      const { id } = await makeFolder(deps, call, { workspaceId: null, ownerId: owner }, call.body);
      return { reply: 'created', body: presentPersonal(await showOwn(sql, call.principal, id)) };
    },
    'personalFolders.get': async ({ principal, folder }) => {
      personalOwner(folder);
      return personalReply(await showOwn(sql, principal, folder.id));
    },
    'personalFolders.update': async (call) => {
      await changeFolder(deps, call, { workspaceId: null, ownerId: personalOwner(call.folder) }, call.folder.id, call.body);
      return personalReply(await showOwn(sql, call.principal, call.folder.id));
    },
    'personalFolders.delete': async (call) => {
      const { id } = call.folder;
      return deletedReply(id, await removeFolder(deps, call, { workspaceId: null, ownerId: personalOwner(call.folder) }, id));
    },
    'personalFolders.file': async (call) => {
      const { principal, head, params, body } = call;
      const move = { id: params.id, workspaceId: head.workspaceId, folderId: body.folder_id };
      await fileArtifact(deps, principal, move, recordMove(call), call);
      return { reply: 'ok', body: { success: true, artifact_id: params.id, folder_id: body.folder_id } };
    },
  };
}

/** Only what happens in a workspace is recorded. */
function recordMove(call: AuditedCall) {
  return async (tx: Queries, { before, folder }: Move): Promise<void> => {
    if (before.workspace_id === null) return;
    const detail = { from: before.folder_id, to: folder?.id ?? null };
    const target = { type: 'artifact', id: before.id, name: before.name };
    await audit(tx, call, { workspaceId: before.workspace_id, action: 'artifact.move', target, detail });
  };
}

async function viewOf(sql: Queries, principal: Principal, workspaceId: WorkspaceId): Promise<FolderView> {
  return new FolderView(new FolderTree(await listFolders(sql, { workspaceId })), principal);
}

async function ownView(sql: Queries, principal: Principal): Promise<FolderView> {
  return new FolderView(new FolderTree(await listFolders(sql, { owners: accountsOf(principal) })), principal);
}

function ownCounts(sql: Queries, principal: Principal) {
  return countInFolders(sql, viewerOf(principal), null);
}

/** The folders at the top or below `parentId`: one level, or all of them. Throws FOLDER_NOT_FOUND. */
function listedIn(view: FolderView, parentId: FolderId | null, everyDepth: boolean) {
  if (parentId !== null && view.find(parentId) === undefined) throw new Failure('FOLDER_NOT_FOUND', { param: 'parent_id' });
  if (!everyDepth) return view.childrenOf(parentId);
  return view.seen().filter(({ id }) => parentId === null || (id !== parentId && view.tree.isBelow(id, parentId)));
}

/** Throws FOLDER_NOT_FOUND: nobody learns whether there is such a workspace, or only no such folder. */
async function visitedWorkspace({ workspaces }: FolderDeps, ref: string): Promise<WorkspaceId> {
  const workspace = await workspaces.get(ref);
  if (workspace === null) throw new Failure('FOLDER_NOT_FOUND');
  return workspace.id;
}

/** The workspace of a folder that was found by its id alone. Throws FOLDER_NOT_FOUND where the path names another. */
async function workspaceOf(deps: FolderDeps, folder: FolderSeat, ref: string): Promise<WorkspaceId> {
  const workspaceId = await visitedWorkspace(deps, ref);
  if (folder.workspaceId !== workspaceId) throw new Failure('FOLDER_NOT_FOUND');
  return workspaceId;
}

function personalOwner({ ownerId }: FolderSeat): UserId {
  if (ownerId === null) throw new Failure('FOLDER_NOT_FOUND');
  return ownerId;
}

/** Folders below one of a linked account belong to that account, as those above them. */
async function ownerFor({ sql }: FolderDeps, call: { readonly principal: Principal; readonly user: UserId }, parentId: FolderId | null) {
  if (parentId === null) return call.user;
  return (await ownView(sql, call.principal)).find(parentId)?.owner_id ?? call.user;
}

async function showTeam(sql: Queries, principal: Principal, workspaceId: WorkspaceId, id: FolderId | undefined): Promise<Shown> {
  return show(sql, await viewOf(sql, principal, workspaceId), id, await countInFolders(sql, viewerOf(principal), workspaceId));
}

async function showOwn(sql: Queries, principal: Principal, id: FolderId): Promise<Shown> {
  return show(sql, await ownView(sql, principal), id, await ownCounts(sql, principal));
}

/** Throws FOLDER_NOT_FOUND. */
async function show(sql: Queries, view: FolderView, id: FolderId | undefined, counts: Shown['counts']): Promise<Shown> {
  const row = id === undefined ? undefined : view.find(id);
  if (row === undefined) throw new Failure('FOLDER_NOT_FOUND');
  return { view, row, readme: await readReadme(sql, row.id), counts };
}

function folderReply(shown: Shown) {
  const body = presentFolder(shown);
  return { reply: 'ok', body, etag: viewEtag(shown.row, body) } as const;
}

function personalReply(shown: Shown) {
  const body = presentPersonal(shown);
  return { reply: 'ok', body, etag: viewEtag(shown.row, body) } as const;
}

function deletedReply(id: FolderId, { artifacts, subfolders }: DeletedContents) {
  return { reply: 'ok', body: { success: true, deleted: id, artifacts_unfiled: artifacts, subfolders_moved: subfolders } } as const;
}
