/** The SQL of comments. The comments themselves are read and written by the actor's store and journal. */
import type { ArtifactId, UserId, VersionId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Queries } from '../../deps.ts';

export interface AccountRow {
  readonly userId: UserId;
  readonly name: string | null;
  readonly username: string | null;
  /** Its own, else that of a linked account. */
  readonly email: string | null;
  /** As the account's metadata has it; mail to it is in this language where we have it. */
  readonly locale: string | null;
}

export interface RevisionRow {
  readonly content: string;
  readonly at_ms: number;
}

export interface PageFileRow {
  readonly sha256: string;
  readonly mime: string;
  readonly sizeBytes: number;
}

/** Replaced texts of a comment, newest first. */
export function readRevisions(sql: Queries, artifactId: ArtifactId, commentId: string): Promise<RevisionRow[]> {
  return sql<RevisionRow[]>`
    select content, at_ms from comment_revision where artifact_id = ${artifactId} and comment_id = ${commentId}
    order by seq desc limit ${LIMITS.commentEditsMax}`;
}

/** Sorted by display name. */
export function readAccounts(sql: Queries, ids: readonly string[]): Promise<AccountRow[]> {
  return sql<AccountRow[]>`
    select a.id as "userId", a.name, a.username, a.metadata->>'locale' as locale,
      coalesce(a.email, (
        select p.email from account p where p.person_id = a.person_id and p.email is not null order by p.created_at_ms, p.id limit 1
      )) as email
    from account a where a.id = any(${[...ids]}::text[]) order by coalesce(a.name, a.username, a.id), a.id`;
}

export async function hasVersion(sql: Queries, artifactId: ArtifactId, id: VersionId): Promise<boolean> {
  const [row] = await sql`select 1 from artifact_version where id = ${id} and artifact_id = ${artifactId}`;
  return row !== undefined;
}

export async function readArtifactName(sql: Queries, id: ArtifactId): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`select name from artifact where id = ${id}`;
  return row?.name;
}

/** The file at `path` of a version, else `path/index.html`, else the entry file. */
export async function readPageFile(sql: Queries, versionId: string, path: string): Promise<PageFileRow | undefined> {
  const [file] = await sql<PageFileRow[]>`
    select encode(f.sha256, 'hex') as sha256, f.mime, f.size_bytes as "sizeBytes"
    from artifact_version v join version_file f on f.version_id = v.id
    where v.id = ${versionId} and f.path in (${path}, ${`${path}/index.html`}, v.entrypoint)
    order by f.path = v.entrypoint, f.path = ${path} desc limit 1`;
  return file;
}
