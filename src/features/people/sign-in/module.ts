import type { Module, ModuleDeps } from '../../module.ts';
import type { OidcProviders } from '../oidc/providers.ts';
import type { SessionService } from '../sessions/sessions.ts';
import { Attempts } from './attempts.ts';
import { signInHandlers } from './handlers.ts';
import { passwordHandlers } from './password-handlers.ts';
import { PasswordHasher } from './password-hasher.ts';
import { People } from './people.ts';
import { deleteExpiredCodes } from './rows.ts';

type Ids = keyof ReturnType<typeof signInHandlers> | keyof ReturnType<typeof passwordHandlers>;

export interface SignInModuleDeps extends ModuleDeps {
  readonly sessions: SessionService;
  readonly providers: OidcProviders;
  readonly mail: { wake(): void };
}

export function signInModule(deps: SignInModuleDeps): Module<Ids> & { readonly people: People; readonly attempts: Attempts } {
  const { sql, clock, limiters } = deps;
  const people = new People(deps);
  const attempts = new Attempts(limiters.shared);
  const hasher = new PasswordHasher(deps);
  const all = { ...deps, people, attempts, hasher };
  return {
    people,
    attempts,
    handlers: { ...signInHandlers(all), ...passwordHandlers(all) },
    sweeps: [{ name: 'signInCodes', run: () => deleteExpiredCodes(sql, clock.nowMs()) }],
    gauges: [{ name: 'easel_password_checks_open', help: 'Checks of passwords that run or wait.', read: () => hasher.open }],
  };
}
