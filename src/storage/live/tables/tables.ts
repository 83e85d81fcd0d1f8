/** Tables and their rows in the store. */
import type { ChangeOf } from '../../../../actors/kinds.ts';
import type { HolderQuery, StoredRow, StoredTable, TableReads } from '../../../../actors/tables/changes.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { JournalStatement } from '../../journal-statement.ts';
import type { Sql, Transaction } from '../../sql.ts';
import type { KindColumns, StoredKindOf } from '../live-kind.ts';
import { kindOf, TableColumns } from './columns.ts';
import { indexParts, rowParts, tableParts } from './parts.ts';

export const tablesStored: StoredKindOf<'tables'> = {
  columns: (graves) => new WrittenTables(graves),
  async load(tx, artifactId) {
    const [tables, [dropped]] = await Promise.all([
      readTables(tx, artifactId),
      tx`select 1 from dropped_table where artifact_id = ${artifactId} limit 1`,
    ]);
    return { tables, hasDroppedTables: dropped !== undefined };
  },
  reads: tableReads,
};

class WrittenTables extends TableColumns implements KindColumns<ChangeOf<'tables'>> {
  parts(statement: JournalStatement): string {
    return `${tableParts(statement, this)}${rowParts(statement, this)}${indexParts(statement, this)}`;
  }
}

function readTables(tx: Transaction, artifactId: ArtifactId) {
  return tx<StoredTable[]>`
    select name, coalesce(stored_as, name) as "storedAs", schema::text as schema, row_count as "rowCount", seq, created_at_ms as "createdAtMs", updated_at_ms as "updatedAtMs"
    from data_table where artifact_id = ${artifactId} order by name`;
}

function tableReads(sql: Sql): TableReads {
  return {
    readRows: (artifactId, table, rowIds) => sql<StoredRow[]>`
      select ${rowColumns(sql)} from table_row r
      where r.artifact_id = ${artifactId} and r.row_id = any(${[...rowIds]}::text[]) and ${inTable(sql, table)}`,

    readHolders: (artifactId, wanted) => (wanted.isIndexed ? readIndexed(sql, artifactId, wanted) : readUnindexed(sql, artifactId, wanted)),
  };
}

/** Columns of `table_row r` for a StoredRow. */
function rowColumns(sql: Sql) {
  return sql`r.row_id as "rowId", r.data::text as data, r.created_seq as "createdSeq", r.seq, r.created_at_ms as "createdAtMs", r.updated_at_ms as "updatedAtMs"`;
}

/** Said so that no index can begin with it: rows are to be found by their ids and not by going through their table. */
function inTable(sql: Sql, table: string) {
  return sql`r.table_name || '' = ${table}`;
}

function readIndexed(sql: Sql, artifactId: ArtifactId, { table, column, values, rowsMax }: HolderQuery) {
  const numbers = values.filter((value) => typeof value === 'number');
  const texts = values.filter((value) => typeof value !== 'number');
  return sql<StoredRow[]>`
    select ${rowColumns(sql)} from (
      select row_id from row_index
      where artifact_id = ${artifactId} and table_name = ${table} and column_name = ${column} and kind = 'n' and num = any(${numbers}::double precision[])
      union all
      select row_id from row_index
      where artifact_id = ${artifactId} and table_name = ${table} and column_name = ${column} and kind <> 'n'
        and (txt, kind) in (select * from unnest(${texts.map(String)}::text[], ${texts.map(kindOf)}::"char"[]))
      limit ${rowsMax}
    ) as i join table_row r on r.artifact_id = ${artifactId} and r.row_id = i.row_id and ${inTable(sql, table)}`;
}

/** Rows and bytes that one statement looks at: the embedded database runs nothing else meanwhile. */
const LOOKED_AT_ROWS = 2000;
const LOOKED_AT_BYTES = 4 * 1024 * 1024;

/** Looks through the table in slices. A compressed value is taken for as large as it can be. */
async function readUnindexed(sql: Sql, artifactId: ArtifactId, { table, column, values, rowsMax }: HolderQuery): Promise<StoredRow[]> {
  const found: StoredRow[] = [];
  const texts = values.map((value) => JSON.stringify(value));
  for (let after: number | null = -1; after !== null && found.length < rowsMax; ) {
    const slice: readonly (StoredRow & { readonly end: number | null })[] = await sql<(StoredRow & { readonly end: number | null })[]>`
      with taken as materialized (
        select r.* from (
          select r.*, coalesce(sum(case when pg_column_compression(r.data) is null then 1 else 90 end * pg_column_size(r.data))
            over (order by r.created_seq rows between unbounded preceding and 1 preceding), 0) as bytes_before
          from (
            select r.* from table_row r where r.artifact_id = ${artifactId} and r.table_name = ${table} and r.created_seq > ${after}
            order by r.created_seq limit ${LOOKED_AT_ROWS}
          ) r
        ) r where r.bytes_before < ${LOOKED_AT_BYTES}
      )
      select e.last as "end", m.* from (select max(created_seq) as last from taken) e left join (
        select ${rowColumns(sql)} from taken r
        where r.data -> ${column} in (select v::jsonb from unnest(${texts}::text[]) as v) limit ${rowsMax - found.length}
      ) m on true`;
    after = slice[0]?.end ?? null;
    for (const { end: _end, ...row } of slice) if (row.rowId !== null) found.push(row);
  }
  return found;
}
