import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { ScriptSandbox } from '../scripts/sandbox.ts';
import { EventTriggers, type TriggerDeps } from './events/triggers.ts';
import type { ExecuteDeps } from './execute.ts';
import { jobHandlers } from './handlers.ts';
import { Rehearsals } from './rehearsal.ts';
import { runHandlers } from './run-handlers.ts';
import { JobRunner } from './runner.ts';
import { deleteOldRuns } from './runs.ts';
import { Scheduler } from './scheduler.ts';
import { deleteOldTableUses } from './table-use-rows.ts';
import { TableUses } from './table-uses.ts';
import { OwnApi } from './world.ts';

type Ids = keyof (ReturnType<typeof jobHandlers> & ReturnType<typeof runHandlers>);

export function jobsModule(
  deps: ModuleDeps & Pick<ExecuteDeps, 'heads' | 'tokens' | 'mail' | 'connections'> & Pick<TriggerDeps, 'views'>,
): Module<Ids> {
  const { sql, clock, bus, config } = deps;
  const sandbox = new ScriptSandbox(deps);
  const api = new OwnApi(() => ({ host: ownHost(config.HOST), port: config.PORT }));
  const tableUses = new TableUses(deps);
  const acting = { ...deps, sandbox, api, tableUses };
  const runner = new JobRunner(acting);
  const scheduler = new Scheduler({ ...deps, onRuns: () => runner.wake() });
  const triggers = new EventTriggers({ ...deps, onRuns: () => runner.wake() });
  const rehearsals = new Rehearsals(acting);
  const onChanged = (artifactId: ArtifactId) => {
    bus.tell({ kind: 'jobs.changed', artifactId });
    scheduler.wake();
    runner.wake();
  };
  return {
    handlers: { ...jobHandlers({ ...deps, onChanged }), ...runHandlers({ ...deps, runner, rehearsals }) },
    sweeps: [
      { name: 'jobRuns', run: () => deleteOldRuns(sql, clock.nowMs() - RETENTION.jobRuns.keptMs, LIMITS.runsKeptPerJobMax) },
      { name: 'jobTableUses', run: () => deleteOldTableUses(sql, clock.nowMs() - RETENTION.jobTableUses.keptMs) },
    ],
    gauges: [
      { name: 'easel_job_runs_active', help: 'Runs of jobs that this process works on.', read: () => runner.active },
      { name: 'easel_event_artifacts', help: 'Artifacts whose events set jobs off.', read: () => triggers.listened },
    ],
    start: () => {
      scheduler.wake();
      runner.wake();
      void triggers.start();
    },
    // Before the doors close: runs call this process.
    drain: async () => {
      await Promise.all([scheduler.stop(), triggers.stop()]);
      await runner.stop();
      await tableUses.drain();
    },
    close: async () => {
      await sandbox.close();
      api.close();
    },
  };
}

/** Where this process listens, as it reaches itself. */
function ownHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
