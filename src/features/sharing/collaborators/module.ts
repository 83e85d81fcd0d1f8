import type { Module, ModuleDeps } from '../../module.ts';
import { type CollaboratorDeps, collaboratorHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof collaboratorHandlers>;

export function collaboratorsModule(deps: ModuleDeps & Pick<CollaboratorDeps, 'mail'>): Module<Ids> {
  return { handlers: collaboratorHandlers(deps) };
}
