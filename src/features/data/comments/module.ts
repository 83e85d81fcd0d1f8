import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import type { Identities } from '../../people/identities/identities.ts';
import { deleteOldGuests } from './guests/rows.ts';
import { commentHandlers, commentTurnHandlers } from './handlers.ts';
import { Quotes } from './quotes.ts';

type Ids = keyof ReturnType<typeof commentHandlers>;

const GUESTS_KEPT_MS = RETENTION.guests.keptMs;

interface Needed {
  readonly identities: Identities;
  readonly mail: { wake(): void };
}

export function commentsModule(deps: ModuleDeps & Needed): Module<Ids> {
  const { sql, clock } = deps;
  const all = { ...deps, quotes: new Quotes(deps) };
  return {
    handlers: commentHandlers(all),
    atomic: (turns) => commentTurnHandlers(all, turns),
    sweeps: [{ name: 'guests', run: () => deleteOldGuests(sql, clock.nowMs(), clock.nowMs() - GUESTS_KEPT_MS) }],
  };
}
