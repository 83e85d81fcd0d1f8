import type { Module, ModuleDeps } from '../../module.ts';
import { FolderHeads } from './folder-heads.ts';
import { type FolderDeps, folderHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof folderHandlers>;

export function foldersModule(deps: ModuleDeps & Pick<FolderDeps, 'workspaces'>): Module<Ids> & { readonly heads: FolderHeads } {
  return { heads: new FolderHeads(deps), handlers: folderHandlers(deps) };
}
