import type { Module, ModuleDeps } from '../../module.ts';
import { versionHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof versionHandlers>;

export function versionsModule(deps: ModuleDeps): Module<Ids> {
  return { handlers: versionHandlers(deps) };
}
