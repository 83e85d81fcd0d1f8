/** Feed of tables and rows. */
import type { ChangeOf } from '../../../../actors/kinds.ts';
import { bareThing, DATA_BYTES_MAX, type Feed } from '../changes/feed.ts';

/** A table selects its number of rows. */
export const tablesFeed: Feed<ChangeOf<'tables'>, number> = {
  need: 'data:read',
  named: 'table',
  withoutData: ['table.drop', 'row.delete'],
  thingOf(change) {
    const { seq, table: name } = change;
    switch (change.kind) {
      case 'table.put': {
        const data = tableText(change.rowCount, change.schema);
        return { seq, kind: change.kind, name, rowId: null, data, atMs: change.updatedAtMs };
      }
      case 'table.drop':
        return bareThing(seq, change.kind, name, change.atMs);
      case 'row.put': {
        const { kind, rowId, data, updatedAtMs: atMs, createdAtMs } = change;
        return { seq, kind, name, rowId, data, atMs, createdAtMs };
      }
      case 'row.delete':
        return bareThing(seq, change.kind, name, change.atMs, change.rowId);
      default:
        return change satisfies never;
    }
  },
  stored: (sql, id, { sinceSeq, limit }) => [
    sql`
      select seq, 'table.put', name, null, schema::text, updated_at_ms, null::bigint, to_json(row_count)
      from data_table where artifact_id = ${id} and seq > ${sinceSeq} order by seq limit ${limit + 1}`,
    sql`
      select r.seq, 'row.put', t.name, r.row_id, case when octet_length(r.data::text) <= ${DATA_BYTES_MAX} then r.data::text end, r.updated_at_ms, r.created_at_ms, null::json
      from table_row r join data_table t on t.artifact_id = r.artifact_id and coalesce(t.stored_as, t.name) = r.table_name
      where r.artifact_id = ${id} and r.seq > ${sinceSeq} order by r.seq limit ${limit + 1}`,
  ],
  thingOfStored({ seq, kind, name, row_id: rowId, data, at_ms: atMs, created_at_ms: createdAtMs, more }) {
    if (kind === 'table.put') return { seq, kind, name, rowId, data: tableText(more, data), atMs };
    return { seq, kind, name, rowId, data, atMs, ...(createdAtMs !== null && { createdAtMs }) };
  },
};

function tableText(rowCount: number, schema: string | null): string {
  return `{"rowCount":${rowCount},"schema":${schema ?? 'null'}}`;
}
