import type { Module, ModuleDeps } from '../../module.ts';
import { connectionHandlers } from './handlers.ts';
import { resealConnections } from './reseal.ts';
import { deleteOfDeletedWorkspaces } from './rows.ts';
import { ConnectionUse } from './use.ts';

type Ids = keyof ReturnType<typeof connectionHandlers>;

export function connectionsModule(deps: ModuleDeps): Module<Ids> & { readonly connections: ConnectionUse } {
  return {
    connections: new ConnectionUse(deps),
    handlers: connectionHandlers(deps),
    sweeps: [
      { name: 'connections', run: () => deleteOfDeletedWorkspaces(deps.sql) },
      { name: 'resealed', run: (signal) => resealConnections(deps, signal) },
    ],
  };
}
