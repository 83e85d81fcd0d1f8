/** The SQL of `artifact_version` and `version_file`. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { type AgentId, type ArtifactId, newId, type UserId, type VersionId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import { pipelined } from '../../../storage/sql.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';

export interface VersionRow {
  readonly id: VersionId;
  readonly version_no: number;
  readonly entrypoint: string;
  readonly created_at_ms: number;
  readonly author_id: UserId | null;
  readonly label: string | null;
  readonly note: string | null;
  /** Waiting versions too. */
  readonly is_draft: boolean;
  /** Of a version that waits for approval; else null. */
  readonly waiting_since_ms: number | null;
  /** When its last needed approval published it; else null. */
  readonly approved_at_ms: number | null;
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
function versionColumns(sql: Queries) {
  return sql`
    v.id, v.version_no, v.entrypoint, v.created_at_ms, v.author_id, v.label, v.note, v.is_draft, v.waiting_since_ms, v.approved_at_ms,
    v.id is not distinct from a.live_version_id as is_live, v.size_bytes`;
}

/** Which versions a caller sees beside the published ones. `accounts`, `agent`: those whose own versions they see while these wait. */
export interface Sight {
  readonly drafts: boolean;
  readonly waiting: boolean;
  readonly accounts: Accounts;
  readonly agent: AgentId | null;
}

export const ALL_VERSIONS: Sight = { drafts: true, waiting: true, accounts: [], agent: null };

/** The condition on version `v`. */
function seen(sql: Queries, { drafts, waiting, accounts, agent }: Sight) {
  return sql`
    case when not v.is_draft then true when v.waiting_since_ms is null then ${drafts}
      else ${waiting} or coalesce(v.author_id = any(${accounts as UserId[]}), false) or coalesce(v.agent_id = ${agent}, false) end`;
}

/** One version. Throws VERSION_NOT_FOUND, also for one that the caller does not see. */
export async function requireVersion(sql: Queries, artifactId: ArtifactId, ref: VersionRef, sight: Sight): Promise<VersionRow> {
  const named = typeof ref === 'number' ? sql`v.version_no = ${ref}` : sql`v.id = ${ref}`;
  const [row] = await sql<VersionRow[]>`
    select ${versionColumns(sql)}
    from artifact_version v join artifact a on a.id = v.artifact_id
    where v.artifact_id = ${artifactId} and ${named} and ${seen(sql, sight)}`;
  if (row === undefined) throw new Failure('VERSION_NOT_FOUND');
  return row;
}

/** The same, locked against other changes until the transaction ends. */
export async function lockVersion(tx: Queries, artifactId: ArtifactId, ref: VersionRef, sight: Sight): Promise<VersionRow> {
  const { id } = await requireVersion(tx, artifactId, ref, sight);
  // Read in a later statement than the lock: only that one sees what the last writer left.
  await tx`select 1 from artifact_version where id = ${id} for update`;
  return requireVersion(tx, artifactId, id, sight);
}

/** In the order of their paths' code points. */
export function listFiles(sql: Queries, versionId: VersionId): Promise<FileRow[]> {
  return sql<FileRow[]>`select path, mime, size_bytes, sha256 from version_file where version_id = ${versionId} order by path`;
}

export async function newestPublished(tx: Queries, id: ArtifactId): Promise<VersionId | null> {
  const [row] = await tx<{ id: VersionId }[]>`
    select id from artifact_version where artifact_id = ${id} and not is_draft order by version_no desc limit 1`;
  return row?.id ?? null;
}

/** Drafts included, but for those that wait for approval; 0 where there is none. */
export async function newestVersionNo(sql: Queries, id: ArtifactId): Promise<number> {
  const [row] = await sql<{ version_no: number }[]>`
    select version_no from artifact_version where artifact_id = ${id} and waiting_since_ms is null order by version_no desc limit 1`;
  return row?.version_no ?? 0;
}

/** Publishes a draft; does nothing to a published version and to null. */
export async function publishDraft(tx: Queries, id: VersionId | null): Promise<void> {
  await tx`update artifact_version set is_draft = false where id = ${id} and is_draft`;
}

/** Newest first. */
export function listVersions(sql: Queries, id: ArtifactId, sight: Sight, after: PageKey, rowsMax: number) {
  // The first page begins above every number that an integer column can hold.
  return sql<VersionRow[]>`
    select ${versionColumns(sql)}
    from artifact_version v join artifact a on a.id = v.artifact_id
    where v.artifact_id = ${id} and v.version_no < ${after.number}::bigint and ${seen(sql, sight)}
    order by v.version_no desc limit ${rowsMax}`;
}

export async function countVersions(sql: Queries, id: ArtifactId, sight: Sight): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from artifact_version v where v.artifact_id = ${id} and ${seen(sql, sight)}`;
  return row?.total ?? 0;
}

/** With its files and its preview links. */
export async function deleteVersion(tx: Queries, id: VersionId): Promise<void> {
  await tx`delete from artifact_version where id = ${id}`;
}

interface Notes {
  readonly label?: string | null | undefined;
  readonly note?: string | null | undefined;
}

/** Writes only the fields that are given: two callers who change one field each must not undo each other. */
export async function updateNotes(sql: Queries, id: VersionId, { label, note }: Notes): Promise<void> {
  await sql`
    update artifact_version set
      label = case when ${label === undefined} then label else ${label ?? null} end,
      note = case when ${note === undefined} then note else ${note ?? null} end
    where id = ${id}`;
}

export interface NewFile {
  readonly path: string;
  readonly mime: string;
  /** Lowercase hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

export interface NewVersion {
  readonly artifactId: ArtifactId;
  readonly versionNo: number;
  /** Null for an agent. */
  readonly authorId: UserId | null;
  /** The agent that made it, where one did. */
  readonly agentId: AgentId | null;
  readonly entrypoint: string;
  readonly files: readonly NewFile[];
  readonly label: string | null;
  readonly note: string | null;
  readonly draft: boolean;
  /** It is published when it has been approved. */
  readonly waits: boolean;
  readonly nowMs: number;
}

/** Makes a version with its files, in a transaction that holds the objects they name. */
export async function insertVersion(tx: Queries, spec: NewVersion): Promise<VersionId> {
  const id = newId('version');
  const sizeBytes = spec.files.reduce((sum, file) => sum + file.sizeBytes, 0);
  const inserted = tx`
    insert into artifact_version (
      id, artifact_id, version_no, entrypoint, author_id, agent_id, label, note, is_draft, waiting_since_ms, size_bytes, created_at_ms
    )
    values (${id}, ${spec.artifactId}, ${spec.versionNo}, ${spec.entrypoint}, ${spec.authorId}, ${spec.agentId}, ${spec.label}, ${spec.note},
      ${spec.draft || spec.waits}, ${spec.waits ? spec.nowMs : null}, ${sizeBytes}, ${spec.nowMs})`;
  await pipelined([inserted.execute(), insertFiles(tx, id, spec.files)]);
  return id;
}

async function insertFiles(tx: Queries, versionId: VersionId, files: readonly NewFile[]): Promise<void> {
  const paths = files.map((file) => file.path);
  const digests = files.map((file) => file.sha256);
  const mimes = files.map((file) => file.mime);
  const sizes = files.map((file) => file.sizeBytes);
  await tx`
    insert into version_file (version_id, path, sha256, mime, size_bytes)
    select ${versionId}, path, decode(hex, 'hex'), mime, size_bytes
    from unnest(${paths}::text[], ${digests}::text[], ${mimes}::text[], ${sizes}::bigint[]) as u (path, hex, mime, size_bytes)`;
}
