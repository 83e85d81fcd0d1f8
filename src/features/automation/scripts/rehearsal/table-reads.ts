/** Answers the reads of many rows from the tables that a rehearsal holds. */
import type { StoredRow } from '../../../../../actors/tables/changes.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import type { Metric } from '../../../../../protocol/data/table-queries.ts';
import { encodeCursor, foreignCursor, queryMark } from '../../../data/tables/queries/cursor.ts';
import { EVERYTHING, type Filter, parseFilter } from '../../../data/tables/queries/filter.ts';
import type { Row } from '../../../data/tables/queries/plain-rows.ts';
import { parseFields, project } from '../../../data/tables/queries/projection.ts';
import { parseSort } from '../../../data/tables/queries/sort.ts';
import { rowJson } from '../../../data/tables/row-json.ts';
import type { DataRequest } from './data-requests.ts';
import type { PrivateArtifact } from './private-artifact.ts';
import { countOf, groupsOf, type Place, type PlacedRow, pageOf } from './row-reads.ts';

/** The body of a query, as the endpoint table has read it. */
interface Query {
  readonly filter?: unknown;
  readonly sort?: Parameters<typeof parseSort>[0];
  readonly limit: number;
  readonly skip: number;
  readonly cursor?: string;
  readonly select?: readonly string[];
  readonly count: boolean;
}

export class TableReads {
  readonly #artifact: PrivateArtifact;
  /** Rows as callers see them; a row that changes is another object. */
  readonly #placed = new WeakMap<StoredRow, PlacedRow>();
  /** Where the pages ended, by their cursors. A script makes at most as many as it makes calls. */
  readonly #cursors = new Map<string, Place>();

  constructor(artifact: PrivateArtifact) {
    this.#artifact = artifact;
  }

  read({ id, body }: DataRequest, table: string): unknown {
    const rows = this.#rowsOf(table);
    const filter = body.filter === undefined ? EVERYTHING : parseFilter(body.filter);
    if (id === 'tables.count') return { count: countOf(rows, filter) };
    if (id === 'tables.query') return this.#page(rows, filter, body as unknown as Query, table);
    return { groups: groupsOf(rows, filter, body as unknown as { groupBy: readonly string[]; metrics: readonly Metric[] }) };
  }

  #page(rows: readonly PlacedRow[], filter: Filter, query: Query, table: string): unknown {
    const { limit, skip, cursor, select, count } = query;
    if (skip > 0 && cursor !== undefined) {
      throw new Failure('INVALID_REQUEST', { message: 'skip: cannot be combined with cursor.', param: 'skip' });
    }
    const sort = parseSort(query.sort);
    const projection = parseFields(select, 'select');
    const mark = queryMark([table, filter, sort]);
    const after = cursor === undefined ? undefined : this.#cursors.get(`${mark} ${cursor}`);
    if (cursor !== undefined && after === undefined) throw foreignCursor();
    const page = pageOf(rows, { filter, sort, limit, skip, after });
    return {
      rows: page.rows.map(({ row }) => (projection === undefined ? row : project(row, projection))),
      hasMore: page.next !== null,
      nextCursor: page.next === null ? null : this.#cursorTo(mark, page.next),
      ...(count && { total: countOf(rows, filter) }),
    };
  }

  #cursorTo(mark: string, place: Place): string {
    const cursor = encodeCursor(mark, [this.#cursors.size]);
    this.#cursors.set(`${mark} ${cursor}`, place);
    return cursor;
  }

  #rowsOf(name: string): PlacedRow[] {
    const table = this.#artifact.tables.find(name);
    if (table === undefined) return [];
    return this.#artifact.rowsOf(table.storedAs).map((row) => {
      const there = this.#placed.get(row);
      if (there !== undefined) return there;
      const placed = { row: JSON.parse(rowJson(row)) as Row, createdSeq: row.createdSeq, bytes: row.data.length };
      this.#placed.set(row, placed);
      return placed;
    });
  }
}
