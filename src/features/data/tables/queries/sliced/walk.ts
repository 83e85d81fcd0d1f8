/** Ways through the rows of a table, in slices: in insertion order, through a list of rows, or through the index of a column. */
import { isThereSql, type TableScope } from '../filter-sql.ts';
import type { SegmentOf } from '../segment.ts';
import type { Statement } from '../statement.ts';
import type { SliceBounds } from './slice-pace.ts';

/** Where a slice has ended, as a statement answers it. */
export interface SliceEnd {
  readonly endSeq: number | null;
  readonly endNum: number | null;
  readonly endTxt: string | null;
}

export interface Walk {
  /**
   * The rows of the next slice, at most `rows`: all columns of `table_row`, and `slice_before`, the bytes of the rows before it, which rises
   * in the order of the walk. Undefined at the end.
   */
  sliceSql(statement: Statement, bounds: SliceBounds): string | undefined;
  /** Continues behind the row at which the slice has ended; where it had none, that was the end. */
  advance(end: SliceEnd): void;
}

/**
 * The bytes of a row's data, from above: Postgres does not tell how large a compressed value is, and its compression reaches 90 to 1.
 * It does not compress rows of less than 2 KB.
 */
export const ROW_BYTES = 'case when pg_column_compression(r.data) is null then 1 else 90 end * pg_column_size(r.data)';

/** The bytes of the rows before this one, in an order of which none stands for that in which the rows are read. */
function bytesBefore(order = ''): string {
  return `coalesce(sum(${ROW_BYTES}) over (${order} rows between unbounded preceding and 1 preceding), 0) as slice_before`;
}

/** The rows of the table in `from table_row r`. */
export function tableSql(scope: TableScope, statement: Statement): string {
  const artifact = statement.param(scope.artifactId, 'text');
  const table = statement.param(scope.table, 'text');
  return `r.artifact_id = ${artifact} and r.table_name = ${table} and ${isThereSql(artifact, table)}`;
}

/**
 * The rows of these insertion orders, each looked up by itself: without statistics, which the embedded database rarely has, the planner
 * would read the whole table to find a few of its rows.
 */
export function listedSql(scope: TableScope, seqs: readonly number[], statement: Statement): string {
  const one = `select r.* from table_row r where ${tableSql(scope, statement)} and r.created_seq = l.seq limit 1`;
  return `(select r.* from unnest(${statement.seqs(seqs)}) l (seq) cross join lateral (${one}) r)`;
}

export class InsertionWalk implements Walk {
  readonly #scope: TableScope;
  readonly #descending: boolean;
  #after: number | undefined;
  #isDone = false;

  constructor(scope: TableScope, descending = false, after?: number) {
    this.#scope = scope;
    this.#descending = descending;
    this.#after = after;
  }

  sliceSql(statement: Statement, { rows }: SliceBounds): string | undefined {
    if (this.#isDone) return undefined;
    const direction = this.#descending ? ' desc' : '';
    // Without a bound the planner, which rarely has statistics, would sort the whole table for its first rows.
    const place = statement.param(this.#after ?? (this.#descending ? Number.MAX_SAFE_INTEGER : -1), 'bigint');
    const from = ` and r.created_seq ${this.#descending ? '<' : '>'} ${place}`;
    const limited = `select r.* from table_row r where ${tableSql(this.#scope, statement)}${from}
      order by r.created_seq${direction} limit ${statement.param(rows, 'bigint')}`;
    return `select r.*, ${bytesBefore(`order by r.created_seq${direction}`)} from (${limited}) r`;
  }

  advance({ endSeq }: SliceEnd): void {
    this.#isDone = endSeq === null;
    if (endSeq !== null) this.#after = endSeq;
  }
}

/** Rows that are known by their insertion order. */
export class ListWalk implements Walk {
  readonly #scope: TableScope;
  readonly #descending: boolean;
  #left: readonly number[];
  #asked: readonly number[] = [];

  constructor(scope: TableScope, seqs: readonly number[], descending = false) {
    this.#scope = scope;
    this.#descending = descending;
    this.#left = [...seqs].sort((a, b) => (descending ? b - a : a - b));
  }

  sliceSql(statement: Statement, { rows }: SliceBounds): string | undefined {
    if (this.#left.length === 0) return undefined;
    this.#asked = this.#left.slice(0, rows);
    const direction = this.#descending ? ' desc' : '';
    return `select r.*, ${bytesBefore(`order by r.created_seq${direction}`)}
      from ${listedSql(this.#scope, this.#asked, statement)} r`;
  }

  /** An empty slice is no sign of the end here: listed rows may be gone. */
  advance({ endSeq }: SliceEnd): void {
    const taken = endSeq === null ? this.#asked.length : this.#asked.indexOf(endSeq) + 1;
    this.#left = this.#left.slice(Math.max(1, taken));
  }
}

/** One segment of the index of a column. */
export class IndexWalk implements Walk {
  readonly #segmentFrom: (after: readonly unknown[] | undefined) => SegmentOf;
  readonly #kind: string;
  #after: readonly unknown[] | undefined;
  #isDone = false;

  /** `segmentFrom`: the segment behind the values of a cursor. `kind`: that of the index entries. */
  constructor(segmentFrom: (after: readonly unknown[] | undefined) => SegmentOf, kind: string, after: readonly unknown[] | undefined) {
    this.#segmentFrom = segmentFrom;
    this.#kind = kind;
    this.#after = after;
  }

  sliceSql(statement: Statement, { rows }: SliceBounds): string | undefined {
    if (this.#isDone) return undefined;
    const { fromSql, carried, orders } = this.#segmentFrom(this.#after)(statement);
    const order = orders.flatMap(({ keys }) => keys.map(({ sql, descending }) => `${sql}${descending ? ' desc' : ''}`)).join(', ');
    const limited = `select r.*, ${carried.join(', ')} ${fromSql} order by ${order} limit ${statement.param(rows, 'bigint')}`;
    return `select r.*, ${bytesBefore()} from (${limited}) r`;
  }

  advance({ endSeq, endNum, endTxt }: SliceEnd): void {
    this.#isDone = endSeq === null;
    this.#after = [this.#valueOf(endNum, endTxt), endSeq];
  }

  #valueOf(num: number | null, txt: string | null): unknown {
    if (this.#kind === 'n') return num;
    return this.#kind === 'b' ? txt === 'true' : txt;
  }
}
