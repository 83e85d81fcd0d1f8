/** Handlers of what reads many rows of a table, and of import. */

import Negotiator from 'negotiator';
import type { ActorRuntime } from '../../../actors/runtime.ts';
import { InsertRows } from '../../../actors/table-operations.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import type { Endpoints } from '../../../protocol/table.ts';
import type { Call, Handlers } from '../../edge/call.ts';
import { streamOf } from '../../edge/reply-stream.ts';
import type { Sql } from '../../storage/sql.ts';
import { aggregateRows, countRows, distinctValues } from './aggregate.ts';
import { csvColumns } from './csv.ts';
import { csvExport, csvPage, exportColumns, ndjsonExport } from './export.ts';
import { EVERYTHING, type Filter, parseFilter, parseFilterText } from './filter.ts';
import type { TableScope } from './filter-sql.ts';
import { TableImport } from './import.ts';
import { csvLines, ndjsonLines } from './import-lines.ts';
import { type RowsPage, type RowsQuery, readPage } from './page.ts';
import { mayWriteAs, perform } from './perform.ts';
import { type Projection, parseFields, project } from './projection.ts';
import type { TableReads } from './reads.ts';
import { rowJson } from './row-json.ts';
import { parseSort } from './sort.ts';

type QueryEndpoint =
  | 'tables.rows'
  | 'tables.query'
  | 'tables.count'
  | 'tables.distinct'
  | 'tables.aggregate'
  | 'tables.export'
  | 'tables.import';

interface Deps {
  readonly runtime: ActorRuntime;
  readonly reads: TableReads;
}

interface Place {
  readonly artifactId: ArtifactId;
  readonly table: string;
}

export function tableQueryHandlers({ runtime, reads }: Deps): Handlers<QueryEndpoint> {
  /** Committed rows alone are read, and all that the artifact had pending is committed first: a caller sees its own writes. */
  async function read<T>(place: Place, query: (sql: Sql, scope: TableScope) => Promise<T>): Promise<T> {
    const scope = await scopeOf(runtime, place);
    return reads.run(place.artifactId, (sql) => query(sql, scope));
  }

  async function page(place: Place, query: RowsQuery, withTotal: boolean): Promise<Found> {
    return read(place, async (sql, scope) => {
      const found = await readPage(sql, scope, query);
      return { scope, page: found, total: withTotal ? await countRows(sql, scope, query.filter) : undefined };
    });
  }

  return {
    'tables.rows': async (call) => {
      const { filter, sort, limit, cursor, count, fields } = call.query;
      const query = { filter: filter === undefined ? EVERYTHING : parseFilterText(filter), sort: parseSort(sort), limit, skip: 0, cursor };
      const projection = parseFields(fields, 'fields');
      return rowsReply(call, await page(call.params, query, count), projection);
    },
    'tables.query': async (call) => {
      const { filter, sort, limit, skip, cursor, select, count } = call.body;
      if (skip > 0 && cursor !== undefined) {
        throw new Failure('INVALID_REQUEST', { message: 'skip: is not for a query with a cursor.', param: 'skip' });
      }
      const query = { filter: filterOf(filter), sort: parseSort(sort), limit, skip, cursor };
      const projection = parseFields(select, 'select');
      const json = pageJson(await page(call.params, query, count), projection);
      return { reply: 'ok', body: UNREAD, json };
    },
    'tables.count': async ({ params, body }) => {
      const filter = filterOf(body.filter);
      const count = await read(params, (sql, scope) => countRows(sql, scope, filter));
      return { reply: 'ok', body: { success: true, data: { count } } };
    },
    'tables.distinct': async ({ params, body }) => {
      const filter = filterOf(body.filter);
      const values = await read(params, (sql, scope) => distinctValues(sql, scope, filter, body.field));
      return { reply: 'ok', body: { success: true, data: { values, count: values.length } } };
    },
    'tables.aggregate': async ({ params, body }) => {
      const filter = filterOf(body.filter);
      const groups = await read(params, (sql, scope) => aggregateRows(sql, scope, filter, body));
      return { reply: 'ok', body: { success: true, data: { groups } } };
    },
    'tables.export': async ({ params, accept }) => {
      const scope = await scopeOf(runtime, params);
      const run = <T>(one: (sql: Sql) => Promise<T>) => reads.run(params.artifactId, one);
      const asNdjson = formatOf(accept, ['text/csv', NDJSON]) === NDJSON;
      const name = `${params.table}.${asNdjson ? 'ndjson' : 'csv'}`;
      const headers = { 'Content-Disposition': `attachment; filename="${name}"` };
      if (asNdjson) return { reply: 'ndjson', body: '', stream: streamOf(ndjsonExport(run, scope)), headers };
      const columns = await exportColumns(run, scope);
      return { reply: 'csv', body: '', type: CSV_TYPE, stream: streamOf(csvExport(run, scope, columns)), headers };
    },
    'tables.import': async (call) => {
      const { artifactId, table } = call.params;
      const mayWrite = mayWriteAs(call.role);
      const schema = await runtime.ask(artifactId, ({ tables }) => {
        const there = tables.find(table);
        if (there !== undefined) mayWrite(there);
        return there?.schema ?? null;
      });
      const lines = call.mediaType === NDJSON ? ndjsonLines(call.body) : csvLines(call.body, schema);
      const insert = new TableImport(async (rows) =>
        perform(runtime, artifactId, new InsertRows(table, rows, { onConflict: undefined, merge: false, isMany: false, mayWrite })),
      );
      return { reply: 'ok', body: { success: true, data: await insert.run(lines) } };
    },
  };
}

