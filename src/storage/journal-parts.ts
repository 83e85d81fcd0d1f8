/** The parts of the group commit's statement, one for each kind of change; nothing, and no parameter, where a commit has none of it. `owned` maps a batch to its artifact. */
import type { JournalColumns } from './journal-columns.ts';
import type { JournalStatement } from './journal-statement.ts';

export function keyParts(statement: JournalStatement, { keyPuts: p, keyDeletes: d }: JournalColumns): string {
  const puts = () => `, key_written as (
      insert into json_key (artifact_id, key, value, seq, created_at_ms, updated_at_ms, expires_at_ms)
      select owned.id, p.key, p.value, p.seq, p.created, p.updated, p.expires
      from unnest(
        ${statement.bigints(p.artifacts)}, ${statement.texts(p.keys)}, ${statement.texts(p.values)}, ${statement.bigints(p.seqs)},
        ${statement.bigints(p.created)}, ${statement.bigints(p.updated)}, ${statement.bigints(p.expires)}
      ) as p (artifact, key, value, seq, created, updated, expires)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, key) do update set
        value = excluded.value, seq = excluded.seq, created_at_ms = excluded.created_at_ms,
        updated_at_ms = excluded.updated_at_ms, expires_at_ms = excluded.expires_at_ms
    )`;
  if (d.keys.length === 0) return p.keys.length === 0 ? '' : puts();
  return `${p.keys.length === 0 ? '' : puts()}, key_deleted as (
      delete from json_key using unnest(${statement.bigints(d.artifacts)}, ${statement.texts(d.keys)}) as d (artifact, key)
      join owned on owned.artifact = d.artifact
      where json_key.artifact_id = owned.id and json_key.key = d.key
    )`;
}

export function tableParts(
  statement: JournalStatement,
  { tablePuts: p, tableCounts: c, tableDrops: d, rowsLeft: l }: JournalColumns,
): string {
  const puts = () => `, table_written as (
      insert into data_table (artifact_id, name, stored_as, schema, row_count, seq, created_at_ms, updated_at_ms)
      select owned.id, p.name, p.stored_as, p.schema::jsonb, p.rows, p.seq, p.created, p.updated
      from unnest(
        ${statement.bigints(p.artifacts)}, ${statement.texts(p.names)}, ${statement.nullableTexts(p.storedAs)}, ${statement.nullableTexts(p.schemas)}, ${statement.bigints(p.counts)}, ${statement.bigints(p.seqs)},
        ${statement.bigints(p.created)}, ${statement.bigints(p.updated)}
      ) as p (artifact, name, stored_as, schema, rows, seq, created, updated)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, name) do update set
        stored_as = excluded.stored_as, schema = excluded.schema, row_count = excluded.row_count, seq = excluded.seq,
        created_at_ms = excluded.created_at_ms, updated_at_ms = excluded.updated_at_ms
    )`;
  const counts = () => `, table_counted as (
      update data_table set row_count = c.rows, updated_at_ms = c.updated
      from unnest(${statement.bigints(c.artifacts)}, ${statement.texts(c.names)}, ${statement.bigints(c.counts)}, ${statement.bigints(c.updated)}) as c (artifact, name, rows, updated)
      join owned on owned.artifact = c.artifact
      where data_table.artifact_id = owned.id and data_table.name = c.name
    )`;
  // The rows stay until a purge takes them, whatever their number: nobody waits for that, and nobody sees them from here on.
  const drops = () => `, dropped as (
      select owned.id, d.name, d.stays::boolean
      from unnest(${statement.bigints(d.artifacts)}, ${statement.texts(d.names)}, ${statement.texts(d.stays.map(String))}) as d (artifact, name, stays)
      join owned on owned.artifact = d.artifact
    ), table_dropped as (
      delete from data_table using dropped
      where data_table.artifact_id = dropped.id and data_table.name = dropped.name and not dropped.stays
    ), rows_left as (
      insert into dropped_table (artifact_id, stored_as, dropped_at_ms)
      select owned.id, l.stored_as, l.at
      from unnest(${statement.bigints(l.artifacts)}, ${statement.texts(l.storedAs)}, ${statement.bigints(l.times)}) as l (artifact, stored_as, at)
      join owned on owned.artifact = l.artifact
      on conflict do nothing
    )`;
  const some = (names: readonly string[], part: () => string) => (names.length === 0 ? '' : part());
  return `${some(p.names, puts)}${some(c.names, counts)}${some(d.names, drops)}`;
}

export function rowParts(statement: JournalStatement, { rowPuts: p, rowDeletes: d }: JournalColumns): string {
  const puts = () => `, row_written as (
      insert into table_row (artifact_id, table_name, row_id, data, created_seq, seq, created_at_ms, updated_at_ms)
      select owned.id, p.tab, p.row_id, p.data::jsonb, p.created_seq, p.seq, p.created, p.updated
      from unnest(
        ${statement.bigints(p.artifacts)}, ${statement.texts(p.tables)}, ${statement.texts(p.ids)}, ${statement.texts(p.data)}, ${statement.bigints(p.createdSeqs)},
        ${statement.bigints(p.seqs)}, ${statement.bigints(p.created)}, ${statement.bigints(p.updated)}
      ) as p (artifact, tab, row_id, data, created_seq, seq, created, updated)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, table_name, row_id) do update set
        data = excluded.data, seq = excluded.seq, updated_at_ms = excluded.updated_at_ms
    )`;
  if (d.ids.length === 0) return p.ids.length === 0 ? '' : puts();
  // By both names of a row, so that each of the two indexes that begin with the table finds just that row, whichever is taken.
  return `${p.ids.length === 0 ? '' : puts()}, row_deleted as (
      delete from table_row
      using unnest(${statement.bigints(d.artifacts)}, ${statement.texts(d.tables)}, ${statement.texts(d.ids)}, ${statement.bigints(d.createdSeqs)}) as d (artifact, tab, row_id, created_seq)
      join owned on owned.artifact = d.artifact
      where table_row.artifact_id = owned.id and table_row.table_name = d.tab and table_row.row_id = d.row_id and table_row.created_seq = d.created_seq
    )`;
}

