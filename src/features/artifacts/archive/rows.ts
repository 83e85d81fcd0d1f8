/**
 * The SQL of exports and imports: an artifact's data as it is stored, read and written as a whole. What is read belongs to the transaction of
 * the snapshot. What is written looks as if the actor had written it; no actor of a new artifact is loaded yet.
 */

import type { StoredComment } from '../../../../actors/comments/changes.ts';
import type { CommentSettings } from '../../../../actors/comments/comment-rules.ts';
import type { StoredRow } from '../../../../actors/tables/changes.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { stagedValue, withStaged } from '../../../storage/slices.ts';
import type { Queries } from '../../deps.ts';
import type { Manifest } from './manifest.ts';

export interface KeyRow {
  readonly key: string;
  readonly value: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly expires_at_ms: number | null;
}

/** The keys that have not expired at `$2`, for a cursor. */
export const KEYS = `
  select key, value, created_at_ms, updated_at_ms, expires_at_ms from json_key
  where artifact_id = $1 and (expires_at_ms is null or expires_at_ms > $2) order by key`;

export type TableRow = Pick<StoredRow, 'rowId' | 'data' | 'createdAtMs' | 'updatedAtMs'> & { readonly table: string };

/** The rows of all tables, table by table, for a cursor. */
export const ROWS = `
  select t.name as "table", r.row_id as "rowId", r.data::text as data, r.created_at_ms as "createdAtMs", r.updated_at_ms as "updatedAtMs"
  from data_table t join table_row r on r.artifact_id = t.artifact_id and r.table_name = coalesce(t.stored_as, t.name)
  where t.artifact_id = $1 order by t.name, r.created_seq`;

/** The snapshot of each document, then its updates, in order, for a cursor. `framed`: each update in `data` has its length before it. */
export const DOCUMENT_PARTS = `
  select name, seq, data, framed from (
    select d.name, s.seq, s.data, false as framed
    from document d join document_snapshot s on s.artifact_id = d.artifact_id and s.name = d.name and s.seq = d.snapshot_seq
    where d.artifact_id = $1
    union all
    select u.name, u.seq, u.data, true from document_update u where u.artifact_id = $1
  ) as part order by name, seq`;

export interface DocumentPartRow {
  readonly name: string;
  readonly data: Buffer;
  readonly framed: boolean;
}

export type ExportedDocument = Manifest['documents'][number];

export function readDocuments(sql: Queries, id: ArtifactId): Promise<ExportedDocument[]> {
  return sql<ExportedDocument[]>`
    select name, created_at_ms, updated_at_ms from document where artifact_id = ${id} order by name`;
}

export function readBlobs(sql: Queries, id: ArtifactId): Promise<Manifest['blobs']> {
  return sql<Manifest['blobs']>`
    select id, filename, mime_type as mime, encode(sha256, 'hex') as sha256, size_bytes, created_at_ms from blob
    where artifact_id = ${id} order by created_at_ms, id`;
}

/** The newest version of each, by name. */
export async function readDatasets(sql: Queries, id: ArtifactId): Promise<Manifest['datasets']> {
  const rows = await sql<(Omit<Manifest['datasets'][number], 'columns'> & { readonly columns: string })[]>`
    select distinct on (name) name, version, columns, encode(sha256, 'hex') as sha256, size_bytes, created_at_ms
    from dataset_version where artifact_id = ${id} order by name, version desc`;
  return rows.map((row) => ({ ...row, columns: JSON.parse(row.columns) }));
}

export function readTables(sql: Queries, id: ArtifactId): Promise<Manifest['tables']> {
  return sql<Manifest['tables']>`
    select name, schema, created_at_ms, updated_at_ms from data_table where artifact_id = ${id} order by name`;
}

/** Null where nothing was ever set. */
export async function readCommentSettings(sql: Queries, id: ArtifactId): Promise<CommentSettings | null> {
  const [row] = await sql<{ config: CommentSettings }[]>`select config from comment_config where artifact_id = ${id}`;
  return row?.config ?? null;
}

export type ExportedComment = Omit<StoredComment, 'seq'>;

/** Oldest first. */
export function readComments(sql: Queries, id: ArtifactId): Promise<ExportedComment[]> {
  return sql<ExportedComment[]>`
    select id, data::text as data, created_at_ms as "createdAtMs", updated_at_ms as "updatedAtMs"
    from comment where artifact_id = ${id} order by created_at_ms, id`;
}

export interface ImportedKey {
  readonly key: string;
  readonly value: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly expiresAtMs: number | null;
}

