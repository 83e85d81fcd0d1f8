/** The endpoints of the members of a workspace: who they are, their roles, joining, leaving, and who owns it. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { type Accounts, accountsOf } from '../../people/accounts/rules.ts';
import { findByProvedEmail, readLinked, readProvedEmails } from '../../people/persons/rows.ts';
import { mayBeInvited, mayJoin } from '../access-policy/rules.ts';
import { type AuditedCall, audit } from '../audit/audit.ts';
import type { Invitations } from '../invites/invitations.ts';
import type { WorkspaceDirectory } from '../workspaces/directory.ts';
import { presentWorkspace } from '../workspaces/present.ts';
import { lockWorkspace, showWorkspace } from '../workspaces/rows.ts';
import { join } from './joining.ts';
import {
  countMembers,
  deleteMember,
  hasOtherOwner,
  listMembers,
  type MemberRow,
  requireActor,
  requireMember,
  writeBillingManager,
  writeRole,
} from './rows.ts';
import { requireMayAssign, requireMayRemove, requireOwnerStays } from './rules.ts';

type Ids = 'members.list' | 'members.add' | 'members.update' | 'members.remove' | 'workspaces.join' | 'workspaces.transfer';
export type MemberDeps = Pick<ServiceDeps, 'sql' | 'bus'> & {
  readonly workspaces: WorkspaceDirectory;
  readonly invitations: Invitations;
};

export function memberHandlers(deps: MemberDeps): Handlers<Ids> {
  const { sql, bus, workspaces, invitations } = deps;
  const told = (userIds: Accounts) => bus.tell({ kind: 'person.changed', userIds });
  return {
    'members.list': async ({ workspace: { id }, query }) => {
      const rows = await listMembers(sql, id, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.joined_at_ms, id: row.user_id }));
      const total = query.count ? { total: await countMembers(sql, id) } : {};
      return { reply: 'ok', body: { members: items.map(present), ...page, ...total } };
    },
    'members.add': async (call) => {
      const { workspace, body } = call;
      const added = await sql.begin((tx) => addMember(tx, call, workspace.id, body));
      if (added === null) return { reply: 'invited', body: await invitations.inviteOne(call, workspace.id, body) };
      told(added.accounts);
      return { reply: 'created', body: present(added.member) };
    },
    'members.update': async (call) => {
      const { workspace, params, body } = call;
      const { accounts, member } = await sql.begin(async (tx) => {
        const role = await change(tx, call, workspace.id, params.userId, body);
        return { ...role, member: await requireMember(tx, workspace.id, params.userId) };
      });
      told(accounts);
      return { reply: 'ok', body: present(member) };
    },
    'members.remove': async (call) => {
      told(await sql.begin((tx) => removeMember(tx, call, call.workspace.id, call.params.userId)));
      return { reply: 'ok', body: { success: true } };
    },
    'workspaces.join': async (call) => {
      const found = await workspaces.get(call.params.workspaceId);
      if (found === null) throw new Failure('WORKSPACE_NOT_FOUND');
      told(await sql.begin((tx) => joinAlone(tx, call, found.id)));
      return { reply: 'ok', body: presentWorkspace(await showWorkspace(sql, found.id, accountsOf(call.principal))) };
    },
    'workspaces.transfer': async (call) => {
      const { newOwner, accounts } = await sql.begin((tx) => transfer(tx, call, call.workspace.id, call.body));
      told(accounts);
      bus.tell({ kind: 'workspace.changed', workspaceId: call.workspace.id });
      return { reply: 'ok', body: { success: true, new_owner: newOwner } };
    },
  };
}

function present(row: MemberRow) {
  return {
    user_id: row.user_id,
    email: row.email,
    name: row.name,
    role: row.role,
    billing_manager: row.billing_manager,
    joined_at: dateTime(row.joined_at_ms),
  };
}

interface Wanted {
  readonly email: string;
  readonly role: MemberRow['role'];
}

type PersonCall = AuditedCall & { readonly user: UserId };

/** Null where no account has proved the address. Throws ADDRESS_NOT_ALLOWED, ALREADY_MEMBER. */
async function addMember(tx: Queries, call: PersonCall, workspaceId: WorkspaceId, { email, role }: Wanted) {
  const row = await lockWorkspace(tx, workspaceId);
  requireMayAssign(await requireActor(tx, call, workspaceId, 'admin'), role);
  if (!mayBeInvited(row, email)) throw new Failure('ADDRESS_NOT_ALLOWED', { param: 'email' });
  const userId = await findByProvedEmail(tx, email);
  if (userId === null) return null;
  const accounts = await join(tx, { workspaceId, userId, role, addedBy: call.user, nowMs: call.nowMs });
  const member = await requireMember(tx, workspaceId, userId);
  await audit(tx, call, { workspaceId, action: 'member.add', target: targetOf(member), detail: { role } });
  return { accounts, member };
}

