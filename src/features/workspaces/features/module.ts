import type { Module, ModuleDeps } from '../../module.ts';
import type { WorkspaceDirectory } from '../workspaces/directory.ts';
import { featureHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof featureHandlers>;

export function featuresModule(deps: ModuleDeps & { readonly workspaces: WorkspaceDirectory }): Module<Ids> {
  return { handlers: featureHandlers(deps) };
}