export async function insertKeys(tx: Queries, id: ArtifactId, batch: readonly (ImportedKey & { readonly seq: number })[]): Promise<void> {
  await tx`
    insert into json_key (artifact_id, key, value, seq, created_at_ms, updated_at_ms, expires_at_ms)
    select ${id}, key, value, seq, created_at_ms, updated_at_ms, expires_at_ms
    from unnest(
      ${batch.map((row) => row.key)}::text[], ${batch.map((row) => row.value)}::text[], ${batch.map((row) => row.seq)}::bigint[],
      ${batch.map((row) => row.createdAtMs)}::bigint[], ${batch.map((row) => row.updatedAtMs)}::bigint[],
      ${batch.map((row) => row.expiresAtMs)}::bigint[]
    ) as u (key, value, seq, created_at_ms, updated_at_ms, expires_at_ms)`;
}

/** Each blob is one change, numbered from `seqBefore + 1`. */
export async function insertBlobs(
  tx: Queries,
  { id, createdBy, seqBefore }: { readonly id: ArtifactId; readonly createdBy: string; readonly seqBefore: number },
  blobs: Manifest['blobs'],
): Promise<void> {
  await tx`
    insert into blob (artifact_id, id, filename, mime_type, size_bytes, sha256, created_by, seq, created_at_ms)
    select ${id}, u.id, filename, mime, size_bytes, decode(hex, 'hex'), ${createdBy}, ${seqBefore} + n, created_at_ms
    from unnest(
      ${blobs.map((blob) => blob.id)}::text[], ${blobs.map((blob) => blob.filename)}::text[],
      ${blobs.map((blob) => blob.mime)}::text[], ${blobs.map((blob) => blob.size_bytes)}::bigint[],
      ${blobs.map((blob) => blob.sha256)}::text[], ${blobs.map((blob) => blob.created_at_ms)}::bigint[]
    ) with ordinality as u (id, filename, mime, size_bytes, hex, created_at_ms, n)`;
}

/** A column of `columns` in which a value occurs twice; null where there is none. */
export async function findRepeatedUnique(tx: Queries, id: ArtifactId, table: string, columns: readonly string[]): Promise<string | null> {
  const [twice] = await tx<{ column_name: string }[]>`
    select column_name from row_index
    where artifact_id = ${id} and table_name = ${table} and column_name = any(${[...columns]}::text[]) and (num is not null or txt is not null)
    group by column_name, kind, num, txt having count(*) > 1 limit 1`;
  return twice?.column_name ?? null;
}

export async function writeTableTime(tx: Queries, id: ArtifactId, table: string, updatedAtMs: number): Promise<void> {
  await tx`update data_table set updated_at_ms = ${updatedAtMs} where artifact_id = ${id} and name = ${table}`;
}

export interface ImportedDocument {
  readonly name: string;
  /** The whole document as one update of Yjs. */
  readonly state: Uint8Array;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Written as compaction leaves a document: one snapshot and no updates. */
export async function insertDocument(tx: Queries, id: ArtifactId, document: ImportedDocument, seq: number): Promise<void> {
  const { name, state, createdAtMs, updatedAtMs } = document;
  await withStaged(
    tx,
    state,
    (staged) =>
      tx`insert into document_snapshot (artifact_id, name, seq, data) values (${id}, ${name}, ${seq}, ${stagedValue(tx, staged)})`,
  );
  await tx`
    insert into document (artifact_id, name, snapshot_seq, created_seq, seq, stored_bytes, created_at_ms, updated_at_ms)
    values (${id}, ${name}, ${seq}, ${seq}, ${seq}, ${state.byteLength}, ${createdAtMs}, ${updatedAtMs})`;
}

export async function insertCommentSettings(
  tx: Queries,
  id: ArtifactId,
  settings: CommentSettings,
  seq: number,
  nowMs: number,
): Promise<void> {
  await tx`
    insert into comment_config (artifact_id, config, seq, updated_at_ms)
    values (${id}, ${JSON.stringify(settings)}::text::jsonb, ${seq}, ${nowMs})`;
}

/** Each comment is one change, numbered from `seqBefore + 1`. */
export async function insertComments(tx: Queries, id: ArtifactId, seqBefore: number, comments: readonly ExportedComment[]): Promise<void> {
  await tx`
    insert into comment (artifact_id, id, data, seq, created_at_ms, updated_at_ms)
    select ${id}, u.id, data::jsonb, ${seqBefore} + n, created, updated
    from unnest(
      ${comments.map((comment) => comment.id)}::text[], ${comments.map((comment) => comment.data)}::text[],
      ${comments.map((comment) => comment.createdAtMs)}::bigint[], ${comments.map((comment) => comment.updatedAtMs)}::bigint[]
    ) with ordinality as u (id, data, created, updated, n)`;
}
