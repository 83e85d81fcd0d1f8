/** Handlers of endpoints that read many rows of a table, and of import. */
import Negotiator from 'negotiator';
import type { ActorRuntime } from '../../../../../actors/runtime/runtime.ts';
import { InsertRows } from '../../../../../actors/tables/table-operations.ts';
import type { ArtifactId } from '../../../../../protocol/core/ids.ts';
import type { Endpoints } from '../../../../../protocol/table.ts';
import type { Call, Handlers } from '../../../../edge/call.ts';
import { streamOf } from '../../../../edge/reply-stream.ts';
import type { PageReads } from '../../page-reads.ts';
import { csvColumns } from '../csv.ts';
import { TableImport } from '../import.ts';
import { csvLines, ndjsonLines } from '../import-lines.ts';
import { perform } from '../perform.ts';
import { type ReadHolders, readHolders, type TableReads } from '../reads.ts';
import { invalid, mayWriteAs } from '../rules.ts';
import { writtenRows } from '../written-rows.ts';
import { csvExport, csvPage, exportColumns, ndjsonExport } from './export.ts';
import { EVERYTHING, type Filter, parseFilter, parseFilterText } from './filter.ts';
import type { TableScope } from './filter-sql.ts';
import type { RowsPage, RowsQuery } from './page.ts';
import { pageJson, rowTexts } from './page-json.ts';
import { type Projection, parseFields } from './projection.ts';
import type { RowReads } from './row-reads.ts';
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
  readonly pageReads: PageReads;
}

interface Place {
  readonly artifactId: ArtifactId;
  readonly table: string;
}

export function tableQueryHandlers({ runtime, reads, pageReads }: Deps): Handlers<QueryEndpoint> {
  /** Reads committed rows only, after everything the artifact had pending is committed, so that a caller sees its own writes. */
  async function read<T>(call: ReadCall, query: (rows: RowReads, scope: TableScope) => Promise<T>): Promise<T> {
    const scope = await scopeOf(runtime, call.params);
    noteRead(pageReads, call, scope);
    return reads.run(holdersOf(call), (rows) => query(rows, scope));
  }

  async function page(call: ReadCall, query: RowsQuery, withTotal: boolean): Promise<Found> {
    // Each has the time of a read for itself.
    const found = await read(call, async (rows, scope) => ({ scope, page: await rows.page(scope, query) }));
    return { ...found, total: withTotal ? await read(call, (rows, scope) => rows.count(scope, query.filter)) : undefined };
  }

  return {
    'tables.rows': async (call) => {
      const { filter, sort, limit, cursor, count, fields } = call.query;
      const query = { filter: filter === undefined ? EVERYTHING : parseFilterText(filter), sort: parseSort(sort), limit, skip: 0, cursor };
      const projection = parseFields(fields, 'fields');
      return rowsReply(call, await page(call, query, count), projection);
    },
    'tables.query': async (call) => {
      const { filter, sort, limit, skip, cursor, select, count } = call.body;
      if (skip > 0 && cursor !== undefined) throw invalid('skip', 'cannot be combined with cursor');
      const query = { filter: filterOf(filter), sort: parseSort(sort), limit, skip, cursor };
      const projection = parseFields(select, 'select');
      const found = await page(call, query, count);
      return { reply: 'ok', body: UNREAD, json: await pageJson(found.page, found.total, projection, laneOf(call)) };
    },
    'tables.count': async (call) => {
      const { body } = call;
      const filter = filterOf(body.filter);
      const count = await read(call, (rows, scope) => rows.count(scope, filter));
      return { reply: 'ok', body: { success: true, data: { count } } };
    },
    'tables.distinct': async (call) => {
      const { body } = call;
      const filter = filterOf(body.filter);
      const values = await read(call, (rows, scope) => rows.distinct(scope, filter, body.field));
      return { reply: 'ok', body: { success: true, data: { values, count: values.length } } };
    },
    'tables.aggregate': async (call) => {
      const { body } = call;
      const filter = filterOf(body.filter);
      const groups = await read(call, (rows, scope) => rows.aggregate(scope, filter, body));
      return { reply: 'ok', body: { success: true, data: { groups } } };
    },
    'tables.export': (call) => exportTable({ runtime, reads, pageReads }, call),
    'tables.import': (call) => importTable({ runtime }, call),
  };
}

