/** Runs a read as a sequence of short statements, each over a slice of the table, between which other statements get their turn. */
import type { Sql } from '../../../../../storage/sql.ts';
import type { ReadWeight } from '../read-weight.ts';
import { Statement } from '../statement.ts';
import type { SlicePace } from './slice-pace.ts';
import type { SliceEnd, Walk } from './walk.ts';

/** What a statement does with its slice. */
export interface SliceWork {
  readonly weight: ReadWeight;
  /** The most rows that a slice is worth to have; the pace may make it smaller. */
  readonly rowsMax?: number;
  /** Rows of earlier slices that the select reads again. */
  readonly keptRows?: number;
  /** The condition for the rows that are wanted, over `r`. */
  readonly conditionSql: (statement: Statement) => string;
  /** Further columns of the wanted rows, and a condition that uses them. */
  readonly inputs?: (statement: Statement) => { readonly columns: readonly string[]; readonly conditionSql: string };
  /** Whether the number of wanted rows is needed; counting them costs a pass of its own. */
  readonly countsHits?: boolean;
  /** A select over `hits`, the wanted rows of the slice; it may order them by `slice_before`. */
  readonly selectSql?: (statement: Statement) => string;
  /** A column of the select that is read as bytes. */
  readonly bytesColumn?: string;
  /** Whether the slice's rows have `entry_num` and `entry_txt`. */
  readonly hasEntries?: boolean;
}

export interface Slice<R> {
  /** How many rows matched; 0 unless they are counted. */
  readonly hits: number;
  readonly rows: readonly R[];
}

interface Ends extends SliceEnd {
  readonly hits: number;
  /** Absent or null where nothing was selected. */
  readonly isRow?: boolean | null;
  readonly ms: number;
}

export class Slices {
  readonly sql: Sql;
  readonly #pace: SlicePace;

  constructor(sql: Sql, pace: SlicePace) {
    this.sql = sql;
    this.#pace = pace;
  }

  /** The bytes that rows which are read again with every slice may have. */
  keptBytes(weight: ReadWeight): number {
    return this.#pace.keptBytes(weight);
  }

  /** The next slice of the walk; undefined at its end. Throws QUERY_TOO_EXPENSIVE. */
  async next<R extends object>(walk: Walk, work: SliceWork): Promise<Slice<R> | undefined> {
    const statement = new Statement();
    const paced = this.#pace.bounds(work.weight);
    const bounds = { rows: Math.min(paced.rows, work.rowsMax ?? paced.rows), bytes: paced.bytes };
    const sliceSql = walk.sliceSql(statement, bounds);
    if (sliceSql === undefined) return undefined;
    const last = (column: string) => `(select ${column} from taken order by slice_before desc limit 1)`;
    const entry = (column: string) => (work.hasEntries ? last(column) : 'null');
    const { columns = [], conditionSql = 'true' } = work.inputs?.(statement) ?? {};
    const found = `select ${['r.*', ...columns].join(', ')} from taken r where ${work.conditionSql(statement)} offset 0`;
    const selectSql = work.selectSql?.(statement);
    const text = `
      with taken as materialized (select r.* from (${sliceSql}) r where r.slice_before < ${statement.param(bounds.bytes, 'bigint')}),
      hits as (select r.* from (${found}) r where ${conditionSql})
      select e.*, ${selectSql === undefined ? '' : 'b.*, '}${ELAPSED_MS} as ms
      from (
        select ${work.countsHits ? '(select count(*) from hits)::integer' : '0'} as hits,
          ${last('created_seq')} as "endSeq", ${entry('entry_num')} as "endNum", ${entry('entry_txt')} as "endTxt"
      ) e
      ${selectSql === undefined ? '' : `left join (select b.*, true as "isRow" from (${selectSql}) b) b on true`}`;
    const rows = await run<Ends & R>(statement, this.sql, text, work.bytesColumn);
    const [first] = rows;
    if (first === undefined) throw new Error('a slice answered no row');
    this.#pace.took(
      rows.reduce((most, { ms }) => Math.max(most, ms), 0),
      work.keptRows,
    );
    walk.advance(first);
    return { hits: first.hits, rows: first.isRow ? rows.map(withoutEnds) : [] };
  }

  /** One statement whose work is bounded by itself. `text` may select `ms` as `ELAPSED_MS`. Throws QUERY_TOO_EXPENSIVE. */
  async once<R extends object>(statement: Statement, text: string, bytesColumn?: string & keyof R): Promise<readonly R[]> {
    const timed = `select o.*, ${ELAPSED_MS} as ms from (${text}) o`;
    const rows = await run<R & { readonly ms: number }>(statement, this.sql, timed, bytesColumn);
    this.#pace.took(rows.reduce((most, { ms }) => Math.max(most, ms), 0));
    return rows;
  }
}

function run<R extends object>(statement: Statement, sql: Sql, text: string, bytesColumn: string | undefined): Promise<readonly R[]> {
  return bytesColumn === undefined ? statement.run<R>(sql, text) : statement.runWithBytes<R>(sql, text, bytesColumn as string & keyof R);
}

function withoutEnds<R extends object>(row: Ends & R): R {
  const { hits: _hits, isRow: _isRow, ms: _ms, endSeq: _seq, endNum: _num, endTxt: _txt, ...own } = row;
  return own as unknown as R;
}

/** The time that the statement has taken so far: the client's own clock would count what it waited for others. */
const ELAPSED_MS = 'extract(epoch from clock_timestamp() - statement_timestamp())::double precision * 1000';
