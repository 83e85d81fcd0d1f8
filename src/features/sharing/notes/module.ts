import type { Module, ModuleDeps } from '../../module.ts';
import { noteHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof noteHandlers>;

export function notesModule(deps: ModuleDeps): Module<Ids> {
  return { handlers: noteHandlers(deps) };
}
