import { RETENTION } from '../../../../protocol/business/retention.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { InstanceSettings } from '../../business/instance/settings.ts';
import { parsingQueue } from '../../data/datasets/queues.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import type { SessionService } from '../../people/sessions/sessions.ts';
import type { WorkspaceDirectory } from '../../workspaces/workspaces/directory.ts';
import { Converter } from './convert/converter.ts';
import { Drives } from './drives.ts';
import { importHandlers } from './handlers.ts';
import { resealTokens } from './reseal.ts';
import { deleteExpiredAttempts, deleteUseless } from './rows.ts';
import { ImportRunner } from './runner.ts';
import { deleteOldRuns } from './runs.ts';

type Ids = keyof ReturnType<typeof importHandlers>;

export interface ImportsModuleDeps extends ModuleDeps {
  readonly sessions: SessionService;
  readonly workspaces: WorkspaceDirectory;
  readonly flags: Pick<InstanceSettings, 'require' | 'isOn'>;
}

export function importsModule(deps: ImportsModuleDeps): Module<Ids> {
  const { sql, clock, settings } = deps;
  const drives = new Drives(settings.imports, deps);
  const runner = new ImportRunner({ ...deps, drives, parsing: parsingQueue(), converter: new Converter(deps) });
  return {
    handlers: importHandlers({ ...deps, drives, onRun: () => runner.wake(), onCancel: (id) => runner.cancel(id) }),
    sweeps: [
      { name: 'importAttempts', run: () => deleteExpiredAttempts(sql, clock.nowMs()) },
      { name: 'imports', run: () => deleteUseless(sql) },
      { name: 'importRuns', run: () => deleteOldRuns(sql, clock.nowMs() - RETENTION.importRuns.keptMs, LIMITS.importRunsKeptPerSourceMax) },
      { name: 'importsResealed', run: (signal) => resealTokens(deps, signal) },
    ],
    gauges: [{ name: 'easel_import_runs_active', help: 'Import runs that this process works on.', read: () => runner.active }],
    // Without a drive there is nothing to import from.
    start: () => {
      if (drives.ids.length > 0) runner.wake();
    },
    // Its publishes end before the actors do.
    drain: () => runner.stop(),
  };
}
