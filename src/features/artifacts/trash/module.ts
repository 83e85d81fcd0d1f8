import type { Module, ModuleDeps, PurgeArtifact } from '../../module.ts';
import { type TrashDeps, trashHandlers } from './handlers.ts';
import { purgeExpired } from './purge.ts';

type Ids = keyof ReturnType<typeof trashHandlers>;

/** `purges`: what other resources store of an artifact and is too large to be removed with its row. */
export function trashModule(deps: ModuleDeps & Pick<TrashDeps, 'workspaces'> & { readonly purges: readonly PurgeArtifact[] }): Module<Ids> {
  return {
    handlers: trashHandlers(deps),
    sweeps: [{ name: 'artifacts', run: (signal) => purgeExpired(deps, signal) }],
  };
}
