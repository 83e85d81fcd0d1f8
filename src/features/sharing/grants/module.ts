import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { type GrantDeps, grantHandlers } from './handlers.ts';
import { deleteEndedGrants } from './rows.ts';

type Ids = keyof ReturnType<typeof grantHandlers>;

const KEPT_MS = LIMITS.trashRetentionDays * 24 * 3_600_000;

export function grantsModule(deps: ModuleDeps & Pick<GrantDeps, 'mail'>): Module<Ids> {
  const { sql, clock } = deps;
  return {
    handlers: grantHandlers(deps),
    sweeps: [{ name: 'grants', run: () => deleteEndedGrants(sql, clock.nowMs() - KEPT_MS) }],
  };
}
