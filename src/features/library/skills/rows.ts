/** The SQL of `skill` and `skill_version`. Lists and single skills have what the caller sees only. */
import type { ArtifactId, SkillId, UserId, VersionId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import { isEditable, isSeen, type Viewer } from '../../artifacts/artifacts/lists.ts';
import { isSuspended } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';

export interface SkillRow {
  readonly id: SkillId;
  readonly artifact_id: ArtifactId;
  readonly workspace_id: WorkspaceId | null;
  readonly owner_id: UserId | null;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly version_id: VersionId;
  readonly version_no: number;
  readonly updated_at_ms: number;
}

/** From skill `s`, its artifact `a`, the live version `lv` and what that says of itself, `sv`. */
function skillColumns(sql: Queries) {
  return sql`
    s.id, s.artifact_id, a.workspace_id, a.owner_id, a.slug, sv.name, sv.description, lv.id as version_id, lv.version_no, a.updated_at_ms`;
}

/** Those with a live version, out of the trash and not suspended. */
function liveSkills(sql: Queries) {
  return sql`
    skill s join artifact a on a.id = s.artifact_id and a.kind = 'skill' and a.deleted_at_ms is null and not ${isSuspended(sql)}
      join artifact_version lv on lv.id = a.live_version_id join skill_version sv on sv.version_id = lv.id`;
}

export interface WantedSkills {
  readonly workspaceId: WorkspaceId;
  /** Whether it is attached to the workspace; undefined for any. */
  readonly attached: boolean | undefined;
}

function isWanted(sql: Queries, viewer: Viewer, { workspaceId, attached }: WantedSkills) {
  return sql`
    a.workspace_id = ${workspaceId} and ${isSeen(sql, viewer)}
    ${attached === undefined ? sql`` : sql`and (wa.skill_id is not null) = ${attached}`}`;
}

/** Last changed first. */
export function listSkills(sql: Queries, viewer: Viewer, wanted: WantedSkills, after: PageKey, rowsMax: number) {
  return sql<(SkillRow & { readonly attached: boolean })[]>`
    select ${skillColumns(sql)}, wa.skill_id is not null as attached
    from ${liveSkills(sql)} left join skill_attachment wa on wa.skill_id = s.id and wa.workspace_id = a.workspace_id
    where ${isWanted(sql, viewer, wanted)} and (a.updated_at_ms, s.id) < (${after.number}, ${after.id})
    order by a.updated_at_ms desc, s.id desc limit ${rowsMax}`;
}

export async function countSkills(sql: Queries, viewer: Viewer, wanted: WantedSkills): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total
    from ${liveSkills(sql)} left join skill_attachment wa on wa.skill_id = s.id and wa.workspace_id = a.workspace_id
    where ${isWanted(sql, viewer, wanted)}`;
  return row?.total ?? 0;
}

export async function readSkill(sql: Queries, viewer: Viewer, id: SkillId): Promise<SkillRow | null> {
  const [row] = await sql<SkillRow[]>`
    select ${skillColumns(sql)} from ${liveSkills(sql)} where s.id = ${id} and ${isSeen(sql, viewer)}`;
  return row ?? null;
}

/** The digest of a file of a version, lowercase hex. */
export async function readFileDigest(sql: Queries, versionId: VersionId, path: string): Promise<string | null> {
  const [row] = await sql<{ hex: string }[]>`
    select encode(sha256, 'hex') as hex from version_file where version_id = ${versionId} and path = ${path}`;
  return row?.hex ?? null;
}

export async function insertSkill(tx: Queries, id: SkillId, artifactId: ArtifactId, nowMs: number): Promise<void> {
  await tx`insert into skill (id, artifact_id, created_at_ms) values (${id}, ${artifactId}, ${nowMs})`;
  await tx`update artifact set kind = 'skill' where id = ${artifactId}`;
}

export interface SaidBySource {
  readonly name: string;
  readonly description: string;
}

export async function insertSkillVersion(tx: Queries, versionId: VersionId, { name, description }: SaidBySource): Promise<void> {
  await tx`insert into skill_version (version_id, name, description) values (${versionId}, ${name}, ${description})`;
}

/** Last attached first. An artifact that has left the workspace of a skill has it no longer. */
export function listAttached(sql: Queries, viewer: Viewer, artifactId: ArtifactId, after: PageKey, rowsMax: number) {
  return sql<(SkillRow & { readonly attached_at_ms: number })[]>`
    select ${skillColumns(sql)}, t.attached_at_ms
    from skill_attachment t join artifact of_artifact on of_artifact.id = t.artifact_id
      join ${liveSkills(sql)} on s.id = t.skill_id
    where t.artifact_id = ${artifactId} and a.workspace_id = of_artifact.workspace_id and ${isSeen(sql, viewer)}
      and (t.attached_at_ms, s.id) < (${after.number}, ${after.id})
    order by t.attached_at_ms desc, s.id desc limit ${rowsMax}`;
}

export async function countAttached(sql: Queries, viewer: Viewer, artifactId: ArtifactId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total
    from skill_attachment t join artifact of_artifact on of_artifact.id = t.artifact_id
      join ${liveSkills(sql)} on s.id = t.skill_id
    where t.artifact_id = ${artifactId} and a.workspace_id = of_artifact.workspace_id and ${isSeen(sql, viewer)}`;
  return row?.total ?? 0;
}

