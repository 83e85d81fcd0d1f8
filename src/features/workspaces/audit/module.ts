import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { auditHandlers } from './handlers.ts';
import { forgetEntries } from './rows.ts';

type Ids = keyof ReturnType<typeof auditHandlers>;

/** As long as what the workspace had can be restored. */
const KEPT_MS = RETENTION.audit.keptMs;

export function auditModule(deps: ModuleDeps): Module<Ids> {
  const { sql, clock } = deps;
  return {
    handlers: auditHandlers(deps),
    sweeps: [{ name: 'audit', run: () => forgetEntries(sql, clock.nowMs() - KEPT_MS) }],
  };
}
