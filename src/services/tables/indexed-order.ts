/** The order of one indexed column, read from the index: the rows that have a value there, and apart from them those that have none. */
import type { TableColumn } from '../../../protocol/schemas/table.ts';
import { foreignCursor } from './cursor.ts';
import { conjuncts, type Filter } from './filter.ts';
import { indexCondition, indexRows, rowsWhere, type TableScope } from './filter-sql.ts';
import type { SegmentOf } from './segment.ts';
import type { FieldOrder, SortKey } from './sort.ts';
import type { Parameter, Statement } from './statement.ts';

type Cursor = readonly unknown[] | undefined;

/** A column has values of one type only: its schema sees to that. No order holds a parameter, so that a segment can be counted. */
export function indexedSegments(
  scope: TableScope,
  filter: Filter,
  column: TableColumn,
  descending: boolean,
  after: Cursor,
): readonly SegmentOf[] {
  const isAfterNone = after !== undefined && after[0] === null;
  const isAfterValue = after !== undefined && !isAfterNone;
  const ofColumn = (order: FieldOrder, kind: string, from: Cursor) =>
    entriesInOrder(scope, filter, { name: column.name, kind, orders: [order, insertion(descending)] }, from);
  const kind = kindOf(column);
  const withValue = ofColumn(valueOrder(kind, descending), kind, isAfterValue ? after : undefined);
  const withoutValue = ofColumn(NO_VALUE, NONE, isAfterNone ? after : undefined);
  if (column.required) return [withValue];
  if (descending) return isAfterNone ? [withoutValue] : [withValue, withoutValue];
  return isAfterValue ? [withValue] : [withoutValue, withValue];
}

/** The kind of an entry of a row that has no value. */
const NONE = 'z';

interface Entries {
  readonly name: string;
  readonly kind: string;
  readonly orders: readonly FieldOrder[];
}

const CARRIED = ['k.num as entry_num', 'k.txt as entry_txt'];

function entriesInOrder(scope: TableScope, filter: Filter, { name, kind, orders }: Entries, after: Cursor): SegmentOf {
  return (statement) => {
    const where = [`${indexRows(scope, name, 'k', statement)} and k.kind = '${kind}'`];
    // In the index of texts they stand together, in the order of their insertion.
    if (kind === NONE) where.push('k.txt is null');
    const others: Filter[] = [];
    for (const part of conjuncts(filter)) {
      const isOfColumn = 'path' in part && part.path.length === 1 && part.path[0] === name;
      const condition = isOfColumn ? indexCondition(part, 'k', statement) : undefined;
      if (condition === undefined) others.push(part);
      else where.push(condition);
    }
    where.push(rowsWhere(scope, { kind: 'and', of: others }, statement));
    if (after !== undefined) where.push(afterEntry(orders, after, statement));
    const joined = 'r.artifact_id = k.artifact_id and r.table_name = k.table_name and r.row_id = k.row_id';
    return { fromSql: `from row_index k join table_row r on ${joined} where ${where.join(' and ')}`, carried: CARRIED, orders };
  };
}

/** As one comparison of rows, which the index can begin at: all of its columns rise, or all of them fall. */
function afterEntry(orders: readonly FieldOrder[], after: readonly unknown[], statement: Statement): string {
  const keys: SortKey[] = [];
  const values: Parameter[] = [];
  for (const [at, order] of orders.entries()) {
    const given = order.valuesOf(after[at]);
    if (given === undefined || after.length !== orders.length) throw foreignCursor();
    keys.push(...order.keys);
    values.push(...given);
  }
  const places = keys.map(({ type }, at) => statement.param(values[at] ?? 0, type));
  return `(${keys.map(({ sql }) => sql).join(', ')}) ${keys[0]?.descending ? '<' : '>'} (${places.join(', ')})`;
}

function kindOf({ name, type }: TableColumn): 'n' | 's' | 'b' {
  switch (type) {
    case 'number':
    case 'integer':
      return 'n';
    case 'string':
    case 'datetime':
      return 's';
    case 'boolean':
      return 'b';
    case 'json':
      throw new Error(`${name} is json and in no index`);
    default:
      return type satisfies never;
  }
}

function valueOrder(kind: 'n' | 's' | 'b', descending: boolean): FieldOrder {
  const text: SortKey = { sql: 'k.txt', type: 'text', descending };
  switch (kind) {
    case 'n': {
      const key: SortKey = { sql: 'k.num', type: 'double precision', descending };
      return {
        inputs: [],
        keys: [key],
        cursorSql: 'to_jsonb(r.entry_num)',
        valuesOf: (value) => (typeof value === 'number' ? [value] : undefined),
      };
    }
    case 's':
      return {
        inputs: [],
        keys: [text],
        cursorSql: 'to_jsonb(r.entry_txt)',
        valuesOf: (value) => (typeof value === 'string' ? [value] : undefined),
      };
    case 'b': {
      const valuesOf = (value: unknown) => (typeof value === 'boolean' ? [String(value)] : undefined);
      return { inputs: [], keys: [text], cursorSql: 'to_jsonb(r.entry_txt::boolean)', valuesOf };
    }
    default:
      return kind satisfies never;
  }
}

/** Of rows without a value, which are all alike. */
const NO_VALUE: FieldOrder = { inputs: [], keys: [], cursorSql: 'null::jsonb', valuesOf: (value) => (value === null ? [] : undefined) };

function insertion(descending: boolean): FieldOrder {
  const valuesOf = (value: unknown) => (Number.isSafeInteger(value) ? [value as number] : undefined);
  return { inputs: [], keys: [{ sql: 'k.created_seq', type: 'bigint', descending }], cursorSql: 'to_jsonb(r.created_seq)', valuesOf };
}
