import type { Module, ModuleDeps } from '../../module.ts';
import { contextHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof contextHandlers>;

export function contextModule(deps: ModuleDeps): Module<Ids> {
  return { handlers: contextHandlers(deps) };
}
