import type { Module, ModuleDeps } from '../../module.ts';
import { WorkspaceDirectory } from './directory.ts';
import { workspaceHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof workspaceHandlers>;

export function workspacesModule(deps: ModuleDeps): Module<Ids> & { readonly directory: WorkspaceDirectory } {
  return { directory: new WorkspaceDirectory(deps), handlers: workspaceHandlers(deps) };
}
