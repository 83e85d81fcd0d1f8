import type { Module, ModuleDeps } from '../../module.ts';
import type { SessionService } from '../sessions/sessions.ts';
import type { People } from '../sign-in/people.ts';
import { oidcHandlers } from './handlers.ts';
import type { OidcProviders } from './providers.ts';
import { deleteExpiredAttempts } from './rows.ts';

type Ids = keyof ReturnType<typeof oidcHandlers>;

export interface OidcModuleDeps extends ModuleDeps {
  readonly people: People;
  readonly sessions: SessionService;
  readonly providers: OidcProviders;
}

export function oidcModule(deps: OidcModuleDeps): Module<Ids> {
  const { sql, clock } = deps;
  return {
    handlers: oidcHandlers(deps),
    sweeps: [{ name: 'signInAttempts', run: () => deleteExpiredAttempts(sql, clock.nowMs()) }],
  };
}
