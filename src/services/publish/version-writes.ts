/** The statements that make artifacts and versions. Run inside a transaction that holds the objects named. */
import { type ArtifactId, newId, type UserId, type VersionId } from '../../../protocol/ids.ts';
import type { Queries } from '../deps.ts';
import type { SizedFile } from './contents.ts';

export interface NewArtifact {
  readonly ownerId: UserId;
  readonly name: string;
  readonly slug: string;
  readonly nowMs: number;
}

/** A private artifact without versions, or null when the slug has just been taken. */
export async function insertArtifact(tx: Queries, spec: NewArtifact): Promise<ArtifactId | null> {
  const id = newId('artifact');
  const rows = await tx`
    insert into artifact (id, owner_id, name, slug, visibility, created_at_ms, updated_at_ms)
    values (${id}, ${spec.ownerId}, ${spec.name}, ${spec.slug}, 'private', ${spec.nowMs}, ${spec.nowMs})
    on conflict (slug) where deleted_at_ms is null do nothing
    returning id`;
  return rows.length === 0 ? null : id;
}

export interface NewVersion {
  readonly artifactId: ArtifactId;
  readonly versionNo: number;
  readonly authorId: UserId;
  readonly entrypoint: string;
  readonly files: readonly SizedFile[];
  readonly label: string | null;
  readonly note: string | null;
  readonly draft: boolean;
  readonly nowMs: number;
}

export async function insertVersion(tx: Queries, spec: NewVersion): Promise<VersionId> {
  const id = newId('version');
  const sizeBytes = spec.files.reduce((sum, file) => sum + file.sizeBytes, 0);
  await tx`
    insert into artifact_version (id, artifact_id, version_no, entrypoint, author_id, label, note, is_draft, size_bytes, created_at_ms)
    values (${id}, ${spec.artifactId}, ${spec.versionNo}, ${spec.entrypoint}, ${spec.authorId}, ${spec.label}, ${spec.note},
      ${spec.draft}, ${sizeBytes}, ${spec.nowMs})`;
  await insertFiles(tx, id, spec.files);
  return id;
}

async function insertFiles(tx: Queries, versionId: VersionId, files: readonly SizedFile[]): Promise<void> {
  const paths = files.map((file) => file.path);
  const digests = files.map((file) => file.sha256);
  const mimes = files.map((file) => file.mime);
  const sizes = files.map((file) => file.sizeBytes);
  await tx`
    insert into version_file (version_id, path, sha256, mime, size_bytes)
    select ${versionId}, path, decode(hex, 'hex'), mime, size_bytes
    from unnest(${paths}::text[], ${digests}::text[], ${mimes}::text[], ${sizes}::bigint[]) as u (path, hex, mime, size_bytes)`;
}