const NDJSON = 'application/x-ndjson';
const CSV_TYPE = 'text/csv; charset=utf-8';

/** What a reader has to know of a table. Throws TABLE_NOT_FOUND. */
function scopeOf(runtime: ActorRuntime, { artifactId, table }: Place): TableScope | Promise<TableScope> {
  return runtime.ask(artifactId, ({ tables }) => {
    const { storedAs, schema } = tables.get(table);
    return { artifactId, table: storedAs, schema };
  });
}

function filterOf(json: unknown): Filter {
  return json === undefined ? EVERYTHING : parseFilter(json);
}

function formatOf(accept: string, types: readonly string[]): string | undefined {
  return new Negotiator({ headers: { accept: accept || '*/*' } }).mediaTypes([...types])[0];
}

interface Found {
  readonly scope: TableScope;
  readonly page: RowsPage;
  readonly total: number | undefined;
}

// Where `json` is there the edge does not read `body`.
const UNREAD = { success: true as const, data: { rows: [], hasMore: false, nextCursor: null } };

function rowsReply(call: Call<Endpoints['tables.rows']>, found: Found, projection: Projection | undefined) {
  const { page, scope } = found;
  const headers: Record<string, string> = page.nextCursor === null ? {} : { 'X-Next-Cursor': page.nextCursor };
  switch (formatOf(call.accept, ['application/json', 'text/csv', NDJSON])) {
    case 'text/csv': {
      const columns = projection ?? csvColumns(scope.schema, namesIn(page)).map((name) => [name]);
      return { reply: 'csv', body: '', stream: streamOf(csvPage(page, columns)), type: CSV_TYPE, headers } as const;
    }
    case NDJSON:
      return { reply: 'ndjson', body: rowTexts(page, projection).join('\n'), headers } as const;
    default:
      return { reply: 'ok', body: UNREAD, json: pageJson(found, projection) } as const;
  }
}

function pageJson({ page, total }: Found, projection: Projection | undefined): string {
  const { nextCursor } = page;
  const rest = `"hasMore":${nextCursor !== null},"nextCursor":${JSON.stringify(nextCursor)}${total === undefined ? '' : `,"total":${total}`}`;
  return `{"success":true,"data":{"rows":[${rowTexts(page, projection).join(',')}],${rest}}}`;
}

function rowTexts({ rows }: RowsPage, projection: Projection | undefined): string[] {
  const texts = rows.map(rowJson);
  return projection === undefined ? texts : texts.map((text) => JSON.stringify(project(JSON.parse(text), projection)));
}

function namesIn({ rows }: RowsPage): string[] {
  return [...new Set(rows.flatMap(({ data }) => Object.keys(JSON.parse(data))))];
}
