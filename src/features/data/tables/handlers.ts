/** Handlers of single rows, inserts and schemas, each one turn of the artifact's actor, and of changes to all rows that match a filter. */

import type { ActorRuntime } from '../../../../actors/runtime/runtime.ts';
import type { StoredRow } from '../../../../actors/tables/changes.ts';
import { DeleteMatching, PatchMatching } from '../../../../actors/tables/held-table.ts';
import { DeleteRow, DropTable, InsertRows, PatchRow, ReadRow, rowEtag } from '../../../../actors/tables/table-operations.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import type { Sql } from '../../../storage/sql.ts';
import { matchingIdPages, matchingRowPages } from './matching-pages.ts';
import { perform, performInPieces } from './perform.ts';
import type { TablePurge } from './purge.ts';
import { parseFilter } from './queries/filter.ts';
import { readHolders, type TableReads } from './reads.ts';
import { rowJson } from './row-json.ts';
import { assertMayDrop, deletionFilter, invalid, mayWriteAs, NO_SCHEMA, objectOf, rowsOfBody } from './rules.ts';
import { ChangeSchema, schemaEtag } from './schema-change.ts';
import { writtenRows } from './written-rows.ts';

type RowEndpoint = 'tables.insert' | 'tables.getRow' | 'tables.patchRow' | 'tables.deleteRow';
type TableEndpoint = RowEndpoint | 'tables.list' | 'tables.getSchema' | 'tables.putSchema';

export function tableHandlers(deps: { readonly runtime: Pick<ActorRuntime, 'ask'>; readonly sql: Sql }): Handlers<TableEndpoint> {
  const { runtime, sql } = deps;
  return {
    ...rowHandlers(deps),
    'tables.list': ({ params, query }) =>
      runtime.ask(params.artifactId, (actor) => {
        const tables = actor.tables.list();
        return { reply: 'ok', body: { success: true, data: { tables, ...(query.count && { total: tables.length }) } } } as const;
      }),
    'tables.getSchema': ({ params }) =>
      runtime.ask(params.artifactId, ({ tables }) => {
        const data = tables.get(params.table).schema ?? NO_SCHEMA;
        return { reply: 'ok', body: { success: true, data: { ...data, columns: [...data.columns] } }, etag: schemaEtag(data) } as const;
      }),
    'tables.putSchema': async (call) => {
      const { artifactId, table } = call.params;
      const options = { ifMatch: call.ifMatch, ifNoneMatch: call.ifNoneMatch, mayWrite: mayWriteAs(call.role) };
      const isNew = await perform(runtime, artifactId, new ChangeSchema(sql, table, call.body, options), call);
      return { reply: isNew ? 'created' : 'ok', body: { success: true, data: call.body }, etag: schemaEtag(call.body) };
    },
  };
}

/** Of inserts and single rows. */
export function rowHandlers({ runtime }: { readonly runtime: Pick<ActorRuntime, 'ask'> }): Handlers<RowEndpoint> {
  return {
    'tables.insert': async (call) => {
      const { artifactId, table } = call.params;
      const { rows, isMany } = rowsOfBody(call.body);
      const { onConflict, merge } = call.query;
      if (merge && onConflict === undefined) throw invalid('merge', 'can only be set together with onConflict');
      const written = await writtenRows(rows, (index) => (isMany ? `rows.${index}` : ''));
      const insert = new InsertRows(table, rows, { onConflict, merge, isMany, written, mayWrite: mayWriteAs(call.role) });
      const { rows: stored, updated } = await perform(runtime, artifactId, insert, call);
      const updates = onConflict === undefined ? '' : `,"updated":${updated}`;
      const json = `{"success":true,"data":{"inserted":[${stored.map(rowJson).join(',')}],"count":${stored.length}${updates}}}`;
      return { reply: 'created', body: { success: true, data: { inserted: [], count: stored.length } }, json };
    },
    'tables.getRow': ({ params }) => {
      const row = perform(runtime, params.artifactId, new ReadRow(params.table, params.rowId));
      return row instanceof Promise ? row.then(rowReply) : rowReply(row);
    },
    'tables.patchRow': async (call) => {
      const { artifactId, table, rowId } = call.params;
      const changes = objectOf(call.body, '');
      const options = { ifMatch: call.ifMatch, ifNoneMatch: call.ifNoneMatch, mayWrite: mayWriteAs(call.role) };
      return rowReply(await perform(runtime, artifactId, new PatchRow(table, rowId, changes, options), call));
    },
    'tables.deleteRow': async (call) => {
      const { artifactId, table, rowId } = call.params;
      const options = { ifMatch: call.ifMatch, ifNoneMatch: call.ifNoneMatch, mayWrite: mayWriteAs(call.role) };
      await perform(runtime, artifactId, new DeleteRow(table, rowId, options), call);
      return { reply: 'ok', body: { success: true, data: { deleted: true } } };
    },
  };
}

function rowReply(row: StoredRow) {
  // The edge sends `json` and does not read `body`.
  const body = { success: true, data: { id: row.rowId, createdAt: '', updatedAt: '' } } as const;
  return { reply: 'ok', body, json: `{"success":true,"data":${rowJson(row)}}`, etag: rowEtag(row) } as const;
}

interface ByFilterDeps {
  readonly runtime: ActorRuntime;
  readonly reads: TableReads;
  readonly purge: Pick<TablePurge, 'wake'>;
}

export function byFilterHandlers({ runtime, reads, purge }: ByFilterDeps): Handlers<'tables.updateMany' | 'tables.deleteMany'> {
  return {
    'tables.updateMany': async (call) => {
      const { artifactId, table } = call.params;
      const changes = objectOf(call.body.changes, 'changes');
      const matching = matchingRowPages(reads, readHolders(artifactId, call), parseFilter(call.body.filter));
      const updated = await performInPieces(runtime, artifactId, new PatchMatching(table, matching, changes, mayWriteAs(call.role)), call);
      return { reply: 'ok', body: { success: true, data: { updated } } };
    },
    'tables.deleteMany': (call) => (call.query.confirm ? drop({ runtime, purge }, call) : deleteMatching({ runtime, reads }, call)),
  };
}

async function deleteMatching({ runtime, reads }: Pick<ByFilterDeps, 'runtime' | 'reads'>, call: Call<Endpoints['tables.deleteMany']>) {
  const { artifactId, table } = call.params;
  const matching = matchingIdPages(reads, readHolders(artifactId, call), parseFilter(deletionFilter(call.body.filter)));
  const deleted = await performInPieces(runtime, artifactId, new DeleteMatching(table, matching, mayWriteAs(call.role)), call);
  return { reply: 'ok', body: { success: true, data: { deleted } } } as const;
}

async function drop({ runtime, purge }: Pick<ByFilterDeps, 'runtime' | 'purge'>, call: Call<Endpoints['tables.deleteMany']>) {
  assertMayDrop(call.role);
  if (call.body.filter !== undefined) throw invalid('filter', 'must be left out with confirm=true, which drops the whole table');
  const { artifactId, table } = call.params;
  const deleted = await perform(runtime, artifactId, new DropTable(table, mayWriteAs(call.role)), call);
  purge.wake();
  return { reply: 'dropped', body: { success: true, data: { dropped: true, deleted } } } as const;
}
