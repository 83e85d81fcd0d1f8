import type { Module, ModuleDeps } from '../../module.ts';
import { connectionHandlers } from './handlers.ts';
import { resealConnections } from './reseal.ts';
import { deleteOfDeletedWorkspaces } from './rows.ts';

type Ids = keyof ReturnType<typeof connectionHandlers>;

export function connectionsModule(deps: ModuleDeps): Module<Ids> {
  return {
    handlers: connectionHandlers(deps),
    sweeps: [
      { name: 'connections', run: () => deleteOfDeletedWorkspaces(deps.sql) },
      { name: 'resealed', run: (signal) => resealConnections(deps, signal) },
    ],
  };
}