interface MemberChange {
  readonly role?: MemberRow['role'] | undefined;
  readonly billing_manager?: boolean | undefined;
}

/** Changes a member, with all linked accounts. Throws USER_NOT_FOUND, FORBIDDEN, LAST_OWNER. */
async function change(tx: Queries, call: PersonCall, workspaceId: WorkspaceId, userId: UserId, { role, billing_manager }: MemberChange) {
  await lockWorkspace(tx, workspaceId);
  const actor = await requireActor(tx, call, workspaceId, 'admin');
  const before = await requireMember(tx, workspaceId, userId);
  // Only owners decide who may spend the money of the workspace.
  requireMayAssign(actor, before.role, billing_manager === undefined ? (role ?? before.role) : 'owner');
  const accounts = await readLinked(tx, [userId]);
  if (role !== undefined) {
    requireOwnerStays(before.role, role, await hasOtherOwner(tx, workspaceId, accounts));
    await writeRole(tx, workspaceId, accounts, role);
  }
  if (billing_manager !== undefined) await writeBillingManager(tx, workspaceId, accounts, billing_manager);
  const changed = { ...(role !== undefined && { from: before.role, to: role }), ...(billing_manager !== undefined && { billing_manager }) };
  await audit(tx, call, { workspaceId, action: 'member.update', target: targetOf(before), detail: changed });
  return { accounts };
}

async function removeMember(tx: Queries, call: PersonCall, workspaceId: WorkspaceId, userId: UserId): Promise<Accounts> {
  await lockWorkspace(tx, workspaceId);
  const actor = await requireActor(tx, call, workspaceId, 'member');
  const member = await requireMember(tx, workspaceId, userId);
  const accounts = await readLinked(tx, [userId]);
  const isSelf = accounts.includes(call.user);
  requireMayRemove(actor, member.role, isSelf);
  requireOwnerStays(member.role, null, await hasOtherOwner(tx, workspaceId, accounts));
  await deleteMember(tx, workspaceId, accounts);
  await audit(tx, call, { workspaceId, action: isSelf ? 'member.leave' : 'member.remove', target: targetOf(member) });
  return accounts;
}

/** Throws WORKSPACE_NOT_FOUND where the policy does not admit the caller, who may not know that the workspace exists. */
async function joinAlone(tx: Queries, call: PersonCall, workspaceId: WorkspaceId): Promise<Accounts> {
  const row = await lockWorkspace(tx, workspaceId);
  const emails = await readProvedEmails(tx, accountsOf(call.principal));
  const [, userId] = [...emails].find(([email]) => mayJoin(row, email)) ?? [];
  if (userId === undefined) throw new Failure('WORKSPACE_NOT_FOUND');
  const accounts = await join(tx, { workspaceId, userId, role: 'member', addedBy: null, nowMs: call.nowMs });
  await audit(tx, call, { workspaceId, action: 'member.join', target: targetOf(await requireMember(tx, workspaceId, userId)) });
  return accounts;
}

interface Transfer {
  readonly user_id?: UserId | undefined;
  readonly email?: string | undefined;
  readonly keep_as: 'admin' | 'member';
}

async function transfer(tx: Queries, call: PersonCall, workspaceId: WorkspaceId, { user_id, email, keep_as }: Transfer) {
  await lockWorkspace(tx, workspaceId);
  await requireActor(tx, call, workspaceId, 'owner');
  const userId = user_id ?? (await findByProvedEmail(tx, email ?? ''));
  if (userId === null) throw new Failure('USER_NOT_FOUND', { param: 'email' });
  const member = await requireMember(tx, workspaceId, userId);
  const own = accountsOf(call.principal);
  if (own.includes(userId)) {
    const param = user_id === undefined ? 'email' : 'user_id';
    throw new Failure('INVALID_REQUEST', { param, message: `${param}: must name somebody else.` });
  }
  const theirs = await readLinked(tx, [userId]);
  await writeRole(tx, workspaceId, theirs, 'owner');
  await writeRole(tx, workspaceId, own, keep_as);
  await audit(tx, call, { workspaceId, action: 'workspace.transfer', target: targetOf(member), detail: { keep_as } });
  return { newOwner: userId, accounts: [...theirs, ...own] };
}

function targetOf({ user_id, name, email }: MemberRow) {
  return { type: 'user', id: user_id, name: name ?? email };
}
