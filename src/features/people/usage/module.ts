import type { Module, ModuleDeps } from '../../module.ts';
import { endExpired, forgetReleases, reconcile } from './sweeps.ts';

/** Behind the modules that store, because it counts what their sweeps leave. */
export function usageModule(deps: ModuleDeps): Module {
  return {
    sweeps: [
      { name: 'storageReservations', run: (signal) => endExpired(deps, signal) },
      { name: 'storageReleases', run: () => forgetReleases(deps) },
      { name: 'correctedAccounts', run: (signal) => reconcile(deps, signal) },
    ],
  };
}
