/** Versions and their files as they are stored, and as callers see them. */
import type { z } from 'zod';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId, UserId, VersionId } from '../../protocol/ids.ts';
import type { version } from '../../protocol/schemas/artifact.ts';
import { dateTime } from './artifact-rows.ts';
import type { Queries } from './deps.ts';

export interface VersionRow {
  readonly id: VersionId;
  readonly version_no: number;
  readonly entrypoint: string;
  readonly created_at_ms: number;
  readonly author_id: UserId | null;
  readonly label: string | null;
  readonly note: string | null;
  readonly is_draft: boolean;
  readonly is_live: boolean;
  readonly size_bytes: number;
}

export interface FileRow {
  readonly path: string;
  readonly mime: string;
  readonly size_bytes: number;
  /** 32 bytes. */
  readonly sha256: Buffer;
}

/** The number of a version or its id. */
export type VersionRef = number | VersionId;

/** Columns of a `VersionRow`, from version `v` of artifact `a`. */
export function versionColumns(sql: Queries) {
  return sql`
    v.id, v.version_no, v.entrypoint, v.created_at_ms, v.author_id, v.label, v.note, v.is_draft,
    v.id is not distinct from a.live_version_id as is_live, v.size_bytes`;
}

/** One version. Throws VERSION_NOT_FOUND, for a draft also when `drafts` is false. */
export async function requireVersion(sql: Queries, artifactId: ArtifactId, ref: VersionRef, drafts: boolean): Promise<VersionRow> {
  const named = typeof ref === 'number' ? sql`v.version_no = ${ref}` : sql`v.id = ${ref}`;
  const [row] = await sql<VersionRow[]>`
    select ${versionColumns(sql)}
    from artifact_version v join artifact a on a.id = v.artifact_id
    where v.artifact_id = ${artifactId} and ${named}`;
  if (row === undefined || (row.is_draft && !drafts)) throw new Failure('VERSION_NOT_FOUND');
  return row;
}

/** In the order of their paths' code points. */
export function listFiles(sql: Queries, versionId: VersionId): Promise<FileRow[]> {
  return sql<FileRow[]>`select path, mime, size_bytes, sha256 from version_file where version_id = ${versionId} order by path`;
}

export function presentVersion(row: VersionRow): z.input<typeof version> {
  return {
    id: row.id,
    version_no: row.version_no,
    entrypoint: row.entrypoint,
    created_at: dateTime(row.created_at_ms),
    author_id: row.author_id,
    label: row.label,
    note: row.note,
    is_live: row.is_live,
    is_draft: row.is_draft,
    size_bytes: row.size_bytes,
  };
}

export function presentFile(row: FileRow) {
  return { path: row.path, mime: row.mime, size_bytes: row.size_bytes, sha256: row.sha256.toString('hex') };
}