async function exportTable({ runtime, reads, pageReads }: Deps, call: Call<Endpoints['tables.export']>) {
  const { params, accept } = call;
  const holders = holdersOf(call);
  const scope = await scopeOf(runtime, params);
  noteRead(pageReads, call, scope);
  const run = <T>(one: (rows: RowReads) => Promise<T>) => reads.run(holders, one);
  const asNdjson = formatOf(accept, ['text/csv', NDJSON]) === NDJSON;
  const name = `${params.table}.${asNdjson ? 'ndjson' : 'csv'}`;
  const headers = { 'Content-Disposition': `attachment; filename="${name}"` };
  if (asNdjson) return { reply: 'ndjson', body: '', stream: streamOf(ndjsonExport(run, scope)), headers } as const;
  const columns = await exportColumns(run, scope);
  return { reply: 'csv', body: '', type: CSV_TYPE, stream: streamOf(csvExport(run, scope, columns)), headers } as const;
}

async function importTable({ runtime }: Pick<Deps, 'runtime'>, call: Call<Endpoints['tables.import']>) {
  const { artifactId, table } = call.params;
  const mayWrite = mayWriteAs(call.role);
  const schema = await runtime.ask(artifactId, ({ tables }) => {
    const there = tables.find(table);
    if (there !== undefined) mayWrite(there);
    return there?.schema ?? null;
  });
  const lines = call.mediaType === NDJSON ? ndjsonLines(call.body) : csvLines(call.body, schema);
  const insert = new TableImport(async (rows) => {
    const written = await writtenRows(rows, () => '');
    return perform(
      runtime,
      artifactId,
      new InsertRows(table, rows, { onConflict: undefined, merge: false, isMany: false, written, mayWrite }),
      call,
    );
  });
  return { reply: 'ok', body: { success: true, data: await insert.run(lines) } } as const;
}

const NDJSON = 'application/x-ndjson';
const CSV_TYPE = 'text/csv; charset=utf-8';

type ReadCall = Parameters<typeof readHolders>[1] & Pick<Call<Endpoints['tables.rows']>, 'params' | 'host' | 'fetchSite' | 'nowMs'>;

function noteRead(pageReads: PageReads, { params, host, fetchSite, nowMs }: ReadCall, { table }: TableScope): void {
  if (table !== NO_TABLE) pageReads.note({ artifactId: params.artifactId, name: params.table, host, fetchSite, nowMs });
}

function holdersOf(call: ReadCall): ReadHolders {
  return readHolders(call.params.artifactId, call);
}

/** No rows are stored under this name. Under the name of a missing table there may still be rows of a dropped one. */
const NO_TABLE = '';

/** What a query needs to know about a table. A table that does not exist yet reads as empty. */
function scopeOf(runtime: ActorRuntime, { artifactId, table }: Place): TableScope | Promise<TableScope> {
  return runtime.ask(artifactId, ({ tables }) => {
    const there = tables.find(table);
    return { artifactId, table: there?.storedAs ?? NO_TABLE, schema: there?.schema ?? null, rowCount: there?.rowCount ?? 0 };
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

// The edge sends `json` and does not read `body`.
const UNREAD = { success: true as const, data: { rows: [], hasMore: false, nextCursor: null } };

async function rowsReply(call: Call<Endpoints['tables.rows']>, found: Found, projection: Projection | undefined) {
  const { page, scope } = found;
  const headers: Record<string, string> = page.nextCursor === null ? {} : { 'X-Next-Cursor': page.nextCursor };
  switch (formatOf(call.accept, ['application/json', 'text/csv', NDJSON])) {
    case 'text/csv': {
      const columns = projection ?? csvColumns(scope.schema, namesIn(page)).map((name) => [name]);
      return { reply: 'csv', body: '', stream: streamOf(csvPage(page, columns)), type: CSV_TYPE, headers } as const;
    }
    case NDJSON:
      return { reply: 'ndjson', body: (await rowTexts(page.rows, projection, laneOf(call))).join('\n'), headers } as const;
    default:
      return { reply: 'ok', body: UNREAD, json: await pageJson(page, found.total, projection, laneOf(call)) } as const;
  }
}

function laneOf(call: ReadCall): string {
  return holdersOf(call).network ?? '';
}

function namesIn({ rows }: RowsPage): string[] {
  return [...new Set(rows.flatMap(({ data }) => Object.keys(JSON.parse(data.toString()))))];
}
