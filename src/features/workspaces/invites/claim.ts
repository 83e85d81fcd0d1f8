/** Accepting an invitation: by code or link, and only by whoever has proved the address that was invited. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { readProvedEmails } from '../../people/persons/rows.ts';
import { type AuditedCall, audit } from '../audit/audit.ts';
import { join } from '../members/joining.ts';
import { lockWorkspace } from '../workspaces/rows.ts';
import { findInvite, markAccepted, readInvite } from './rows.ts';
import { codeSha256, requirePending } from './rules.ts';

/** Answers the workspace that the caller belongs to then. `given`: the code as it was typed, or the link. Throws what `claim` throws. */
export async function claimInvite({ sql, bus }: Pick<ServiceDeps, 'sql' | 'bus'>, call: AuditedCall, given: string): Promise<WorkspaceId> {
  const { workspaceId, accounts } = await sql.begin((tx) => claim(tx, call, codeSha256(given)));
  bus.tell({ kind: 'person.changed', userIds: accounts });
  return workspaceId;
}

/** Throws INVITE_NOT_FOUND, INVITE_FOR_ANOTHER, INVITE_CLOSED, ALREADY_MEMBER, WORKSPACE_LIMIT_EXCEEDED. */
async function claim(tx: Queries, call: AuditedCall, digest: Buffer) {
  const found = await findInvite(tx, digest);
  if (found === null) throw new Failure('INVITE_NOT_FOUND');
  const workspaceId = found.workspace_id;
  const workspace = await lockWorkspace(tx, workspaceId);
  const invite = await readInvite(tx, workspaceId, found.id);
  if (invite === null) throw new Failure('INVITE_NOT_FOUND');
  // Before anything else about the invitation is told: a forwarded mail opens nothing for whoever reads it.
  const userId = (await readProvedEmails(tx, accountsOf(call.principal))).get(invite.email);
  if (userId === undefined) throw new Failure('INVITE_FOR_ANOTHER', { param: 'code' });
  requirePending(invite, call.nowMs);
  const joining = { workspaceId, userId, role: invite.role, addedBy: invite.invited_by, nowMs: call.nowMs };
  const accounts = await join(tx, joining);
  await markAccepted(tx, invite.id, userId, call.nowMs);
  const target = { type: 'invite', id: invite.id, name: invite.email };
  await audit(tx, call, { workspaceId, action: 'invite.claim', target, detail: { workspace: workspace.name, role: invite.role } });
  return { workspaceId, accounts };
}
