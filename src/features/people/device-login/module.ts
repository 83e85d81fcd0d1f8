import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { DeviceApprovals } from './approvals.ts';
import { deviceLoginHandlers } from './handlers.ts';
import { deleteOldLogins } from './rows.ts';

type Ids = keyof ReturnType<typeof deviceLoginHandlers>;

/** How long a program learns that its code has expired; after that the code is unknown. */
const KEPT_MS = RETENTION['device logins'].keptMs;

export function deviceLoginModule(deps: ModuleDeps): Module<Ids> & { readonly approvals: DeviceApprovals } {
  const { sql, clock } = deps;
  return {
    approvals: new DeviceApprovals(deps),
    handlers: deviceLoginHandlers(deps),
    sweeps: [{ name: 'device logins', run: () => deleteOldLogins(sql, clock.nowMs() - KEPT_MS) }],
  };
}
