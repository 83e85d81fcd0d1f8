/** Gives people a role on an artifact by their address, whether or not an account has proved it yet. */
import { type ArtifactHead, roleOf } from '../../../../actors/access/access.ts';
import type { Conditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { CollaboratorRole } from '../../../../protocol/sharing/collaborators.ts';
import { auditArtifact } from '../../artifacts/artifacts/audit.ts';
import { type ArtifactRow, lockArtifact, readHead } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import { type Accounts, accountsOf } from '../../people/accounts/rules.ts';
import { findByProvedEmail, readLinked } from '../../people/persons/rows.ts';
import { lockName } from '../../people/sign-in/rows.ts';
import { mayBeInvited } from '../../workspaces/access-policy/rules.ts';
import type { AuditedCall } from '../../workspaces/audit/audit.ts';
import { readRole } from '../../workspaces/members/rows.ts';
import { readWorkspaceByRef } from '../../workspaces/workspaces/rows.ts';
import { endRequests } from '../access-requests/rows.ts';
import { checkSimulated, requireNoOther } from '../explain/revision.ts';
import {
  countCollaborators,
  insertCollaborator,
  insertPending,
  readCollaborator,
  readPending,
  readProved,
  writePendingRole,
  writeRole,
} from './rows.ts';
import { isRaised, requireOwner, requireRoomForCollaborators } from './rules.ts';

/** The call of whoever shares. */
export type SharingCall = AuditedCall & Conditions & { readonly user: UserId; readonly refusal: Failure | undefined };

export interface Outcome {
  readonly email: string;
  readonly status: 'added' | 'pending' | 'raised' | 'unchanged' | 'owner';
  readonly role: CollaboratorRole | 'owner';
}

export interface Locked {
  readonly row: ArtifactRow;
  readonly head: ArtifactHead;
}

/**
 * The artifact locked, for its owner as the database has it now. `emails`: addresses that nobody may prove until the transaction ends, so that
 * an account which proves one meanwhile finds what waits for it; these locks come before any row. `role`: what they are to get, for
 * `requireSimulated`. Throws ARTIFACT_NOT_FOUND, FORBIDDEN, and what that throws.
 */
export async function lockAsOwner(
  tx: Queries,
  call: SharingCall,
  id: ArtifactId,
  emails: readonly string[] = [],
  role?: CollaboratorRole,
): Promise<Locked> {
  for (const email of [...emails].sort()) await lockName(tx, email);
  if (role !== undefined) await requireSimulated(tx, call, id, emails, role);
  const row = await lockArtifact(tx, id, accountsOf(call.principal));
  const head = await readHead(tx, id);
  if (head === null) throw new Failure('ARTIFACT_NOT_FOUND');
  requireOwner(roleOf(head, call.principal));
  if (call.refusal !== undefined) throw call.refusal;
  return { row, head };
}

/**
 * Where If-Match names a simulation, this change must be the simulated one, and nothing that decides may have changed since. Call it before any
 * row is locked. Throws VERSION_CONFLICT, INVALID_REQUEST.
 */
export async function requireSimulated(
  tx: Queries,
  call: SharingCall,
  id: ArtifactId,
  emails: readonly string[],
  role: CollaboratorRole | null,
): Promise<void> {
  const [email, ...others] = emails;
  const plan = email === undefined || others.length > 0 ? null : { collaborator: { email, role } };
  requireNoOther(await checkSimulated(tx, call, id, plan, call.nowMs));
}

export interface Gift {
  readonly emails: readonly string[];
  readonly role: CollaboratorRole;
}

/** Throws what `lockAsOwner` throws, ADDRESS_NOT_ALLOWED, COLLABORATOR_LIMIT_EXCEEDED. */
export async function give(
  tx: Queries,
  call: SharingCall,
  id: ArtifactId,
  { emails: given, role }: Gift,
): Promise<{ readonly row: ArtifactRow; readonly outcomes: readonly Outcome[] }> {
  const emails = [...new Set(given)];
  const { row } = await lockAsOwner(tx, call, id, emails, role);
  const outcomes: Outcome[] = [];
  for (const email of emails) outcomes.push(await giveOne(tx, call, row, { email, role }));
  requireRoomForCollaborators(await countCollaborators(tx, id));
  return { row, outcomes };
}

/** An address in lowercase, and what it gets. */
interface One {
  readonly email: string;
  readonly role: CollaboratorRole;
}

async function giveOne(tx: Queries, call: SharingCall, row: ArtifactRow, one: One): Promise<Outcome> {
  const userId = await findByProvedEmail(tx, one.email);
  const given = userId === null ? await givePending(tx, call, row, one) : await giveAccount(tx, call, row, userId, one);
  return { email: one.email, ...given };
}

type Given = Omit<Outcome, 'email'>;

async function givePending(tx: Queries, call: SharingCall, row: ArtifactRow, { email, role }: One): Promise<Given> {
  const before = await readPending(tx, row.id, email);
  if (before !== null && !isRaised(before.role, role)) return { status: 'unchanged', role: before.role };
  await requireAdmitted(tx, row.workspace_id, [email]);
  if (before === null) await insertPending(tx, email, { artifactId: row.id, role, nowMs: call.nowMs, addedBy: call.user });
  else await writePendingRole(tx, row.id, [email], role);
  await auditArtifact(tx, call, row, before === null ? 'collaborator.add' : 'collaborator.update', { email, role });
  return { status: before === null ? 'pending' : 'raised', role };
}

/**
 * The same for an account, with whose person it counts. Requests of that person end: access is given. The artifact is locked. Throws
 * ADDRESS_NOT_ALLOWED.
 */
export async function giveAccount(
  tx: Queries,
  call: AuditedCall & { readonly user: UserId },
  row: ArtifactRow,
  userId: UserId,
  { email, role }: { readonly email: string | null; readonly role: CollaboratorRole },
): Promise<Given> {
  const accounts = await readLinked(tx, [userId]);
  if (row.owner_id !== null && accounts.includes(row.owner_id)) return { status: 'owner', role: 'owner' };
  const before = await readCollaborator(tx, row.id, accounts);
  if (before !== null && !isRaised(before.role, role)) return { status: 'unchanged', role: before.role };
  if (before === null) {
    await requireAdmitted(tx, row.workspace_id, email === null ? await readProved(tx, accounts) : [email], accounts);
    await insertCollaborator(tx, userId, { artifactId: row.id, role, nowMs: call.nowMs });
  } else await writeRole(tx, row.id, accounts, role);
  await endRequests(tx, row.id, accounts, call.nowMs);
  const action = before === null ? 'collaborator.add' : 'collaborator.update';
  await auditArtifact(tx, call, row, action, { user_id: userId, ...(email !== null && { email }), role });
  return { status: before === null ? 'added' : 'raised', role };
}

/** The access policy of a workspace also bounds with whom its pages are shared; members are admitted. Throws ADDRESS_NOT_ALLOWED. */
async function requireAdmitted(
  tx: Queries,
  workspaceId: WorkspaceId | null,
  emails: readonly string[],
  accounts: Accounts = [],
): Promise<void> {
  if (workspaceId === null || (await readRole(tx, workspaceId, accounts)) !== null) return;
  const workspace = await readWorkspaceByRef(tx, workspaceId);
  // An account without an address is admitted where the policy names nobody.
  const [first = '', ...others] = emails;
  if (workspace === null || [first, ...others].some((email) => mayBeInvited(workspace, email))) return;
  throw new Failure('ADDRESS_NOT_ALLOWED', first === '' ? {} : { message: `The access policy of the workspace does not admit ${first}.` });
}
