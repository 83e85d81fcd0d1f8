import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { inviteHandlers } from './handlers.ts';
import { type InvitationDeps, Invitations } from './invitations.ts';
import { deleteClosed } from './rows.ts';

type Ids = keyof ReturnType<typeof inviteHandlers>;

/** Closed invitations are listed for a while. */
const KEPT_MS = RETENTION.invites.keptMs;

export function invitesModule(deps: ModuleDeps & Pick<InvitationDeps, 'mail'>): Module<Ids> & { readonly invitations: Invitations } {
  const { sql, clock } = deps;
  const invitations = new Invitations(deps);
  return {
    invitations,
    handlers: inviteHandlers({ ...deps, invitations }),
    sweeps: [{ name: 'invites', run: () => deleteClosed(sql, clock.nowMs() - KEPT_MS) }],
  };
}
