import type { Module, ModuleDeps } from '../../module.ts';
import { type CatalogDeps, catalogHandlers } from './handlers.ts';
import { deleteOfGoneThings } from './rows.ts';

type Ids = keyof ReturnType<typeof catalogHandlers>;

export function catalogModule(deps: ModuleDeps & CatalogDeps): Module<Ids> {
  return {
    handlers: catalogHandlers(deps),
    sweeps: [{ name: 'catalogEntries', run: () => deleteOfGoneThings(deps.sql) }],
  };
}
