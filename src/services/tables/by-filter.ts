/** Handlers of changes to all rows that match a filter, and of dropping a table. */

import { DeleteMatching, PatchMatching, type ReadMatching } from '../../../actors/held-table.ts';
import type { StoredRow } from '../../../actors/ports.ts';
import type { RowFields } from '../../../actors/row-fields.ts';
import type { ActorRuntime } from '../../../actors/runtime.ts';
import { DropTable } from '../../../actors/table-operations.ts';
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Endpoints } from '../../../protocol/table.ts';
import type { Call, Handlers } from '../../edge/call.ts';
import { type Filter, parseFilter } from './filter.ts';
import { rowsWhere } from './filter-sql.ts';
import { matchingRows } from './matching-rows.ts';
import { mayWriteAs, perform } from './perform.ts';
import type { TableReads } from './reads.ts';
import { Statement } from './statement.ts';

interface Deps {
  readonly runtime: ActorRuntime;
  readonly reads: TableReads;
}

export function byFilterHandlers({ runtime, reads }: Deps): Handlers<'tables.updateMany' | 'tables.deleteMany'> {
  return {
    'tables.updateMany': async (call) => {
      const { artifactId, table } = call.params;
      const changes = objectOf(call.body.changes, 'changes');
      const matching = wholeRows(reads, parseFilter(call.body.filter));
      const updated = await perform(runtime, artifactId, new PatchMatching(table, matching, changes, mayWriteAs(call.role)));
      return { reply: 'ok', body: { success: true, data: { updated } } };
    },
    'tables.deleteMany': (call) => (call.query.confirm ? drop(runtime, call) : deleteMatching({ runtime, reads }, call)),
  };
}

async function deleteMatching({ runtime, reads }: Deps, call: Call<Endpoints['tables.deleteMany']>) {
  const { artifactId, table } = call.params;
  const given = call.body.filter;
  if (given === undefined || Object.keys(objectOf(given, 'filter')).length === 0) {
    throw new Failure('INVALID_REQUEST', {
      message: 'filter: must say which rows to delete.',
      hint: 'Send {"filter": {...}}; ?confirm=true drops the whole table.',
      param: 'filter',
    });
  }
  const matching = rowIds(reads, parseFilter(given));
  const deleted = await perform(runtime, artifactId, new DeleteMatching(table, matching, mayWriteAs(call.role)));
  return { reply: 'ok', body: { success: true, data: { deleted } } } as const;
}

/** Whoever may write rows may not for that reason take away the table itself. */
async function drop(runtime: ActorRuntime, call: Call<Endpoints['tables.deleteMany']>) {
  if (call.role !== 'owner' && call.role !== 'editor') {
    throw new Failure('FORBIDDEN', { message: 'A table is dropped by the owner and editors only.' });
  }
  if (call.body.filter !== undefined) {
    throw new Failure('INVALID_REQUEST', { message: 'filter: is not for confirm=true, which drops the whole table.', param: 'filter' });
  }
  const { artifactId, table } = call.params;
  const deleted = await perform(runtime, artifactId, new DropTable(table, mayWriteAs(call.role)));
  return { reply: 'dropped', body: { success: true, data: { dropped: true, deleted } } } as const;
}

function wholeRows(reads: TableReads, filter: Filter): ReadMatching {
  return async ({ artifactId }, { name, schema }, rowsMax) => {
    const bytesMax = LIMITS.rowsByFilterBytesMax;
    const scope = { artifactId, table: name, schema };
    const rows = await reads.run(artifactId, (sql) => matchingRows(sql, scope, filter, { rowsMax, bytesMax }));
    const bytes = rows.reduce((sum, { data }) => sum + data.length, 0);
    if (bytes <= bytesMax) return rows;
    throw new Failure('TOO_MANY_ROWS', { message: `The rows that match have more than ${bytesMax} bytes.`, param: 'filter' });
  };
}

/** Nothing else is needed of a row that goes. */
function rowIds(reads: TableReads, filter: Filter): ReadMatching {
  return ({ artifactId }, { name, schema }, rowsMax) => {
    const statement = new Statement();
    const where = rowsWhere({ artifactId, table: name, schema }, filter, statement);
    const text = `select r.row_id as "rowId", '{}' as data, r.created_seq as "createdSeq", r.seq, r.created_at_ms as "createdAtMs", r.updated_at_ms as "updatedAtMs"
      from table_row r where ${where} order by r.created_seq limit ${statement.param(rowsMax + 1, 'bigint')}`;
    return reads.run(artifactId, (sql) => statement.run<StoredRow>(sql, text));
  };
}

function objectOf(value: unknown, where: string): RowFields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RowFields;
  throw new Failure('INVALID_REQUEST', { message: `${where}: must be an object.`, param: where });
}