export interface UseRow {
  readonly id: ArtifactId;
  readonly name: string;
  readonly is_editable: boolean;
  readonly attached_at_ms: number;
}

/** Attachment `t` of the skill to artifact `a`, which is still in its workspace and is seen. */
function usesOf(sql: Queries, viewer: Viewer, { id, workspace_id }: Pick<SkillRow, 'id' | 'workspace_id'>) {
  return sql`
    skill_attachment t join artifact a on a.id = t.artifact_id and a.deleted_at_ms is null and not ${isSuspended(sql)}
    where t.skill_id = ${id} and a.workspace_id = ${workspace_id} and ${isSeen(sql, viewer)}`;
}

/** Last attached first. */
export function listUses(sql: Queries, viewer: Viewer, row: Pick<SkillRow, 'id' | 'workspace_id'>, after: PageKey, rowsMax: number) {
  return sql<UseRow[]>`
    select a.id, a.name, coalesce(${isEditable(sql, viewer)}, false) as is_editable, t.attached_at_ms from ${usesOf(sql, viewer, row)}
      and (t.attached_at_ms, a.id) < (${after.number}, ${after.id})
    order by t.attached_at_ms desc, a.id desc limit ${rowsMax}`;
}

export async function countUses(sql: Queries, viewer: Viewer, row: Pick<SkillRow, 'id' | 'workspace_id'>): Promise<number> {
  const [counted] = await sql<{ total: number }[]>`select count(*)::int as total from ${usesOf(sql, viewer, row)}`;
  return counted?.total ?? 0;
}

/** Whether it is attached to its workspace as a whole. */
export async function isAttachedToAll(sql: Queries, { id, workspace_id }: Pick<SkillRow, 'id' | 'workspace_id'>): Promise<boolean> {
  const rows = await sql`select 1 from skill_attachment where skill_id = ${id} and workspace_id = ${workspace_id}`;
  return rows.length > 0;
}

/** An artifact, or a workspace as a whole. */
export type AttachedTo =
  | { readonly artifactId: ArtifactId; readonly workspaceId: null }
  | { readonly artifactId: null; readonly workspaceId: WorkspaceId };

/** How many skills are attached to it beside this one. */
export async function countOtherAttachments(tx: Queries, { artifactId, workspaceId }: AttachedTo, skillId: SkillId): Promise<number> {
  const [row] = await tx<{ total: number }[]>`
    select count(*)::int as total from skill_attachment
    where (artifact_id = ${artifactId} or workspace_id = ${workspaceId}) and skill_id <> ${skillId}`;
  return row?.total ?? 0;
}

/** False where it is attached already. */
export async function insertAttachment(tx: Queries, to: AttachedTo, skillId: SkillId, nowMs: number): Promise<boolean> {
  const inserted = await tx`
    insert into skill_attachment (skill_id, artifact_id, workspace_id, attached_at_ms)
    values (${skillId}, ${to.artifactId}, ${to.workspaceId}, ${nowMs}) on conflict do nothing`;
  return inserted.count > 0;
}

/** False where it is not attached. */
export async function deleteAttachment(tx: Queries, { artifactId, workspaceId }: AttachedTo, skillId: SkillId): Promise<boolean> {
  const deleted = await tx`
    delete from skill_attachment where skill_id = ${skillId} and (artifact_id = ${artifactId} or workspace_id = ${workspaceId})`;
  return deleted.count > 0;
}
