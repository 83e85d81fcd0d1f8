/** The parts of the group commit's statement, one for each kind of change; nothing where a commit has none of it. `owned` maps a batch to its artifact. */
import type { JournalColumns } from './journal-columns.ts';
import type { Queries } from './sql.ts';

export function keyParts(sql: Queries, { keyPuts: p, keyDeletes: d }: JournalColumns) {
  const puts = sql`, key_written as (
      insert into json_key (artifact_id, key, value, seq, created_at_ms, updated_at_ms, expires_at_ms)
      select owned.id, p.key, p.value, p.seq, p.created, p.updated, p.expires
      from unnest(
        ${p.artifacts}::bigint[], ${p.keys}::text[], ${p.values}::text[], ${p.seqs}::bigint[],
        ${p.created}::bigint[], ${p.updated}::bigint[], ${p.expires}::bigint[]
      ) as p (artifact, key, value, seq, created, updated, expires)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, key) do update set
        value = excluded.value, seq = excluded.seq, created_at_ms = excluded.created_at_ms,
        updated_at_ms = excluded.updated_at_ms, expires_at_ms = excluded.expires_at_ms
    )`;
  if (d.keys.length === 0) return p.keys.length === 0 ? sql`` : puts;
  return sql`${p.keys.length === 0 ? sql`` : puts}, key_deleted as (
      delete from json_key using unnest(${d.artifacts}::bigint[], ${d.keys}::text[]) as d (artifact, key)
      join owned on owned.artifact = d.artifact
      where json_key.artifact_id = owned.id and json_key.key = d.key
    )`;
}

export function tableParts(sql: Queries, { tablePuts: p, tableCounts: c, tableDrops: d, rowsLeft: l }: JournalColumns) {
  const puts = sql`, table_written as (
      insert into data_table (artifact_id, name, stored_as, schema, row_count, seq, created_at_ms, updated_at_ms)
      select owned.id, p.name, p.stored_as, p.schema::jsonb, p.rows, p.seq, p.created, p.updated
      from unnest(
        ${p.artifacts}::bigint[], ${p.names}::text[], ${p.storedAs}::text[], ${p.schemas}::text[], ${p.counts}::bigint[], ${p.seqs}::bigint[],
        ${p.created}::bigint[], ${p.updated}::bigint[]
      ) as p (artifact, name, stored_as, schema, rows, seq, created, updated)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, name) do update set
        stored_as = excluded.stored_as, schema = excluded.schema, row_count = excluded.row_count, seq = excluded.seq,
        created_at_ms = excluded.created_at_ms, updated_at_ms = excluded.updated_at_ms
    )`;
  const counts = sql`, table_counted as (
      update data_table set row_count = c.rows, updated_at_ms = c.updated
      from unnest(${c.artifacts}::bigint[], ${c.names}::text[], ${c.counts}::bigint[], ${c.updated}::bigint[]) as c (artifact, name, rows, updated)
      join owned on owned.artifact = c.artifact
      where data_table.artifact_id = owned.id and data_table.name = c.name
    )`;
  // The rows stay until a purge takes them, whatever their number: nobody waits for that, and nobody sees them from here on.
  const drops = sql`, dropped as (
      select owned.id, d.name, d.stays::boolean
      from unnest(${d.artifacts}::bigint[], ${d.names}::text[], ${d.stays.map(String)}::text[]) as d (artifact, name, stays)
      join owned on owned.artifact = d.artifact
    ), table_dropped as (
      delete from data_table using dropped
      where data_table.artifact_id = dropped.id and data_table.name = dropped.name and not dropped.stays
    ), rows_left as (
      insert into dropped_table (artifact_id, stored_as, dropped_at_ms)
      select owned.id, l.stored_as, l.at
      from unnest(${l.artifacts}::bigint[], ${l.storedAs}::text[], ${l.times}::bigint[]) as l (artifact, stored_as, at)
      join owned on owned.artifact = l.artifact
      on conflict do nothing
    )`;
  const some = (names: readonly string[], part: typeof puts) => (names.length === 0 ? sql`` : part);
  return sql`${some(p.names, puts)}${some(c.names, counts)}${some(d.names, drops)}`;
}

export function rowParts(sql: Queries, { rowPuts: p, rowDeletes: d }: JournalColumns) {
  const puts = sql`, row_written as (
      insert into table_row (artifact_id, table_name, row_id, data, created_seq, seq, created_at_ms, updated_at_ms)
      select owned.id, p.tab, p.row_id, p.data::jsonb, p.created_seq, p.seq, p.created, p.updated
      from unnest(
        ${p.artifacts}::bigint[], ${p.tables}::text[], ${p.ids}::text[], ${p.data}::text[], ${p.createdSeqs}::bigint[],
        ${p.seqs}::bigint[], ${p.created}::bigint[], ${p.updated}::bigint[]
      ) as p (artifact, tab, row_id, data, created_seq, seq, created, updated)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, table_name, row_id) do update set
        data = excluded.data, seq = excluded.seq, updated_at_ms = excluded.updated_at_ms
    )`;
  if (d.ids.length === 0) return p.ids.length === 0 ? sql`` : puts;
  // By both names of a row, so that each of the two indexes that begin with the table finds just that row, whichever is taken.
  return sql`${p.ids.length === 0 ? sql`` : puts}, row_deleted as (
      delete from table_row
      using unnest(${d.artifacts}::bigint[], ${d.tables}::text[], ${d.ids}::text[], ${d.createdSeqs}::bigint[]) as d (artifact, tab, row_id, created_seq)
      join owned on owned.artifact = d.artifact
      where table_row.artifact_id = owned.id and table_row.table_name = d.tab and table_row.row_id = d.row_id and table_row.created_seq = d.created_seq
    )`;
}

