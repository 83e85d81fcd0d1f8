import type { Module, ModuleDeps } from '../../module.ts';
import { type AccessRequestDeps, accessRequestHandlers } from './handlers.ts';
import { sweepRequests } from './sweep.ts';

type Ids = keyof ReturnType<typeof accessRequestHandlers>;

export function accessRequestsModule(deps: ModuleDeps & Pick<AccessRequestDeps, 'mail'>): Module<Ids> {
  return {
    handlers: accessRequestHandlers(deps),
    sweeps: [{ name: 'accessRequests', run: (signal) => sweepRequests(deps, signal) }],
  };
}
