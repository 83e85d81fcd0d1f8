/** The SQL of `access_grant`. How grants come with a person is in features/people/persons. */
import type { Grants } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import {
  type ArtifactId,
  type DeliverableId,
  type ExternalId,
  type FolderId,
  type GrantId,
  newId,
  type ShareeId,
  type UserId,
  type WorkspaceId,
} from '../../../../protocol/core/ids.ts';
import type { Capability } from '../../../../protocol/sharing/capability.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

/** With whom: an organisation or a person outside. */
export type Subject =
  | { readonly type: 'sharee'; readonly id: ShareeId; readonly name: string }
  | { readonly type: 'external_user'; readonly id: ExternalId; readonly name: string };

/** What is shared. */
export type Resource =
  | { readonly type: 'artifact'; readonly id: ArtifactId; readonly name: string; readonly slug: string }
  | { readonly type: 'folder'; readonly id: FolderId; readonly name: string }
  | { readonly type: 'file'; readonly id: DeliverableId; readonly name: string };

export interface GrantRow {
  readonly id: GrantId;
  readonly sharee_id: ShareeId | null;
  readonly external_id: ExternalId | null;
  readonly subject_name: string;
  readonly artifact_id: ArtifactId | null;
  readonly folder_id: FolderId | null;
  readonly deliverable_id: DeliverableId | null;
  readonly resource_name: string;
  readonly capability: Capability;
  readonly expires_at_ms: number | null;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

function grantRows(sql: Queries) {
  return sql`
    select g.id, g.sharee_id, g.external_id, coalesce(s.name, e.email) as subject_name, g.artifact_id, g.folder_id, g.deliverable_id,
      coalesce(a.name, f.name, d.name) as resource_name, g.capability, g.expires_at_ms, g.created_at_ms, g.updated_at_ms
    from access_grant g left join sharee s on s.id = g.sharee_id left join external_user e on e.id = g.external_id
      left join artifact a on a.id = g.artifact_id left join folder f on f.id = g.folder_id
      left join asset_deliverable d on d.id = g.deliverable_id`;
}

export interface GrantFilter {
  readonly subject_id?: string | undefined;
  readonly resource_id?: string | undefined;
  /** One of these. */
  readonly resources?: readonly string[];
}

function filtered(sql: Queries, { subject_id, resource_id, resources }: GrantFilter) {
  return sql`
    ${subject_id === undefined ? sql`` : sql`and coalesce(g.sharee_id, g.external_id) = ${subject_id}`}
    ${resource_id === undefined ? sql`` : sql`and coalesce(g.artifact_id, g.folder_id, g.deliverable_id) = ${resource_id}`}
    ${resources === undefined ? sql`` : sql`and coalesce(g.artifact_id, g.folder_id, g.deliverable_id) = any(${[...resources]}::text[])`}`;
}

/** Newest first; those that have ended are shown until the sweep. */
export function listGrants(sql: Queries, workspaceId: WorkspaceId, filter: GrantFilter, after: PageKey, rowsMax: number) {
  return sql<GrantRow[]>`
    ${grantRows(sql)} where g.workspace_id = ${workspaceId} ${filtered(sql, filter)}
      and (g.created_at_ms < ${after.number} or (g.created_at_ms = ${after.number} and g.id > ${after.id}))
    order by g.created_at_ms desc, g.id limit ${rowsMax}`;
}

export async function countGrants(sql: Queries, workspaceId: WorkspaceId, filter: GrantFilter = {}): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from access_grant g where g.workspace_id = ${workspaceId} ${filtered(sql, filter)}`;
  return row?.total ?? 0;
}

/** Throws GRANT_NOT_FOUND. */
export async function requireGrant(sql: Queries, workspaceId: WorkspaceId, id: GrantId): Promise<GrantRow> {
  const [row] = await sql<GrantRow[]>`${grantRows(sql)} where g.id = ${id} and g.workspace_id = ${workspaceId}`;
  if (row === undefined) throw new Failure('GRANT_NOT_FOUND');
  return row;
}

export async function findGrant(sql: Queries, subjectId: string, resourceId: string): Promise<GrantRow | null> {
  const [row] = await sql<GrantRow[]>`
    ${grantRows(sql)} where coalesce(g.sharee_id, g.external_id) = ${subjectId} and coalesce(g.artifact_id, g.folder_id, g.deliverable_id) = ${resourceId}`;
  return row ?? null;
}

export interface NewGrant {
  readonly workspaceId: WorkspaceId;
  readonly subject: Subject;
  readonly resource: Pick<Resource, 'type' | 'id'>;
  readonly capability: Capability;
  readonly expiresAtMs: number | null;
  readonly createdBy: UserId | null;
  readonly nowMs: number;
  /** The grant on a folder by which its subject has published the artifact. */
  readonly madeThrough?: GrantId;
}

export async function insertGrant(tx: Queries, spec: NewGrant): Promise<GrantId> {
  const id = newId('grant');
  const { subject, resource } = spec;
  await tx`
    insert into access_grant (
      id, workspace_id, sharee_id, external_id, artifact_id, folder_id, deliverable_id, made_through, capability, expires_at_ms, created_by, created_at_ms, updated_at_ms)
    values (
      ${id}, ${spec.workspaceId}, ${subject.type === 'sharee' ? subject.id : null}, ${subject.type === 'sharee' ? null : subject.id},
      ${resource.type === 'artifact' ? resource.id : null}, ${resource.type === 'folder' ? resource.id : null},
      ${resource.type === 'file' ? resource.id : null}, ${spec.madeThrough ?? null},
      ${spec.capability},
      ${spec.expiresAtMs}, ${spec.createdBy}, ${spec.nowMs}, ${spec.nowMs})`;
  return id;
}

export async function writeGrant(
  tx: Queries,
  id: GrantId,
  { capability, expiresAtMs, nowMs }: Pick<NewGrant, 'capability' | 'expiresAtMs' | 'nowMs'>,
): Promise<void> {
  await tx`
    update access_grant set capability = ${capability}, expires_at_ms = ${expiresAtMs}, updated_at_ms = greatest(${nowMs}, updated_at_ms + 1)
    where id = ${id}`;
  // What was published through it ends with it, and with the right to publish.
  if (capability === 'create' || capability === 'edit')
    await tx`update access_grant set expires_at_ms = ${expiresAtMs} where made_through = ${id}`;
  else await tx`delete from access_grant where made_through = ${id}`;
}

export async function deleteGrant(tx: Queries, id: GrantId): Promise<void> {
  await tx`delete from access_grant where id = ${id}`;
}

/** Ends what somebody has published through grants of an organisation that they leave. */
export async function endGrantsThrough(tx: Queries, shareeId: ShareeId, id: ExternalId): Promise<void> {
  await tx`
    delete from access_grant made using access_grant g
    where made.made_through = g.id and g.sharee_id = ${shareeId} and made.external_id = ${id}`;
}

/** Answers those with whom an artifact was shared that leaves its workspace. It is not shared again where it comes back. */
export async function endGrantsOfArtifact(tx: Queries, id: ArtifactId): Promise<ExternalId[]> {
  const rows = await tx<{ external_id: ExternalId }[]>`
    with ended as (delete from access_grant where artifact_id = ${id} returning sharee_id, external_id)
    select external_id from ended where external_id is not null
    union select m.external_id from ended join sharee_member m on m.sharee_id = ended.sharee_id`;
  return rows.map(({ external_id }) => external_id);
}

export async function deleteEndedGrants(sql: Queries, endedBeforeMs: number): Promise<number> {
  return (await sql`delete from access_grant where expires_at_ms <= ${endedBeforeMs}`).count;
}

/** A live artifact of the workspace. Throws ARTIFACT_NOT_FOUND. */
export async function requireArtifactIn(tx: Queries, workspaceId: WorkspaceId, id: string): Promise<Resource> {
  const [row] = await tx<{ id: ArtifactId; name: string; slug: string }[]>`
    select id, name, slug from artifact where id = ${id} and workspace_id = ${workspaceId} and deleted_at_ms is null for update`;
  if (row === undefined) throw new Failure('ARTIFACT_NOT_FOUND', { param: 'resource_id' });
  return { type: 'artifact', ...row };
}

/** Throws FOLDER_NOT_FOUND. */
export async function requireFolderIn(tx: Queries, workspaceId: WorkspaceId, id: string): Promise<Resource> {
  const [row] = await tx<{ id: FolderId; name: string }[]>`select id, name from folder where id = ${id} and workspace_id = ${workspaceId}`;
  if (row === undefined) throw new Failure('FOLDER_NOT_FOUND', { param: 'resource_id' });
  return { type: 'folder', ...row };
}

/** A file of the workspace's assets. Throws FILE_NOT_FOUND. */
export async function requireFileIn(tx: Queries, workspaceId: WorkspaceId, id: string): Promise<Resource> {
  const [row] = await tx<{ id: DeliverableId; name: string }[]>`
    select id, name from asset_deliverable where id = ${id} and workspace_id = ${workspaceId} for key share`;
  if (row === undefined) throw new Failure('FILE_NOT_FOUND', { param: 'resource_id' });
  return { type: 'file', ...row };
}

export interface SharedRow extends GrantRow {
  readonly workspace_name: string;
  readonly through: string | null;
  readonly slug: string | null;
}

/** Of what counts for a person now, what is still there, newest first. */
export function listShared(sql: Queries, grants: Grants, after: PageKey, rowsMax: number) {
  return sql<SharedRow[]>`
    select g.*, w.name as workspace_name, s.name as through, a.slug
    from (${grantRows(sql)} where g.id = any(${idsOf(grants)})) g join access_grant raw on raw.id = g.id join workspace w on w.id = raw.workspace_id
      left join sharee s on s.id = g.sharee_id left join artifact a on a.id = g.artifact_id
    where ${isThere(sql)} and (g.created_at_ms < ${after.number} or (g.created_at_ms = ${after.number} and g.id > ${after.id}))
    order by g.created_at_ms desc, g.id limit ${rowsMax}`;
}

export async function countShared(sql: Queries, grants: Grants): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from access_grant raw left join artifact a on a.id = raw.artifact_id
    where raw.id = any(${idsOf(grants)}) and ${isThere(sql)}`;
  return row?.total ?? 0;
}

function isThere(sql: Queries) {
  return sql`(raw.artifact_id is null or (a.deleted_at_ms is null and a.workspace_id = raw.workspace_id))`;
}

function idsOf({ byResource }: Grants): GrantId[] {
  return [...new Set([...byResource.values()].flat().map(({ id }) => id))];
}
