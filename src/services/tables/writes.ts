/** Handlers of what writes tables, and of single rows: each is one turn of the artifact's actor. */

import type { StoredRow } from '../../../actors/ports.ts';
import type { RowFields } from '../../../actors/row-fields.ts';
import type { ActorRuntime } from '../../../actors/runtime.ts';
import { DeleteRow, InsertRows, PatchRow, ReadRow, rowEtag } from '../../../actors/table-operations.ts';
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Handlers } from '../../edge/call.ts';
import type { Sql } from '../../storage/sql.ts';
import { mayWriteAs, perform } from './perform.ts';
import { rowJson } from './row-json.ts';
import { ChangeSchema } from './schema-change.ts';

type TableEndpoint =
  | 'tables.list'
  | 'tables.insert'
  | 'tables.getRow'
  | 'tables.patchRow'
  | 'tables.deleteRow'
  | 'tables.getSchema'
  | 'tables.putSchema';

export function tableHandlers(deps: { readonly runtime: Pick<ActorRuntime, 'ask'>; readonly sql: Sql }): Handlers<TableEndpoint> {
  const { runtime, sql } = deps;
  return {
    'tables.list': ({ params }) =>
      runtime.ask(params.artifactId, ({ tables }) => ({ reply: 'ok', body: { success: true, data: { tables: tables.list() } } }) as const),
    'tables.insert': async (call) => {
      const { artifactId, table } = call.params;
      const { rows, isMany } = givenRows(call.body);
      const { onConflict, merge } = call.query;
      if (merge && onConflict === undefined) throw invalid('merge', 'is for onConflict only');
      const insert = new InsertRows(table, rows, { onConflict, merge, isMany, mayWrite: mayWriteAs(call.role) });
      const { rows: written, updated } = await perform(runtime, artifactId, insert);
      const updates = onConflict === undefined ? '' : `,"updated":${updated}`;
      const json = `{"success":true,"data":{"inserted":[${written.map(rowJson).join(',')}],"count":${written.length}${updates}}}`;
      return { reply: 'created', body: { success: true, data: { inserted: [], count: written.length } }, json };
    },
    'tables.getRow': ({ params }) => {
      const row = perform(runtime, params.artifactId, new ReadRow(params.table, params.rowId));
      return row instanceof Promise ? row.then(rowReply) : rowReply(row);
    },
    'tables.patchRow': async (call) => {
      const { artifactId, table, rowId } = call.params;
      const changes = objectOf(call.body, '');
      const options = { ifMatch: call.ifMatch, ifNoneMatch: call.ifNoneMatch, mayWrite: mayWriteAs(call.role) };
      return rowReply(await perform(runtime, artifactId, new PatchRow(table, rowId, changes, options)));
    },
    'tables.deleteRow': async (call) => {
      const { artifactId, table, rowId } = call.params;
      const options = { ifMatch: call.ifMatch, ifNoneMatch: call.ifNoneMatch, mayWrite: mayWriteAs(call.role) };
      await perform(runtime, artifactId, new DeleteRow(table, rowId, options));
      return { reply: 'ok', body: { success: true, data: { deleted: true } } };
    },
    'tables.getSchema': ({ params }) =>
      runtime.ask(params.artifactId, ({ tables }) => {
        const data = tables.get(params.table).schema ?? { columns: [], write: 'any' as const };
        return { reply: 'ok', body: { success: true, data: { ...data, columns: [...data.columns] } } } as const;
      }),
    'tables.putSchema': async (call) => {
      const { artifactId, table } = call.params;
      const change = new ChangeSchema(sql, table, call.body, mayWriteAs(call.role));
      const isNew = await perform(runtime, artifactId, change);
      return { reply: isNew ? 'created' : 'ok', body: { success: true, data: call.body } };
    },
  };
}

function rowReply(row: StoredRow) {
  // Where `json` is there the edge does not read `body`.
  const body = { success: true, data: { id: row.rowId, createdAt: '', updatedAt: '' } } as const;
  return { reply: 'ok', body, json: `{"success":true,"data":${rowJson(row)}}`, etag: rowEtag(row) } as const;
}

/** One row, an array, or `{rows: [...]}` with nothing beside it. Throws INVALID_REQUEST. */
function givenRows(body: unknown): { readonly rows: readonly RowFields[]; readonly isMany: boolean } {
  const list = Array.isArray(body) ? body : listOf(objectOf(body, ''));
  if (list === undefined) return { rows: [body as RowFields], isMany: false };
  if (list.length === 0) throw invalid('rows', 'must have at least one row');
  if (list.length > LIMITS.insertRowsMax) throw invalid('rows', `must have at most ${LIMITS.insertRowsMax} rows`);
  return { rows: list.map((row, index) => objectOf(row, `rows.${index}`)), isMany: true };
}

function listOf(body: RowFields): readonly unknown[] | undefined {
  const names = Object.keys(body);
  return names.length === 1 && names[0] === 'rows' && Array.isArray(body.rows) ? body.rows : undefined;
}

function objectOf(value: unknown, where: string): RowFields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RowFields;
  throw invalid(where, 'must be an object');
}

function invalid(param: string, problem: string): Failure {
  return new Failure('INVALID_REQUEST', {
    message: `${param === '' ? 'The body' : param}: ${problem}.`,
    ...(param === '' ? {} : { param }),
  });
}
