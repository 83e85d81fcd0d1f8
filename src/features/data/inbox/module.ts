import type { Module, ModuleDeps } from '../../module.ts';
import { type InboxDeps, inboxHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof inboxHandlers>;

export function inboxModule(deps: ModuleDeps & Pick<InboxDeps, 'heads'>): Module<Ids> {
  return { handlers: inboxHandlers(deps) };
}
