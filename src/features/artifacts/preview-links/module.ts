import type { Module, ModuleDeps } from '../../module.ts';
import { previewLinkHandlers } from './handlers.ts';
import { deleteExpiredLinks } from './rows.ts';

type Ids = keyof ReturnType<typeof previewLinkHandlers>;

export function previewLinksModule(deps: ModuleDeps): Module<Ids> {
  const { sql, clock } = deps;
  return {
    handlers: previewLinkHandlers(deps),
    sweeps: [{ name: 'previewLinks', run: () => deleteExpiredLinks(sql, clock.nowMs()) }],
  };
}
