/** The committed rows that match a filter, for changes by filter: a page at a time, in the order of their insertion. */
import type { StoredRow } from '../../../actors/ports.ts';
import type { Sql } from '../../storage/sql.ts';
import type { Filter } from './filter.ts';
import { rowsWhere, type TableScope } from './filter-sql.ts';
import { Statement } from './statement.ts';

export interface PageBounds {
  /** The `createdSeq` of the last row of the page before; 0 for the first page. */
  readonly after: number;
  readonly rowsMax: number;
  /** The row that goes beyond it is the last one of the page. */
  readonly bytesMax: number;
}

/** Rows with their fields. The last page has fewer rows and fewer bytes than it might have. */
export function matchingRows(sql: Sql, scope: TableScope, filter: Filter, { after, rowsMax, bytesMax }: PageBounds) {
  const statement = new Statement();
  const where = rowsWhere(scope, filter, statement);
  return statement.run<StoredRow>(
    sql,
    `select m.row_id as "rowId", m.data, m.created_seq as "createdSeq", m.seq, m.created_at_ms as "createdAtMs", m.updated_at_ms as "updatedAtMs"
    from (
      select f.*, sum(octet_length(f.data)) over (order by f.created_seq) as bytes
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

/** Rows without their fields: `data` is that of an empty row. The last page has fewer rows than it might have. */
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
