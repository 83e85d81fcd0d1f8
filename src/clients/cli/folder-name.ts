/** Resolves the folder that a command names: an id, or a path of slugs such as reports/2026. Without a workspace: a personal folder. */
import { Option } from 'commander';
import { CliFailure } from './failures.ts';
import type { Session } from './session.ts';

const ID = /^fld_[a-z0-9]{24}$/;

/** Of Team Space folders and personal ones. */
interface Listed {
  readonly id: string;
  readonly slug: string;
  readonly parent_id: string | null;
}

/** `-w, --workspace`, for `folderIdOf`. */
export function workspaceOption(): Option {
  return new Option('-w, --workspace <workspace>', 'slug or id of a workspace');
}

/** The path of each folder, by id, from the folders above it in the same list. */
export function pathsOf(folders: readonly Listed[]): Map<string, string> {
  const byId = new Map(folders.map((folder) => [folder.id, folder]));
  const paths = new Map<string, string>();
  const pathOf = (folder: Listed): string => {
    const above = folder.parent_id === null ? undefined : byId.get(folder.parent_id);
    const path = paths.get(folder.id) ?? (above === undefined ? folder.slug : `${pathOf(above)}/${folder.slug}`);
    paths.set(folder.id, path);
    return path;
  };
  for (const folder of folders) pathOf(folder);
  return paths;
}

/** The id of the folder that `name` names, in a workspace or among the caller's own. */
export async function folderIdOf(session: Session, name: string, workspaceId: string | undefined): Promise<string> {
  if (ID.test(name)) return name;
  const { signal } = session.shell;
  const path = name.replace(/^\/+|\/+$/g, '');
  const folders =
    workspaceId === undefined
      ? (await session.api.personalFolders.list({ signal })).body.folders
      : (await session.api.folders.list({ params: { workspaceId }, query: { all: '1' }, signal })).body.folders;
  for (const [id, known] of pathsOf(folders)) if (known === path) return id;
  throw new CliFailure(
    'missing',
    'FOLDER_NOT_FOUND',
    workspaceId === undefined ? `You have no folder "${name}".` : `${workspaceId} has no folder "${name}" that you see.`,
    `easel folders list${workspaceId === undefined ? '' : ` -w ${workspaceId}`} shows them.`,
  );
}