export function indexParts(sql: Queries, { indexPuts: p, reindexed: r }: JournalColumns) {
  const puts = sql`, index_written as (
      insert into row_index (artifact_id, table_name, column_name, kind, num, txt, row_id, created_seq)
      select owned.id, p.tab, p.col, p.kind::"char", p.num, p.txt, p.row_id, p.created_seq
      from unnest(
        ${p.artifacts}::bigint[], ${p.tables}::text[], ${p.ids}::text[], ${p.columns}::text[], ${p.kinds}::text[],
        ${p.numbers}::double precision[], ${p.texts}::text[], ${p.createdSeqs}::bigint[]
      ) as p (artifact, tab, row_id, col, kind, num, txt, created_seq)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, table_name, row_id, column_name) do update set
        kind = excluded.kind, num = excluded.num, txt = excluded.txt
      where (row_index.kind, row_index.num, row_index.txt) is distinct from (excluded.kind, excluded.num, excluded.txt)
    )`;
  if (r.ids.length === 0) return p.ids.length === 0 ? sql`` : puts;
  // Only what is not written above: a row of the index may be touched once in a statement. As `not in`, which is looked up by hash:
  // the planner takes every array for a short one and would go through all of it for each row.
  const kept = sql`
        and (owned.artifact, row_index.table_name, row_index.row_id, row_index.column_name) not in (
          select k.artifact, k.tab, k.row_id, k.col
          from unnest(${p.artifacts}::bigint[], ${p.tables}::text[], ${p.ids}::text[], ${p.columns}::text[]) as k (artifact, tab, row_id, col)
        )`;
  return sql`${p.ids.length === 0 ? sql`` : puts}, index_deleted as (
      delete from row_index using unnest(${r.artifacts}::bigint[], ${r.tables}::text[], ${r.ids}::text[]) as r (artifact, tab, row_id)
      join owned on owned.artifact = r.artifact
      where row_index.artifact_id = owned.id and row_index.table_name = r.tab and row_index.row_id = r.row_id${p.ids.length === 0 ? sql`` : kept}
    )`;
}

export function blobParts(sql: Queries, { blobPuts: p, blobDeletes: d }: JournalColumns) {
  const puts = sql`, blob_written as (
      insert into blob (artifact_id, id, filename, mime_type, size_bytes, sha256, created_by, seq, created_at_ms)
      select owned.id, p.id, p.filename, p.mime, p.size, decode(p.sha256, 'hex'), p.creator, p.seq, p.created
      from unnest(
        ${p.artifacts}::bigint[], ${p.ids}::text[], ${p.filenames}::text[], ${p.mimes}::text[], ${p.sizes}::bigint[],
        ${p.digests}::text[], ${p.creators}::text[], ${p.seqs}::bigint[], ${p.created}::bigint[]
      ) as p (artifact, id, filename, mime, size, sha256, creator, seq, created)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, id) do update set
        filename = excluded.filename, mime_type = excluded.mime_type, size_bytes = excluded.size_bytes, sha256 = excluded.sha256,
        created_by = excluded.created_by, seq = excluded.seq, created_at_ms = excluded.created_at_ms
    )`;
  if (d.ids.length === 0) return p.ids.length === 0 ? sql`` : puts;
  return sql`${p.ids.length === 0 ? sql`` : puts}, blob_deleted as (
      delete from blob using unnest(${d.artifacts}::bigint[], ${d.ids}::text[]) as d (artifact, id)
      join owned on owned.artifact = d.artifact
      where blob.artifact_id = owned.id and blob.id = d.id
    )`;
}

export function tombstonePart(sql: Queries, { tombstones: t }: JournalColumns) {
  if (t.seqs.length === 0) return sql``;
  return sql`, buried as (
      insert into tombstone (artifact_id, seq, kind, name, row_id, at_ms)
      select owned.id, t.seq, t.kind, t.name, t.row_id, t.at
      from unnest(
        ${t.artifacts}::bigint[], ${t.seqs}::bigint[], ${t.kinds}::text[], ${t.names}::text[], ${t.rowIds}::text[], ${t.times}::bigint[]
      ) as t (artifact, seq, kind, name, row_id, at)
      join owned on owned.artifact = t.artifact
    )`;
}