export function indexParts(statement: JournalStatement, { indexPuts: p, reindexed: r }: JournalColumns): string {
  const puts = () => `, index_written as (
      insert into row_index (artifact_id, table_name, column_name, kind, num, txt, row_id, created_seq)
      select owned.id, p.tab, p.col, p.kind::"char", p.num, p.txt, p.row_id, p.created_seq
      from unnest(
        ${statement.bigints(p.artifacts)}, ${statement.texts(p.tables)}, ${statement.texts(p.ids)}, ${statement.texts(p.columns)}, ${statement.texts(p.kinds)},
        ${statement.doubles(p.numbers)}, ${statement.nullableTexts(p.texts)}, ${statement.bigints(p.createdSeqs)}
      ) as p (artifact, tab, row_id, col, kind, num, txt, created_seq)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, table_name, row_id, column_name) do update set
        kind = excluded.kind, num = excluded.num, txt = excluded.txt
      where (row_index.kind, row_index.num, row_index.txt) is distinct from (excluded.kind, excluded.num, excluded.txt)
    )`;
  if (r.ids.length === 0) return p.ids.length === 0 ? '' : puts();
  // Only what is not written above: a row of the index may be touched once in a statement. As `not in`, which is looked up by hash:
  // the planner takes every array for a short one and would go through all of it for each row.
  const kept = () => `
        and (owned.artifact, row_index.table_name, row_index.row_id, row_index.column_name) not in (
          select k.artifact, k.tab, k.row_id, k.col
          from unnest(${statement.bigints(p.artifacts)}, ${statement.texts(p.tables)}, ${statement.texts(p.ids)}, ${statement.texts(p.columns)}) as k (artifact, tab, row_id, col)
        )`;
  return `${p.ids.length === 0 ? '' : puts()}, index_deleted as (
      delete from row_index using unnest(${statement.bigints(r.artifacts)}, ${statement.texts(r.tables)}, ${statement.texts(r.ids)}) as r (artifact, tab, row_id)
      join owned on owned.artifact = r.artifact
      where row_index.artifact_id = owned.id and row_index.table_name = r.tab and row_index.row_id = r.row_id${p.ids.length === 0 ? '' : kept()}
    )`;
}

export function blobParts(statement: JournalStatement, { blobPuts: p, blobDeletes: d }: JournalColumns): string {
  const puts = () => `, blob_written as (
      insert into blob (artifact_id, id, filename, mime_type, size_bytes, sha256, created_by, seq, created_at_ms)
      select owned.id, p.id, p.filename, p.mime, p.size, decode(p.sha256, 'hex'), p.creator, p.seq, p.created
      from unnest(
        ${statement.bigints(p.artifacts)}, ${statement.texts(p.ids)}, ${statement.nullableTexts(p.filenames)}, ${statement.nullableTexts(p.mimes)}, ${statement.bigints(p.sizes)},
        ${statement.texts(p.digests)}, ${statement.nullableTexts(p.creators)}, ${statement.bigints(p.seqs)}, ${statement.bigints(p.created)}
      ) as p (artifact, id, filename, mime, size, sha256, creator, seq, created)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, id) do update set
        filename = excluded.filename, mime_type = excluded.mime_type, size_bytes = excluded.size_bytes, sha256 = excluded.sha256,
        created_by = excluded.created_by, seq = excluded.seq, created_at_ms = excluded.created_at_ms
    )`;
  if (d.ids.length === 0) return p.ids.length === 0 ? '' : puts();
  return `${p.ids.length === 0 ? '' : puts()}, blob_deleted as (
      delete from blob using unnest(${statement.bigints(d.artifacts)}, ${statement.texts(d.ids)}) as d (artifact, id)
      join owned on owned.artifact = d.artifact
      where blob.artifact_id = owned.id and blob.id = d.id
    )`;
}

export function tombstonePart(statement: JournalStatement, { tombstones: t }: JournalColumns): string {
  if (t.seqs.length === 0) return '';
  return `, buried as (
      insert into tombstone (artifact_id, seq, kind, name, row_id, at_ms)
      select owned.id, t.seq, t.kind, t.name, t.row_id, t.at
      from unnest(
        ${statement.bigints(t.artifacts)}, ${statement.bigints(t.seqs)}, ${statement.texts(t.kinds)}, ${statement.texts(t.names)}, ${statement.nullableTexts(t.rowIds)}, ${statement.bigints(t.times)}
      ) as t (artifact, seq, kind, name, row_id, at)
      join owned on owned.artifact = t.artifact
    )`;
}
