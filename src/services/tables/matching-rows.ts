/** The committed rows that match a filter, for changes by filter. */
import type { StoredRow } from '../../../actors/ports.ts';
import type { Sql } from '../../storage/sql.ts';
import type { Filter } from './filter.ts';
import { rowsWhere, type TableScope } from './filter-sql.ts';
import { Statement } from './statement.ts';

export interface Bounds {
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/** At most `rowsMax + 1` rows and not much more than `bytesMax` bytes, in the order of their insertion: whoever gets more than he may have knows that there are more. */
export function matchingRows(sql: Sql, scope: TableScope, filter: Filter, { rowsMax, bytesMax }: Bounds): Promise<readonly StoredRow[]> {
  const statement = new Statement();
  const where = rowsWhere(scope, filter, statement);
  const limit = statement.param(rowsMax + 1, 'bigint');
  return statement.run<StoredRow>(
    sql,
    `select m.row_id as "rowId", m.data, m.created_seq as "createdSeq", m.seq, m.created_at_ms as "createdAtMs", m.updated_at_ms as "updatedAtMs"
    from (
      select f.*, sum(octet_length(f.data)) over (order by f.created_seq) as bytes
      from (
        select r.row_id, r.data::text as data, r.created_seq, r.seq, r.created_at_ms, r.updated_at_ms
        from table_row r where ${where} order by r.created_seq limit ${limit}
      ) f
    ) m
    where m.bytes - octet_length(m.data) <= ${statement.param(bytesMax, 'bigint')}
    order by m.created_seq`,
  );
}
