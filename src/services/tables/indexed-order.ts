/** The order of one indexed column, read from the index: the rows that have a value there, and apart from them those that have none. */
import type { TableColumn } from '../../../protocol/schemas/table.ts';
import { conjuncts, type Filter } from './filter.ts';
import { indexCondition, indexRows, rowsWhere, type TableScope } from './filter-sql.ts';
import { afterCursor, type SegmentOf } from './segment.ts';
import { type FieldOrder, INSERTION, type SortKey } from './sort.ts';
import type { Parameter, Statement } from './statement.ts';

type Cursor = readonly unknown[] | undefined;

/** A column has values of one type only: its schema sees to that. Neither order holds a parameter, so that a segment can be counted. */
export function indexedSegments(
  scope: TableScope,
  filter: Filter,
  column: TableColumn,
  descending: boolean,
  after: Cursor,
): readonly SegmentOf[] {
  const isAfterValue = after !== undefined && after[0] !== null;
  const isAfterNone = after !== undefined && after[0] === null;
  const withValue = valuesInOrder(scope, filter, column, descending, isAfterValue ? after : undefined);
  const withoutValue = rowsWithoutValue(scope, filter, column.name, isAfterNone ? after : undefined);
  if (column.required) return [withValue];
  if (descending) return isAfterNone ? [withoutValue] : [withValue, withoutValue];
  return isAfterValue ? [withValue] : [withoutValue, withValue];
}

const KINDS = { number: 'n', integer: 'n', string: 's', datetime: 's', boolean: 'b' } as const;

function valuesInOrder(scope: TableScope, filter: Filter, { name, type }: TableColumn, descending: boolean, after: Cursor): SegmentOf {
  if (type === 'json') throw new Error(`${name} is json and in no index`);
  const kind = KINDS[type];
  const order = entryOrder(kind, descending);
  return (statement) => {
    const where = [`${indexRows(scope, name, 'k', statement)} and k.kind = '${kind}'`];
    const others: Filter[] = [];
    for (const part of conjuncts(filter)) {
      const isOfColumn = 'path' in part && part.path.length === 1 && part.path[0] === name;
      const condition = isOfColumn ? indexCondition(part, 'k', statement) : undefined;
      if (condition === undefined) others.push(part);
      else where.push(condition);
    }
    where.push(rowsWhere(scope, { kind: 'and', of: others }, statement));
    if (after !== undefined) {
      where.push(afterCursor([order, INSERTION], after, statement));
      // Follows from that; it tells where in the index to begin.
      for (const key of order.keys) where.push(notBefore(key, order.valuesOf(after[0])?.[0] ?? '', statement));
    }
    const joined = 'r.artifact_id = k.artifact_id and r.table_name = k.table_name and r.row_id = k.row_id';
    return { fromSql: `from row_index k join table_row r on ${joined} where ${where.join(' and ')}`, orders: [order, INSERTION] };
  };
}

function notBefore({ sql, type, descending }: SortKey, value: Parameter, statement: Statement): string {
  return `${sql} ${descending ? '<=' : '>='} ${statement.param(value, type)}`;
}

function entryOrder(kind: 'n' | 's' | 'b', descending: boolean): FieldOrder {
  if (kind === 'n') {
    return {
      keys: [{ sql: 'k.num', type: 'double precision', descending }],
      cursorSql: 'to_jsonb(k.num)',
      valuesOf: (value) => (typeof value === 'number' ? [value] : undefined),
    };
  }
  const keys = [{ sql: 'k.txt', type: 'text', descending }] as const;
  if (kind === 's') return { keys, cursorSql: 'to_jsonb(k.txt)', valuesOf: (value) => (typeof value === 'string' ? [value] : undefined) };
  return { keys, cursorSql: 'to_jsonb(k.txt::boolean)', valuesOf: (value) => (typeof value === 'boolean' ? [String(value)] : undefined) };
}

/** As the value of a row that has none. */
const NONE: FieldOrder = { keys: [], cursorSql: 'null::jsonb', valuesOf: (value) => (value === null ? [] : undefined) };

function rowsWithoutValue(scope: TableScope, filter: Filter, column: string, after: Cursor): SegmentOf {
  const orders = [NONE, INSERTION];
  return (statement) => {
    const where = [rowsWhere(scope, filter, statement)];
    where.push(`not exists (select from row_index i where ${indexRows(scope, column, 'i', statement)} and i.row_id = r.row_id)`);
    if (after !== undefined) where.push(afterCursor(orders, after, statement));
    return { fromSql: `from table_row r where ${where.join(' and ')}`, orders };
  };
}
