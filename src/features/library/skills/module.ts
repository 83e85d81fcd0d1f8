import type { PublishDeps } from '../../artifacts/publish/publish.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { attachmentHandlers, changeHandlers, skillHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof skillHandlers> | keyof ReturnType<typeof changeHandlers> | keyof ReturnType<typeof attachmentHandlers>;

export function skillsModule(deps: ModuleDeps & Pick<PublishDeps, 'workspaces'>): Module<Ids> {
  return { handlers: { ...skillHandlers(deps), ...changeHandlers(deps), ...attachmentHandlers(deps) } };
}
