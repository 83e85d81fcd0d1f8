/** Handlers of changes to all rows that match a filter, and of dropping a table. */

import { DeleteMatching, PatchMatching, type ReadMatching } from '../../../actors/held-table.ts';
import type { RowFields } from '../../../actors/row-fields.ts';
import type { ActorRuntime } from '../../../actors/runtime.ts';
import { DropTable } from '../../../actors/table-operations.ts';
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Endpoints } from '../../../protocol/table.ts';
import type { Call, Handlers } from '../../edge/call.ts';
import { type Filter, parseFilter } from './filter.ts';
import { matchingIds, matchingRows } from './matching-rows.ts';
import { mayWriteAs, perform, performInPieces } from './perform.ts';
import type { TablePurge } from './purge.ts';
import type { TableReads } from './reads.ts';

// Between two pages others have their turn in this process.
const PAGE_ROWS = 1000;
const PAGE_BYTES = 1024 * 1024;

interface Deps {
  readonly runtime: ActorRuntime;
  readonly reads: TableReads;
  readonly purge: Pick<TablePurge, 'wake'>;
}

export function byFilterHandlers({ runtime, reads, purge }: Deps): Handlers<'tables.updateMany' | 'tables.deleteMany'> {
  return {
    'tables.updateMany': async (call) => {
      const { artifactId, table } = call.params;
      const changes = objectOf(call.body.changes, 'changes');
      const matching = wholeRows(reads, parseFilter(call.body.filter));
      const updated = await performInPieces(runtime, artifactId, new PatchMatching(table, matching, changes, mayWriteAs(call.role)));
      return { reply: 'ok', body: { success: true, data: { updated } } };
    },
    'tables.deleteMany': (call) => (call.query.confirm ? drop({ runtime, purge }, call) : deleteMatching({ runtime, reads }, call)),
  };
}

async function deleteMatching({ runtime, reads }: Pick<Deps, 'runtime' | 'reads'>, call: Call<Endpoints['tables.deleteMany']>) {
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
  const deleted = await performInPieces(runtime, artifactId, new DeleteMatching(table, matching, mayWriteAs(call.role)));
  return { reply: 'ok', body: { success: true, data: { deleted } } } as const;
}

/** Whoever may write rows may not for that reason take away the table itself. */
async function drop({ runtime, purge }: Pick<Deps, 'runtime' | 'purge'>, call: Call<Endpoints['tables.deleteMany']>) {
  if (call.role !== 'owner' && call.role !== 'editor') {
    throw new Failure('FORBIDDEN', { message: 'A table is dropped by the owner and editors only.' });
  }
  if (call.body.filter !== undefined) {
    throw new Failure('INVALID_REQUEST', { message: 'filter: is not for confirm=true, which drops the whole table.', param: 'filter' });
  }
  const { artifactId, table } = call.params;
  const deleted = await perform(runtime, artifactId, new DropTable(table, mayWriteAs(call.role)));
  purge.wake();
  return { reply: 'dropped', body: { success: true, data: { dropped: true, deleted } } } as const;
}

function wholeRows(reads: TableReads, filter: Filter): ReadMatching {
  return async function* ({ artifactId }, { storedAs, schema }) {
    const scope = { artifactId, table: storedAs, schema };
    let bytes = 0;
    for (let after = 0, isLast = false; !isLast; ) {
      const page = { after, rowsMax: PAGE_ROWS, bytesMax: PAGE_BYTES };
      const rows = await reads.run(artifactId, (sql) => matchingRows(sql, scope, filter, page));
      const pageBytes = rows.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0);
      bytes += pageBytes;
      if (bytes > LIMITS.rowsByFilterBytesMax) {
        const message = `The rows that match have more than ${LIMITS.rowsByFilterBytesMax} bytes.`;
        throw new Failure('TOO_MANY_ROWS', { message, param: 'filter' });
      }
      yield rows;
      isLast = rows.length < PAGE_ROWS && pageBytes <= PAGE_BYTES;
      after = rows.at(-1)?.createdSeq ?? after;
    }
  };
}

/** Nothing else is needed of a row that goes. */
function rowIds(reads: TableReads, filter: Filter): ReadMatching {
  return async function* ({ artifactId }, { storedAs, schema }) {
    const scope = { artifactId, table: storedAs, schema };
    for (let after = 0, isLast = false; !isLast; ) {
      const page = { after, rowsMax: PAGE_ROWS };
      const rows = await reads.run(artifactId, (sql) => matchingIds(sql, scope, filter, page));
      yield rows;
      isLast = rows.length < PAGE_ROWS;
      after = rows.at(-1)?.createdSeq ?? after;
    }
  };
}

function objectOf(value: unknown, where: string): RowFields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RowFields;
  throw new Failure('INVALID_REQUEST', { message: `${where}: must be an object.`, param: where });
}
