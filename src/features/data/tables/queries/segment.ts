/** An ordered set of rows as SQL. A page is read from one segment, or from two if an index gives the order. */
import { foreignCursor } from './cursor.ts';
import { startOf, TextStart } from './long-texts.ts';
import { afterSql, type FieldOrder, type SortKey } from './sort.ts';
import type { Statement } from './statement.ts';

export interface Segment {
  /** The `from` and `where` clauses; the row is `r`. */
  readonly fromSql: string;
  /** Columns other than those of `table_row` that the cursor is made of. */
  readonly carried: readonly string[];
  readonly orders: readonly FieldOrder[];
}

/** Builds the segment for one statement. */
export type SegmentOf = (statement: Statement) => Segment;

/** The condition for rows after the one that the cursor stands for. Throws INVALID_REQUEST if no row can have such values. */
export function afterCursor(orders: readonly FieldOrder[], after: readonly unknown[], statement: Statement): string {
  const isStart = after.at(-1) instanceof TextStart;
  if (isStart ? after.length > orders.length : after.length !== orders.length) throw foreignCursor();
  const given = orders.slice(0, after.length);
  const values = given.flatMap(({ valuesOf }, at) => valuesOf(after[at]) ?? refuseCursor());
  const keys = given.flatMap((order) => order.keys);
  return isStart ? afterSql(keys.map(atStart), values, statement, true) : afterSql(keys, values, statement);
}

/** The last key compares the start of its string, the keys before it whole values. */
function atStart(key: SortKey, at: number, keys: readonly SortKey[]): SortKey {
  return at === keys.length - 1 ? { ...key, sql: startOf(key.sql) } : key;
}

function refuseCursor(): never {
  throw foreignCursor();
}
