/** The parts of the group commit's statement that write tables and rows. A commit without such changes has no part and no parameter. `owned` maps a batch to its artifact. */
import type { JournalStatement } from '../../journal-statement.ts';
import type { TableColumns } from './columns.ts';

export function tableParts(
  statement: JournalStatement,
  { tablePuts: p, tableCounts: c, tableDrops: d, rowsLeft: l }: TableColumns,
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
  // The rows of a dropped table are invisible from here on; a purge deletes them later, so the commit does not wait for that.
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

export function rowParts(statement: JournalStatement, { rowPuts: p, rowDeletes: d }: TableColumns): string {
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
  // Compares both keys of a row, so that either of the two indexes that begin with the table finds exactly that row.
  return `${p.ids.length === 0 ? '' : puts()}, row_deleted as (
      delete from table_row
      using unnest(${statement.bigints(d.artifacts)}, ${statement.texts(d.tables)}, ${statement.texts(d.ids)}, ${statement.bigints(d.createdSeqs)}) as d (artifact, tab, row_id, created_seq)
      join owned on owned.artifact = d.artifact
      where table_row.artifact_id = owned.id and table_row.table_name = d.tab and table_row.row_id = d.row_id and table_row.created_seq = d.created_seq
    )`;
}

export function indexParts(statement: JournalStatement, { indexPuts: p, reindexed: r }: TableColumns): string {
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
  // Deletes only index rows that are not written above, because a statement may touch a row once. `not in` is a hash lookup, whereas
  // the planner assumes short arrays and would scan the whole array for each row.
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
