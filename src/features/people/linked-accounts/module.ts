import type { Module, ModuleDeps } from '../../module.ts';
import { type LinkedAccountDeps, linkedAccountHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof linkedAccountHandlers>;

export function linkedAccountsModule(deps: ModuleDeps & LinkedAccountDeps): Module<Ids> {
  return { handlers: linkedAccountHandlers(deps) };
}
