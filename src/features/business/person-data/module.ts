import { RETENTION } from '../../../../protocol/business/retention.ts';
import { Exports } from '../../artifacts/archive/export.ts';
import type { Module, ModuleDeps, PurgeArtifact } from '../../module.ts';
import { personDeletionHandlers, personExportHandlers } from './handlers.ts';
import { forgetExports } from './rows.ts';
import { PersonWork } from './runner.ts';

type Ids = keyof ReturnType<typeof personExportHandlers> | keyof ReturnType<typeof personDeletionHandlers>;

/** `purges`: what other resources store of an artifact and is too large to be removed with its row. */
export function personDataModule(deps: ModuleDeps & { readonly purges: readonly PurgeArtifact[] }): Module<Ids> {
  const { sql, clock } = deps;
  const work = new PersonWork({ ...deps, archives: new Exports(deps) });
  return {
    handlers: { ...personExportHandlers({ ...deps, work }), ...personDeletionHandlers({ ...deps, work }) },
    sweeps: [{ name: 'person exports', run: () => forgetExports(sql, clock.nowMs(), clock.nowMs() - RETENTION['person exports'].keptMs) }],
    start: () => work.wake(),
    close: () => work.stop(),
  };
}
