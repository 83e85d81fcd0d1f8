/** The SQL of `preview_link`. */
import type { ArtifactId, PreviewLinkId, UserId, VersionId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

export interface NewLink {
  readonly id: PreviewLinkId;
  readonly artifactId: ArtifactId;
  readonly versionId: VersionId;
  readonly secretSha256: Buffer;
  readonly createdBy: UserId | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export type LinkRow = Pick<NewLink, 'id' | 'versionId' | 'createdAtMs' | 'expiresAtMs'>;

export async function insertLink(sql: Queries, link: NewLink): Promise<void> {
  await sql`
    insert into preview_link (id, artifact_id, version_id, secret_sha256, created_by, created_at_ms, expires_at_ms)
    values (${link.id}, ${link.artifactId}, ${link.versionId}, ${link.secretSha256}, ${link.createdBy}, ${link.createdAtMs},
      ${link.expiresAtMs})`;
}

export function listLinks(sql: Queries, artifactId: ArtifactId, nowMs: number, after: PageKey, rowsMax: number) {
  return sql<LinkRow[]>`
    select id, version_id as "versionId", created_at_ms as "createdAtMs", expires_at_ms as "expiresAtMs" from preview_link
    where artifact_id = ${artifactId} and expires_at_ms > ${nowMs} and (created_at_ms, id) < (${after.number}, ${after.id})
    order by created_at_ms desc, id desc limit ${rowsMax}`;
}

export async function countLinks(sql: Queries, artifactId: ArtifactId, nowMs: number): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from preview_link where artifact_id = ${artifactId} and expires_at_ms > ${nowMs}`;
  return row?.total ?? 0;
}

export async function deleteExpired(sql: Queries, artifactId: ArtifactId, nowMs: number): Promise<void> {
  await sql`delete from preview_link where artifact_id = ${artifactId} and expires_at_ms <= ${nowMs}`;
}

export async function deleteLink(sql: Queries, artifactId: ArtifactId, id: PreviewLinkId): Promise<boolean> {
  const rows = await sql`delete from preview_link where id = ${id} and artifact_id = ${artifactId} returning id`;
  return rows.length > 0;
}

export async function deleteExpiredLinks(sql: Queries, nowMs: number): Promise<number> {
  return (await sql`delete from preview_link where expires_at_ms <= ${nowMs}`).count;
}
