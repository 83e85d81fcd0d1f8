/** A run of rows in order, as SQL: a page is cut from one or, where an index gives the order, from two. */
import { foreignCursor } from './cursor.ts';
import { afterSql, type FieldOrder } from './sort.ts';
import type { Statement } from './statement.ts';

export interface Segment {
  /** Tables and conditions, from the word `from` on; the row is `r`. */
  readonly fromSql: string;
  /** Columns beside those of `r` that the cursor is made of. */
  readonly carried: readonly string[];
  readonly orders: readonly FieldOrder[];
}

/** Builds a segment in a statement of its own. */
export type SegmentOf = (statement: Statement) => Segment;

/** Rows after the one that the cursor stands for. Throws INVALID_REQUEST where no row has such values. */
export function afterCursor(orders: readonly FieldOrder[], after: readonly unknown[], statement: Statement): string {
  if (after.length !== orders.length) throw foreignCursor();
  const values = orders.flatMap(({ valuesOf }, at) => {
    const given = valuesOf(after[at]);
    if (given === undefined) throw foreignCursor();
    return given;
  });
  const keys = orders.flatMap((order) => order.keys);
  return afterSql(keys, values, statement);
}
