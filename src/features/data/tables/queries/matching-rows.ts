/** Reads the committed rows that match a filter, for changes by filter: one page at a time, in insertion order. */
import type { StoredRow } from '../../../../../actors/tables/changes.ts';
import type { Sql } from '../../../../storage/sql.ts';
import type { Filter } from './filter.ts';
import { rowsWhere, type TableScope } from './filter-sql.ts';
import { Statement } from './statement.ts';

export interface PageBounds {
  /** The `createdSeq` of the last row of the previous page; 0 for the first page. */
  readonly after: number;
  readonly rowsMax: number;
  /** The page ends with the row that exceeds it. */
  readonly bytesMax: number;
}

/** Rows with their fields. On the last page neither `rowsMax` nor `bytesMax` is reached. */
export function matchingRows(sql: Sql, scope: TableScope, filter: Filter, { after, rowsMax, bytesMax }: PageBounds) {
  const statement = new Statement();
  const where = rowsWhere(scope, filter, statement);
  return statement.run<StoredRow>(
    sql,
    `select m.row_id as "rowId", m.data, m.created_seq as "createdSeq", m.seq, m.created_at_ms as "createdAtMs", m.updated_at_ms as "updatedAtMs"
    from (
      select f.row_id, f.data, f.created_seq, f.seq, f.created_at_ms, f.updated_at_ms,
        sum(octet_length(f.data)) over (order by f.created_seq) as bytes
      from (
        select r.row_id, r.data::text as data, r.created_seq, r.seq, r.created_at_ms, r.updated_at_ms
        from table_row r where ${where} and r.created_seq > ${statement.param(after, 'bigint')}
        order by r.created_seq limit ${statement.param(rowsMax, 'bigint')}
      ) f
    ) m
    where m.bytes - octet_length(m.data) <= ${statement.param(bytesMax, 'bigint')}
    order by m.created_seq`,
  );
}

/** Rows without their fields: `data` is an empty object. The last page has fewer than `rowsMax` rows. */
export function matchingIds(sql: Sql, scope: TableScope, filter: Filter, { after, rowsMax }: Omit<PageBounds, 'bytesMax'>) {
  const statement = new Statement();
  const where = rowsWhere(scope, filter, statement);
  return statement.run<StoredRow>(
    sql,
    `select r.row_id as "rowId", '{}' as data, r.created_seq as "createdSeq", r.seq, r.created_at_ms as "createdAtMs", r.updated_at_ms as "updatedAtMs"
    from table_row r where ${where} and r.created_seq > ${statement.param(after, 'bigint')}
    order by r.created_seq limit ${statement.param(rowsMax, 'bigint')}`,
  );
}
