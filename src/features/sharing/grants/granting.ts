/** Shares something with somebody outside, in a transaction that holds the workspace. */

import type { Grant } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, ExternalId, GrantId, ShareeId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Capability } from '../../../../protocol/sharing/capability.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Queries } from '../../deps.ts';
import { type AuditedCall, audit } from '../../workspaces/audit/audit.ts';
import { accountsOfExternals, memberIdsOf, requireExternal, type SharingCall } from '../sharees/externals.ts';
import { requireSharee } from '../sharees/rows.ts';
import { requireRoom } from '../sharees/rules.ts';
import {
  countGrants,
  findGrant,
  type GrantRow,
  insertGrant,
  type Resource,
  requireArtifactIn,
  requireFileIn,
  requireFolderIn,
  requireGrant,
  type Subject,
  writeGrant,
} from './rows.ts';

/** Throws SHAREE_NOT_FOUND, EXTERNAL_NOT_FOUND. */
export async function subjectOf(sql: Queries, workspaceId: WorkspaceId, type: Subject['type'], id: string): Promise<Subject> {
  if (type === 'sharee') return { type, ...pick(await requireSharee(sql, workspaceId, id as ShareeId)) };
  const { id: externalId, email } = await requireExternal(sql, workspaceId, id);
  return { type, id: externalId, name: email };
}

function pick({ id, name }: { readonly id: ShareeId; readonly name: string }) {
  return { id, name };
}

/** Throws ARTIFACT_NOT_FOUND, FOLDER_NOT_FOUND, FILE_NOT_FOUND, and INVALID_REQUEST where a file is shared for more than looking at it. */
export async function resourceOf(
  tx: Queries,
  workspaceId: WorkspaceId,
  type: 'artifact' | 'folder' | 'file',
  id: string,
  capability: Capability,
): Promise<Resource> {
  if (type === 'artifact') return requireArtifactIn(tx, workspaceId, id);
  if (type === 'folder') return requireFolderIn(tx, workspaceId, id);
  if (capability !== 'view') throw new Failure('INVALID_REQUEST', { param: 'capability', message: 'capability: must be view for a file.' });
  return requireFileIn(tx, workspaceId, id);
}

export interface Granting {
  readonly workspaceId: WorkspaceId;
  readonly subject: Subject;
  readonly resource: Resource;
  readonly capability: Capability;
  readonly expiresAtMs: number | null;
}

export interface Granted {
  readonly row: GrantRow;
  readonly isNew: boolean;
  /** Everybody behind the address or the organisation, whom `person.changed` has to name; nobody where nothing has changed. */
  readonly accounts: readonly UserId[];
}

/** Sharing again changes capability and expiry to what is asked for now. Throws WORKSPACE_LIMIT_EXCEEDED. */
export async function grantIn(tx: Queries, call: SharingCall, granting: Granting): Promise<Granted> {
  const { workspaceId, subject, resource, capability, expiresAtMs } = granting;
  const before = await findGrant(tx, subject.id, resource.id);
  if (before !== null && before.capability === capability && before.expires_at_ms === expiresAtMs)
    return { row: before, isNew: false, accounts: [] };
  const id = before === null ? await addGrant(tx, call, granting) : before.id;
  if (before !== null) await writeGrant(tx, id, { capability, expiresAtMs, nowMs: call.nowMs });
  const target = { type: resource.type, id: resource.id, name: resource.name };
  const expires = expiresAtMs === null ? null : dateTime(expiresAtMs);
  const detail = {
    grant_id: id,
    subject_type: subject.type,
    subject_id: subject.id,
    subject: subject.name,
    capability,
    expires_at: expires,
  };
  await audit(tx, call, { workspaceId, action: before === null ? 'grant.create' : 'grant.update', target, detail });
  const externals: ExternalId[] = subject.type === 'sharee' ? await memberIdsOf(tx, subject.id) : [subject.id];
  return { row: await requireGrant(tx, workspaceId, id), isNew: before === null, accounts: await accountsOfExternals(tx, externals) };
}

async function addGrant(tx: Queries, call: SharingCall, granting: Granting): Promise<GrantId> {
  const { workspaceId, subject } = granting;
  requireRoom(await countGrants(tx, workspaceId), LIMITS.grantsMax, 'grants in a workspace');
  requireRoom(
    await countGrants(tx, workspaceId, { subject_id: subject.id }),
    LIMITS.grantsPerSubjectMax,
    'grants of one organisation or person; share a folder instead',
  );
  return insertGrant(tx, { ...granting, createdBy: call.user, nowMs: call.nowMs });
}

/**
 * Whoever publishes into a folder that is shared with them may go on editing what they have published, as long as the folder is shared for that.
 * Answers the accounts that `person.changed` has to name. Throws WORKSPACE_LIMIT_EXCEEDED.
 */
export async function shareNew(
  tx: Queries,
  through: Grant,
  { id, name }: { readonly id: ArtifactId; readonly name: string },
  { asker, userId }: { readonly asker?: AuditedCall; readonly userId: UserId | null },
  nowMs: number,
): Promise<readonly UserId[]> {
  const { workspaceId, externalId, expiresAtMs } = through;
  requireRoom(
    await countGrants(tx, workspaceId, { subject_id: externalId }),
    LIMITS.grantsPerSubjectMax,
    'artifacts shared with you by one workspace',
  );
  const subject = { type: 'external_user', id: externalId, name: '' } as const;
  const resource = { type: 'artifact', id } as const;
  const made = {
    workspaceId,
    subject,
    resource,
    capability: 'edit',
    expiresAtMs,
    createdBy: userId,
    nowMs,
    madeThrough: through.id,
  } as const;
  const grantId = await insertGrant(tx, made);
  if (asker !== undefined) {
    const detail = { grant_id: grantId, subject_id: externalId, capability: 'edit', made_through: through.id };
    await audit(tx, asker, { workspaceId, action: 'grant.create', target: { type: 'artifact', id, name }, detail });
  }
  return accountsOfExternals(tx, [externalId]);
}
