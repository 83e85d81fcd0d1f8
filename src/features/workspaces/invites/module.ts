import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { inviteHandlers } from './handlers.ts';
import { type InvitationDeps, Invitations } from './invitations.ts';
import { deleteClosed } from './rows.ts';

type Ids = keyof ReturnType<typeof inviteHandlers>;

/** Closed invitations are listed for a while. */
const KEPT_MS = LIMITS.trashRetentionDays * 24 * 3600 * 1000;

export function invitesModule(deps: ModuleDeps & Pick<InvitationDeps, 'mail'>): Module<Ids> & { readonly invitations: Invitations } {
  const { sql, clock } = deps;
  const invitations = new Invitations(deps);
  return {
    invitations,
    handlers: inviteHandlers({ ...deps, invitations }),
    sweeps: [{ name: 'invites', run: () => deleteClosed(sql, clock.nowMs() - KEPT_MS) }],
  };
}
