/** The endpoints of invitations. */
import type { z } from 'zod';
import type { inviteOutcome } from '../../../../protocol/workspaces/invites.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import type { ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { audit } from '../audit/audit.ts';
import { requireActor } from '../members/rows.ts';
import { requireMayAssign } from '../members/rules.ts';
import { presentWorkspace } from '../workspaces/present.ts';
import { lockWorkspace, showWorkspace } from '../workspaces/rows.ts';
import { claimInvite } from './claim.ts';
import type { Invitations, Outcome } from './invitations.ts';
import { countInvites, listInvites, markRevoked, readInvite } from './rows.ts';
import { presentInvite, requireUnanswered } from './rules.ts';

type Ids = 'invites.create' | 'invites.list' | 'invites.resend' | 'invites.revoke' | 'invites.claim';
export type InviteDeps = Pick<ServiceDeps, 'sql' | 'bus'> & { readonly invitations: Invitations };

export function inviteHandlers({ sql, bus, invitations }: InviteDeps): Handlers<Ids> {
  return {
    'invites.create': async (call) => {
      const outcomes = await invitations.invite(call, call.workspace.id, [...new Set(call.body.emails)], call.body.role);
      const sent = outcomes.filter(({ status }) => status === 'invited').length;
      return { reply: 'ok', body: { results: outcomes.map((outcome) => present(outcome, call.nowMs)), sent } };
    },
    'invites.list': async ({ workspace, query, nowMs }) => {
      const wanted = { workspaceId: workspace.id, status: query.status, nowMs };
      const rows = await listInvites(sql, wanted, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countInvites(sql, wanted) } : {};
      return { reply: 'ok', body: { invites: items.map((row) => presentInvite(row, nowMs)), ...page, ...total } };
    },
    'invites.resend': async (call) => {
      const row = await invitations.resend(call, call.workspace.id, call.params.inviteId);
      return { reply: 'ok', body: presentInvite(row, call.nowMs) };
    },
    'invites.revoke': async (call) => {
      const workspaceId = call.workspace.id;
      const id = call.params.inviteId;
      await sql.begin(async (tx) => {
        await lockWorkspace(tx, workspaceId);
        const actor = await requireActor(tx, call, workspaceId, 'admin');
        const invite = requireUnanswered(await readInvite(tx, workspaceId, id));
        requireMayAssign(actor, invite.role);
        await markRevoked(tx, id, call.nowMs);
        await audit(tx, call, { workspaceId, action: 'invite.revoke', target: { type: 'invite', id, name: invite.email } });
      });
      return { reply: 'ok', body: { success: true } };
    },
    'invites.claim': async (call) => {
      const workspaceId = await claimInvite({ sql, bus }, call, call.body.code);
      return { reply: 'ok', body: presentWorkspace(await showWorkspace(sql, workspaceId, accountsOf(call.principal))) };
    },
  };
}

const WHY = {
  already_invited: 'The address has an open invitation; send that one again.',
  already_member: 'The address belongs to a member.',
  not_allowed: 'The access policy of the workspace does not admit this address.',
  invalid: 'This is not an e-mail address.',
} as const;

function present(outcome: Outcome, nowMs: number): z.input<typeof inviteOutcome> {
  const { email, status } = outcome;
  return {
    email,
    status,
    ...('row' in outcome && { invite: presentInvite(outcome.row, nowMs) }),
    ...(status !== 'invited' && { error: WHY[status] }),
  };
}
