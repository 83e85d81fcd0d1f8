import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { type GrantDeps, grantHandlers } from './handlers.ts';
import { deleteEndedGrants } from './rows.ts';

type Ids = keyof ReturnType<typeof grantHandlers>;

const KEPT_MS = RETENTION.grants.keptMs;

export function grantsModule(deps: ModuleDeps & Pick<GrantDeps, 'mail'>): Module<Ids> {
  const { sql, clock } = deps;
  return {
    handlers: grantHandlers(deps),
    sweeps: [{ name: 'grants', run: () => deleteEndedGrants(sql, clock.nowMs() - KEPT_MS) }],
  };
}
