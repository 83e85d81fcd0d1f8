import type { Module, ModuleDeps } from '../../module.ts';
import { ownPasskeyHandlers, type PasskeyDeps, passkeySignInHandlers } from './handlers.ts';
import { deleteExpiredChallenges } from './rows.ts';

type Ids = keyof ReturnType<typeof ownPasskeyHandlers> | keyof ReturnType<typeof passkeySignInHandlers>;

export function passkeysModule(deps: ModuleDeps & PasskeyDeps): Module<Ids> {
  const { sql, clock } = deps;
  return {
    handlers: { ...ownPasskeyHandlers(deps), ...passkeySignInHandlers(deps) },
    sweeps: [{ name: 'passkeyChallenges', run: () => deleteExpiredChallenges(sql, clock.nowMs()) }],
  };
}
