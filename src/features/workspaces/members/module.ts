import type { Module, ModuleDeps } from '../../module.ts';
import { type MemberDeps, memberHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof memberHandlers>;

export function membersModule(deps: ModuleDeps & MemberDeps): Module<Ids> {
  return { handlers: memberHandlers(deps) };
}
