/** The artifact as it is stored, and as callers see it. */
import type { z } from 'zod';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId, UserId, VersionId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { artifact, Visibility } from '../../protocol/schemas/artifact.ts';
import { type Config, pageUrl } from '../config.ts';
import type { Queries } from './deps.ts';

export interface ArtifactRow {
  readonly id: ArtifactId;
  readonly owner_id: UserId | null;
  readonly workspace_id: string | null;
  readonly name: string;
  readonly slug: string;
  readonly visibility: Visibility;
  readonly has_password: boolean;
  readonly allow_anon_write: boolean;
  readonly allow_anon_email: boolean;
  readonly allow_anon_agent: boolean;
  readonly allow_anon_collab: boolean;
  readonly social_title: string | null;
  readonly social_description: string | null;
  readonly social_image_url: string | null;
  readonly live_version_id: VersionId | null;
  readonly live_version_no: number | null;
  readonly pinned_version_id: VersionId | null;
  readonly last_version_no: number;
  readonly is_favorite: boolean;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly deleted_at_ms: number | null;
}

export const RETENTION_MS = LIMITS.trashRetentionDays * 24 * 3600 * 1000;

/** The columns of an `ArtifactRow`, from artifact `a` and its live version `lv`. `viewer`: whose favourite mark is meant. */
export function artifactColumns(sql: Queries, viewer: UserId | null) {
  return sql`
    a.id, a.owner_id, a.workspace_id, a.name, a.slug, a.visibility, a.password_hash is not null as has_password,
    a.allow_anon_write, a.allow_anon_email, a.allow_anon_agent, a.allow_anon_collab,
    a.social_title, a.social_description, a.social_image_url,
    a.live_version_id, lv.version_no as live_version_no, a.pinned_version_id, a.last_version_no,
    exists (select 1 from favorite f where f.artifact_id = a.id and f.user_id = ${viewer}) as is_favorite,
    a.created_at_ms, a.updated_at_ms, a.deleted_at_ms`;
}

/** One artifact, live or in the trash. */
export async function readArtifact(sql: Queries, id: ArtifactId, viewer: UserId | null): Promise<ArtifactRow | null> {
  const [row] = await sql<ArtifactRow[]>`
    select ${artifactColumns(sql, viewer)}
    from artifact a left join artifact_version lv on lv.id = a.live_version_id
    where a.id = ${id}`;
  return row ?? null;
}

/** One live artifact, for a caller who has been let in. Throws ARTIFACT_NOT_FOUND when it has gone since. */
export async function requireArtifact(sql: Queries, id: ArtifactId, viewer: UserId | null): Promise<ArtifactRow> {
  const row = await readArtifact(sql, id, viewer);
  if (row === null || row.deleted_at_ms !== null) throw new Failure('ARTIFACT_NOT_FOUND');
  return row;
}

/** Locks one live artifact against other changes until the transaction ends. Throws ARTIFACT_NOT_FOUND. */
export async function lockArtifact(tx: Queries, id: ArtifactId, viewer: UserId | null): Promise<ArtifactRow> {
  // Two statements: a row that was waited for must be read as its last writer left it, the joined rows too.
  await tx`select 1 from artifact where id = ${id} for update`;
  return requireArtifact(tx, id, viewer);
}

/** The time of a change: now, or a millisecond after the last change where the clock stood still. */
export function changeTimeMs(row: { readonly updated_at_ms: number }, nowMs: number): number {
  return Math.max(nowMs, row.updated_at_ms + 1);
}

type ArtifactReply = z.input<typeof artifact>;

export function presentArtifact(row: ArtifactRow, config: Pick<Config, 'baseUrl' | 'contentHost'>): ArtifactReply {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    owner_id: row.owner_id,
    workspace_id: row.workspace_id,
    visibility: row.visibility,
    allow_anon_write: row.allow_anon_write,
    allow_anon_email: row.allow_anon_email,
    allow_anon_agent: row.allow_anon_agent,
    allow_anon_collab: row.allow_anon_collab,
    social_title: row.social_title,
    social_description: row.social_description,
    social_image_url: row.social_image_url,
    url: pageUrl(config, row.slug),
    live_version_id: row.live_version_id,
    live_version_no: row.live_version_no,
    pinned_version_id: row.pinned_version_id,
    is_favorite: row.is_favorite,
    created_at: dateTime(row.created_at_ms),
    updated_at: dateTime(row.updated_at_ms),
    ...(row.deleted_at_ms === null
      ? {}
      : { deleted_at: dateTime(row.deleted_at_ms), recoverable_until: dateTime(row.deleted_at_ms + RETENTION_MS) }),
  };
}

/** RFC 3339 UTC with milliseconds. */
export function dateTime(ms: number): string {
  return new Date(ms).toISOString();
}
