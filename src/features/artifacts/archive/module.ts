import type { Module, ModuleDeps } from '../../module.ts';
import { archiveHandlers } from './handlers.ts';
import type { ImportDeps } from './import.ts';

type Ids = keyof ReturnType<typeof archiveHandlers>;

export function archiveModule(deps: ModuleDeps & Pick<ImportDeps, 'workspaces'>): Module<Ids> {
  return { handlers: archiveHandlers(deps) };
}
