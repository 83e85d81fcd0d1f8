/** "What changed since": read from the things themselves, each of which knows the seq of its last change, and from the tombstones of deleted ones. */
import type { ArtifactId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { ChangeType } from '../../../protocol/schemas/change.ts';
import type { Queries } from '../deps.ts';
import { blobText, type ChangedThing, type CommentText, tableText } from './events.ts';

export interface ChangesWanted {
  readonly sinceSeq: number;
  readonly types: readonly ChangeType[];
  /** Whether keys that begin with `_` are told of. */
  readonly reserved: boolean;
  readonly limit: number;
  /** Unix ms; a key that has expired is not told of. */
  readonly nowMs: number;
}

export interface ChangesRead {
  /** In the order of their seq. */
  readonly things: readonly ChangedThing[];
  readonly hasMore: boolean;
  /** Of the last committed change, as the same snapshot saw it. */
  readonly headSeq: number;
  /** Deletions up to here may have been forgotten. */
  readonly trimmedSeq: number;
}

interface Row {
  readonly head_seq: number;
  readonly trimmed_seq: number;
  readonly seq: number | null;
  readonly kind: ChangedThing['kind'] | 'comment.put' | 'comment.delete';
  readonly name: string;
  readonly row_id: string | null;
  readonly data: string | null;
  readonly at_ms: number;
  readonly row_count: number | null;
  readonly mime_type: string | null;
  readonly size_bytes: number | null;
  readonly created_at_ms: number | null;
}

/** One snapshot. Null where there is no such artifact. */
export async function readChanges(
  sql: Queries,
  id: ArtifactId,
  wanted: ChangesWanted,
  commentText: CommentText,
): Promise<ChangesRead | null> {
  const sources = [
    columns(sql),
    ...(wanted.types.includes('json') ? [keys(sql, id, wanted)] : []),
    ...(wanted.types.includes('tables') ? [tables(sql, id, wanted), rows(sql, id, wanted)] : []),
    ...(wanted.types.includes('blobs') ? [blobs(sql, id, wanted)] : []),
    ...(wanted.types.includes('comments') ? [comments(sql, id, wanted)] : []),
    ...(wanted.types.includes('documents') ? [documents(sql, id, wanted)] : []),
    tombstones(sql, id, wanted),
  ];
  const all = sources.reduce((sum, source) => sql`${sum} union all ${source}`);
  const found = await sql<Row[]>`
    select a.seq as head_seq, a.tombstones_trimmed_seq as trimmed_seq, c.*
    from artifact a left join lateral (select * from (${all}) as every order by seq limit ${wanted.limit + 1}) as c on true
    where a.id = ${id} order by c.seq`;
  const [first] = found;
  if (first === undefined) return null;
  const things = found.filter((row) => row.seq !== null).map((row) => thingOfRow(row, commentText));
  return {
    things: things.slice(0, wanted.limit),
    hasMore: things.length > wanted.limit,
    headSeq: first.head_seq,
    trimmedSeq: first.trimmed_seq,
  };
}

/** The seq of the last committed change of each of these artifacts. */
export async function readHeadSeqs(sql: Queries, ids: readonly ArtifactId[]): Promise<ReadonlyMap<ArtifactId, number>> {
  const found = await sql<{ id: ArtifactId; seq: number }[]>`select id, seq from artifact where id = any(${[...ids]}::text[])`;
  return new Map(found.map(({ id, seq }) => [id, seq]));
}

function thingOfRow(row: Row, commentText: CommentText): ChangedThing {
  const { kind, name, at_ms: atMs, row_id: rowId } = row;
  const seq = row.seq ?? 0;
  if (kind === 'comment.delete') return { seq, kind: 'comment:deleted', name, rowId, atMs, data: null };
  if (kind === 'comment.put') {
    const createdAtMs = row.created_at_ms ?? atMs;
    const data = commentText({ id: name, data: row.data ?? '{}', seq, createdAtMs, updatedAtMs: atMs });
    // What happened to it in between is not known any more.
    return { seq, kind: createdAtMs === atMs ? 'comment:added' : 'comment:updated', name, rowId, atMs, data };
  }
  const at = { seq, kind, name, rowId, atMs };
  if (kind === 'table.put') return { ...at, data: tableText(row.row_count ?? 0, row.data) };
  if (kind === 'blob.put') {
    const blob = { filename: row.data ?? '', mimeType: row.mime_type ?? '', sizeBytes: row.size_bytes ?? 0, createdAtMs: atMs };
    return { ...at, data: blobText(blob) };
  }
  return { ...at, data: row.data, ...(row.created_at_ms !== null && { createdAtMs: row.created_at_ms }) };
}

const fitting = LIMITS.changeValueBytesMax;

/** No row: the names and types of the columns, whichever sources follow. */
function columns(sql: Queries) {
  return sql`(
    select null::bigint as seq, null::text as kind, null::text as name, null::text as row_id, null::text as data, null::bigint as at_ms,
      null::int as row_count, null::text as mime_type, null::bigint as size_bytes, null::bigint as created_at_ms
    where false)`;
}

function keys(sql: Queries, id: ArtifactId, { sinceSeq, reserved, limit, nowMs }: ChangesWanted) {
  return sql`(
    select seq, 'json.put', key, null, case when octet_length(value) <= ${fitting} then value end, updated_at_ms,
      null::int, null, null::bigint, null::bigint
    from json_key
    where artifact_id = ${id} and seq > ${sinceSeq} and (expires_at_ms is null or expires_at_ms > ${nowMs})
      and (${reserved} or not starts_with(key, '_'))
    order by seq limit ${limit + 1})`;
}

function tables(sql: Queries, id: ArtifactId, { sinceSeq, limit }: ChangesWanted) {
  return sql`(
    select seq, 'table.put', name, null, schema::text, updated_at_ms, row_count, null, null::bigint, null::bigint
    from data_table where artifact_id = ${id} and seq > ${sinceSeq} order by seq limit ${limit + 1})`;
}

function rows(sql: Queries, id: ArtifactId, { sinceSeq, limit }: ChangesWanted) {
  return sql`(
    select r.seq, 'row.put', t.name, r.row_id, case when octet_length(r.data::text) <= ${fitting} then r.data::text end, r.updated_at_ms,
      null::int, null, null::bigint, r.created_at_ms
    from table_row r join data_table t on t.artifact_id = r.artifact_id and coalesce(t.stored_as, t.name) = r.table_name
    where r.artifact_id = ${id} and r.seq > ${sinceSeq} order by r.seq limit ${limit + 1})`;
}

function blobs(sql: Queries, id: ArtifactId, { sinceSeq, limit }: ChangesWanted) {
  return sql`(
    select seq, 'blob.put', id, null, filename, created_at_ms, null::int, mime_type, size_bytes, null::bigint
    from blob where artifact_id = ${id} and seq > ${sinceSeq} order by seq limit ${limit + 1})`;
}

function comments(sql: Queries, id: ArtifactId, { sinceSeq, limit }: ChangesWanted) {
  return sql`(
    select seq, 'comment.put', id, null, data::text, updated_at_ms, null::int, null, null::bigint, created_at_ms
    from comment where artifact_id = ${id} and seq > ${sinceSeq} order by seq limit ${limit + 1})`;
}

function documents(sql: Queries, id: ArtifactId, { sinceSeq, limit }: ChangesWanted) {
  return sql`(
    select seq, 'doc.update', name, null, null, updated_at_ms, null::int, null, null::bigint, null::bigint
    from document where artifact_id = ${id} and seq > ${sinceSeq} order by seq limit ${limit + 1})`;
}

function tombstones(sql: Queries, id: ArtifactId, { sinceSeq, types, reserved, limit }: ChangesWanted) {
  const kinds = [
    ...(types.includes('json') ? ['json.delete'] : []),
    ...(types.includes('tables') ? ['row.delete', 'table.drop'] : []),
    ...(types.includes('blobs') ? ['blob.delete'] : []),
    ...(types.includes('comments') ? ['comment.delete'] : []),
    ...(types.includes('documents') ? ['doc.drop'] : []),
  ];
  return sql`(
    select seq, kind, name, row_id, null, at_ms, null::int, null, null::bigint, null::bigint
    from tombstone
    where artifact_id = ${id} and seq > ${sinceSeq} and kind = any(${kinds}::text[])
      and (${reserved} or kind <> 'json.delete' or not starts_with(name, '_'))
    order by seq limit ${limit + 1})`;
}
