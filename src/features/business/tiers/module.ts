import { Failure } from '../../../../protocol/core/errors.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import type { WorkspaceDirectory } from '../../workspaces/workspaces/directory.ts';
import { HeldReleases } from './held-releases.ts';
import { describePlan } from './presenting.ts';
import { releaseHeld } from './releasing.ts';

export function tiersModule(deps: ModuleDeps & { readonly workspaces: WorkspaceDirectory }): Module<'plans.get'> {
  const { sql, clock, workspaces } = deps;
  const releases = new HeldReleases(deps);
  return {
    // What facts that were missed, and trash that was restored, have left.
    sweeps: [{ name: 'heldVisibilities', run: (signal) => releaseHeld(deps, { of: 'all' }, signal) }],
    start: () => void releases.look({ of: 'all' }),
    drain: () => releases.stop(),
    handlers: {
      'plans.get': async ({ workspace }) => {
        const row = await workspaces.get(workspace.id);
        if (row === null) throw new Failure('WORKSPACE_NOT_FOUND');
        return { reply: 'ok', body: await describePlan(sql, row, clock.nowMs()) };
      },
    },
  };
}
