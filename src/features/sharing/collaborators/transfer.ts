/** Gives an artifact to another person: what it stores counts for them from then on. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Call } from '../../../edge/call.ts';
import { queueMail } from '../../../mail/outbox.ts';
import { composeMail } from '../../../mail/templates/compose.ts';
import { localeOf } from '../../../mail/templates/message.ts';
import { pageUrl } from '../../../platform/config.ts';
import { auditArtifact } from '../../artifacts/artifacts/audit.ts';
import { type ArtifactRow, holderOfRow, writeOwner } from '../../artifacts/artifacts/rows.ts';
import { changeTimeMs } from '../../artifacts/artifacts/rules.ts';
import { requirePublicAllowed } from '../../business/tiers/rules.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { tierIn } from '../../people/accounts/rows.ts';
import { type Accounts, accountsOf } from '../../people/accounts/rules.ts';
import { findByProvedEmail, readLinked, readLocale } from '../../people/persons/rows.ts';
import { addUsage, artifactBytes, lockUsage } from '../../people/usage/rows.ts';
import { requireRoom, type Usage } from '../../people/usage/rules.ts';
import { requireUsage } from '../../people/usage/storage.ts';
import { readRole } from '../../workspaces/members/rows.ts';
import { endRequests } from '../access-requests/rows.ts';
import { lockAsOwner } from './giving.ts';
import { countCollaborators, deleteCollaborator, insertCollaborator, readShown } from './rows.ts';
import { requireRoomForCollaborators } from './rules.ts';

type Deps = Pick<ServiceDeps, 'clock' | 'config'>;
type TransferCall = Call<Endpoints['collaborators.transfer']>;

/**
 * Answers the artifact as it was, and its new owner. Throws FORBIDDEN, USER_NOT_FOUND, INVALID_REQUEST for who owns it already, and
 * ADDRESS_NOT_ALLOWED, PLAN_REQUIRED or ACCOUNT_STORAGE_FULL where the new owner cannot have it.
 */
export async function transfer({ clock, config }: Deps, tx: Queries, call: TransferCall) {
  const { id } = call.params;
  const { email, keep_as } = call.body;
  const { row } = await lockAsOwner(tx, call, id);
  const newOwner = await findByProvedEmail(tx, email);
  if (newOwner === null) {
    throw new Failure('USER_NOT_FOUND', {
      param: 'email',
      message: 'No account has proved this address.',
      hint: 'Ask them to sign up first.',
    });
  }
  const theirs = await readLinked(tx, [newOwner]);
  await requireMayOwn(tx, row, newOwner, theirs);
  await moveUsage(tx, row, newOwner, call.nowMs);
  await writeOwner(tx, id, { ownerId: newOwner, folderId: keptFolder(row) }, changeTimeMs(row, clock.nowMs()));
  await deleteCollaborator(tx, id, theirs);
  await endRequests(tx, id, theirs, call.nowMs);
  await keep(tx, row, call, theirs);
  await auditArtifact(tx, call, row, 'artifact.transfer', { from: row.owner_id, to: newOwner, email, keep_as });
  await mailNewOwner(tx, config, call, row);
  return { row, newOwner };
}

async function requireMayOwn(tx: Queries, row: ArtifactRow, newOwner: UserId, theirs: Accounts): Promise<void> {
  if (row.owner_id !== null && theirs.includes(row.owner_id)) {
    throw new Failure('INVALID_REQUEST', { param: 'email', message: 'email: must name somebody else; they own it already.' });
  }
  // Who owns something in a workspace acts in it, so only members do.
  if (row.workspace_id !== null && (await readRole(tx, row.workspace_id, theirs)) === null) {
    throw new Failure('ADDRESS_NOT_ALLOWED', {
      param: 'email',
      message: 'The artifact is in a workspace of which they are no member.',
      hint: 'Add them to the workspace, or move the artifact out of it first.',
    });
  }
  if (row.visibility !== 'public') return;
  requirePublicAllowed(await tierIn(tx, newOwner, row.workspace_id), {
    param: 'email',
    message: 'The artifact is public, and their account has no plan for that.',
    hint: 'Make it private first, or put it into a workspace with a paid plan.',
  });
}

/** Throws ACCOUNT_STORAGE_FULL. How much the other account has is not told. */
async function moveUsage(tx: Queries, row: ArtifactRow, newOwner: UserId, nowMs: number): Promise<void> {
  const before = holderOfRow(row);
  await lockUsage(tx, before, newOwner);
  const bytes = await artifactBytes(tx, row.id);
  requireTheirRoom(await requireUsage(tx, newOwner, nowMs), bytes);
  await addUsage(tx, before, -bytes, -1);
  await addUsage(tx, newOwner, bytes, 1);
}

function requireTheirRoom(usage: Usage, bytes: number): void {
  try {
    requireRoom(usage, { bytes, artifacts: 1 });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure('ACCOUNT_STORAGE_FULL', {
      param: 'email',
      message: 'Their account has no room for this artifact.',
      hint: 'Ask them to delete something, or delete old versions of the artifact first.',
    });
  }
}

/** Personal folders are their owner's alone. */
function keptFolder({ folder }: ArtifactRow) {
  return folder === null || folder.workspaceId === null ? null : folder.id;
}

/** The former owner, or for what the workspace owned whoever has given it away. */
async function keep(tx: Queries, row: ArtifactRow, call: TransferCall, newOwners: Accounts): Promise<void> {
  const { keep_as: role } = call.body;
  const own = row.owner_id === null ? accountsOf(call.principal) : await readLinked(tx, [row.owner_id]);
  await deleteCollaborator(tx, row.id, own);
  // Whoever runs a workspace may take over what it owns.
  if (role === 'none' || newOwners.includes(call.user)) return;
  const userId = row.owner_id ?? call.user;
  await insertCollaborator(tx, userId, { artifactId: row.id, role, nowMs: call.nowMs });
  requireRoomForCollaborators(await countCollaborators(tx, row.id));
}

async function mailNewOwner(tx: Queries, config: Deps['config'], call: TransferCall, row: ArtifactRow): Promise<void> {
  const { email } = call.body;
  const giver = await readShown(tx, call.user);
  const facts = {
    by: giver?.name ?? giver?.email ?? 'Somebody',
    artifact: row.name,
    role: 'owner',
    url: `${pageUrl(config, row.slug)}/`,
  } as const;
  const locale = localeOf(await readLocale(tx, email));
  await queueMail(tx, [composeMail('access_granted', facts, { recipient: email, locale, artifactId: row.id })], call.nowMs);
}
