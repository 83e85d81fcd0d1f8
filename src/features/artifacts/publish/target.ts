/** The artifact that a publish goes to: a new one, or one that the caller may edit. */

import {
  type ArtifactHead,
  administers,
  decide,
  folderGrant,
  type Grant,
  type Principal,
  workspaceRoleOf,
} from '../../../../actors/access/access.ts';
import type { Asker } from '../../../../actors/runtime/runtime.ts';
import type { PublishRequest } from '../../../../protocol/artifacts/publish.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { AgentId, ArtifactId, FolderId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import type { Holder } from '../../people/usage/rows.ts';
import type { AuditedCall } from '../../workspaces/audit/audit.ts';
import { memberOf, seenFolder } from '../../workspaces/folders/places.ts';
import type { FolderHead } from '../../workspaces/folders/rows.ts';
import type { WorkspaceDirectory } from '../../workspaces/workspaces/directory.ts';
import { type ArtifactRow, insertArtifact, lockArtifact, readHead, readSlugOwner, requireArtifact } from '../artifacts/rows.ts';
import { freeSlug, slugify } from '../artifacts/slugs.ts';
import type { SenderId } from './rows.ts';
import { type Place, requireBase, requirePlace } from './rules.ts';

/** Who publishes: a person, or an agent for its workspace. */
export interface Sender {
  readonly id: SenderId;
  readonly userId: UserId | null;
  readonly agentId: AgentId | null;
  /** For whom contents count that were sent and not published yet. */
  readonly holder: Holder;
  /** Workspaces whose own artifacts they may edit. */
  readonly owns: readonly WorkspaceId[];
}

/** Publishes versions of skills, which nothing else does. Its approvers decide, who need not be editors of the artifact. */
export interface SkillPublisher {
  mayPublish(head: ArtifactHead): boolean;
}

export interface Publisher extends Sender {
  readonly skill?: SkillPublisher;
  /** The call: its access may end before the publish is committed. */
  readonly asker?: Asker & AuditedCall;
  readonly principal: Principal;
  /** Of work with bounds of its own: it does not spend the hour's publishes. */
  readonly isUnmetered?: true;
  /** Called in the transaction that publishes; what it throws undoes it. */
  readonly record?: (tx: Queries, artifactId: ArtifactId) => Promise<void>;
}

export function publisherOf(principal: Principal, asker?: Asker & AuditedCall): Publisher {
  const call = { principal, ...(asker && { asker }) };
  if (principal.kind === 'agent') {
    const { principalId, workspaceId } = principal;
    return { ...call, id: principalId, userId: null, agentId: principalId, holder: workspaceId, owns: [workspaceId] };
  }
  if (principal.kind !== 'user') throw new Error('only accounts and agents publish');
  const { userId, person } = principal;
  const owns = [...person.workspaces].flatMap(([id, role]) => (administers(role) ? [id] : []));
  return { ...call, id: userId, userId, agentId: null, holder: userId, owns };
}

export interface PlaceWish {
  readonly workspace_id?: string | undefined;
  readonly folder_id?: FolderId | undefined;
}

/** Throws FORBIDDEN for a workspace of which the caller is no member, FOLDER_NOT_FOUND. */
export async function placeOf(
  { sql, workspaces }: { readonly sql: Queries; readonly workspaces: WorkspaceDirectory },
  { principal }: Pick<Publisher, 'principal'>,
  wish: PlaceWish,
): Promise<Place> {
  const named = wish.workspace_id ?? (principal.kind === 'agent' ? principal.workspaceId : undefined);
  const workspaceId = named === undefined ? null : await memberOf(workspaces, principal, named);
  if (wish.folder_id === undefined) return { workspaceId, folder: null };
  const folder = await seenFolder(sql, principal, wish.folder_id);
  if (workspaceId !== null && folder.workspaceId !== workspaceId) throw new Failure('FOLDER_NOT_FOUND', { param: 'folder_id' });
  return placeIn(folder, principal);
}

/** A public folder is seen by everybody, and used by members and those with whom it is shared for that. Throws FOLDER_NOT_FOUND. */
export function placeIn(folder: FolderHead, principal: Principal): Place {
  const { workspaceId } = folder;
  if (workspaceId === null || workspaceRoleOf(principal, workspaceId) !== undefined) return { workspaceId, folder };
  const grant: Grant | undefined = principal.kind === 'user' ? folderGrant(folder, principal.person, true) : undefined;
  if (grant === undefined) throw new Failure('FOLDER_NOT_FOUND', { param: 'folder_id' });
  return { workspaceId, folder, grant };
}

export type TargetWish = Pick<PublishRequest, 'artifact_id' | 'slug' | 'base_version_no'> &
  Partial<Pick<PublishRequest, 'name' | 'visibility' | 'password' | 'folder_id'>>;

export interface Target {
  readonly row: ArtifactRow;
  readonly isNew: boolean;
}

const INSERT_TRIES_MAX = 5;

