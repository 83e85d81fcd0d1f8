import type { Module, ModuleDeps } from '../../module.ts';
import { type AccountDeps, accountHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof accountHandlers>;

export function accountsModule(deps: ModuleDeps & Pick<AccountDeps, 'workspaces' | 'flags'>): Module<Ids> {
  return { handlers: accountHandlers(deps) };
}