/**
 * The artifact to push to, null for a new one. Throws ARTIFACT_NOT_FOUND, FORBIDDEN, SLUG_TAKEN when it is another owner's,
 * VERSION_CONFLICT when `base_version_no` is not its last version, SKILL_REQUIRES_APPROVAL.
 */
export async function findTarget(sql: Queries, publisher: Publisher, wish: TargetWish, place: Place): Promise<ArtifactRow | null> {
  const id = wish.artifact_id ?? (wish.slug === undefined ? null : await ownedBySlug(sql, publisher, wish.slug));
  if (id === null) {
    if (wish.base_version_no)
      throw new Failure('VERSION_CONFLICT', { param: 'base_version_no', message: 'There is no artifact to base this on.' });
    return null;
  }
  const found = await readHead(sql, id);
  const head = found?.deletedAtMs === null ? found : null;
  if (publisher.skill === undefined) requireEditor(head, publisher.principal, wish);
  else if (head === null || !publisher.skill.mayPublish(head)) throw new Failure('SKILL_REQUIRES_APPROVAL');
  const row = await requireArtifact(sql, id, accountsOf(publisher.principal));
  if (row.kind === 'skill' && publisher.skill === undefined) {
    throw new Failure('SKILL_REQUIRES_APPROVAL', { message: 'This artifact is a skill, whose versions come from its Markdown.' });
  }
  requireBase(row, wish.base_version_no);
  requirePlace(row, place, accountsOf(publisher.principal));
  return row;
}

/** Throws ARTIFACT_NOT_FOUND, ARTIFACT_SUSPENDED, FORBIDDEN. */
function requireEditor(head: ArtifactHead | null, principal: Principal, wish: TargetWish): void {
  const decision = decide(head, principal, 'edit', 'artifacts:publish');
  if (decision === 'forbidden') throw new Failure('FORBIDDEN');
  if (decision === 'suspended') throw new Failure('ARTIFACT_SUSPENDED');
  if (decision !== 'allowed') throw new Failure('ARTIFACT_NOT_FOUND');
  if (decide(head, principal, 'manage', 'artifacts:publish') !== 'allowed') requireVersionOnly(wish);
}

/** Throws FORBIDDEN: an editor from outside publishes versions, and changes neither what the artifact is called nor who sees it. */
function requireVersionOnly(wish: TargetWish): void {
  const { name, visibility, password, folder_id, slug } = wish;
  const [param] = Object.entries({ name, visibility, password, folder_id, slug }).flatMap(([field, value]) =>
    value === undefined ? [] : [field],
  );
  if (param !== undefined)
    throw new Failure('FORBIDDEN', {
      param,
      message: `${param}: only those who manage the artifact may change it.`,
      hint: 'Leave it out.',
    });
}

/** The same inside the transaction: the row locked, or newly made. */
export async function takeTarget(
  tx: Queries,
  publisher: Publisher,
  wish: TargetWish,
  place: Place,
  { name, nowMs }: { readonly name: string; readonly nowMs: number },
): Promise<Target> {
  for (let attempt = 0; attempt < INSERT_TRIES_MAX; attempt += 1) {
    const found = await findTarget(tx, publisher, wish, place);
    if (found !== null) {
      const row = await lockArtifact(tx, found.id, accountsOf(publisher.principal));
      requireBase(row, wish.base_version_no);
      requirePlace(row, place, accountsOf(publisher.principal));
      return { row, isNew: false };
    }
    const slug = wish.slug ?? (await freeSlug(tx, slugify(name)));
    const id = await insertArtifact(tx, newIn(publisher, place, { name, slug, nowMs }));
    if (id !== null) return { row: await requireArtifact(tx, id, accountsOf(publisher.principal)), isNew: true };
    // Another transaction took the slug between the check and the insert: try again.
  }
  throw new Failure('SLUG_TAKEN', { param: 'slug' });
}

/** What an agent or somebody from outside publishes belongs to the workspace, what a person publishes to the person. */
export function newIn<T extends object>({ userId }: Publisher, { workspaceId, folder, grant }: Place, fields: T) {
  return { ...fields, ownerId: grant === undefined ? userId : null, workspaceId, folderId: folder?.id ?? null };
}

/** For whom a new artifact counts. */
export function holderOfNew({ holder }: Publisher, { workspaceId, grant }: Place): Holder {
  return grant === undefined || workspaceId === null ? holder : workspaceId;
}

async function ownedBySlug(sql: Queries, { principal, owns }: Publisher, slug: string): Promise<ArtifactId | null> {
  const row = await readSlugOwner(sql, slug);
  if (row === null) return null;
  const { owner_id, workspace_id } = row;
  const isOwn = owner_id === null ? workspace_id !== null && owns.includes(workspace_id) : accountsOf(principal).includes(owner_id);
  if (!isOwn) throw new Failure('SLUG_TAKEN', { param: 'slug' });
  return row.id;
}
