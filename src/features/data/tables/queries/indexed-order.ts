/** Sorting by one indexed column: one segment reads the rows that have a value there from the index, another the rows that have none. */
import type { TableColumn } from '../../../../../protocol/data/tables.ts';
import { foreignCursor } from './cursor.ts';
import { conjuncts, type Filter } from './filter.ts';
import { indexCondition, indexRows, rowsWhere, type TableScope } from './filter-sql.ts';
import { cursorTextSql, startOf, TextStart } from './long-texts.ts';
import type { SegmentOf } from './segment.ts';
import type { FieldOrder, SortKey } from './sort.ts';
import type { Parameter, Statement } from './statement.ts';

type Cursor = readonly unknown[] | undefined;

/** The rows with a value in the index, or those without one. */
export interface IndexSegment {
  /** Of its index entries. */
  readonly kind: string;
  readonly orders: readonly FieldOrder[];
  /** Where the page begins in it. */
  readonly after: Cursor;
  /** The segment behind the values of a cursor. */
  readonly from: (after: Cursor) => SegmentOf;
}

/** The schema ensures that a column has values of one type. No order uses a parameter, so that a segment can also be counted. */
export function indexedSegments(
  scope: TableScope,
  filter: Filter,
  column: TableColumn,
  descending: boolean,
  after: Cursor,
): readonly IndexSegment[] {
  const isAfterNone = after !== undefined && after[0] === null;
  const isAfterValue = after !== undefined && !isAfterNone;
  const ofColumn = (order: FieldOrder, kind: string, start: Cursor): IndexSegment => {
    const orders = [order, insertion(descending)];
    return { kind, orders, after: start, from: (place) => entriesInOrder(scope, filter, { name: column.name, kind, orders }, place) };
  };
  const kind = kindOf(column);
  const withValue = ofColumn(valueOrder(kind, descending), kind, isAfterValue ? after : undefined);
  const withoutValue = ofColumn(NO_VALUE, NONE, isAfterNone ? after : undefined);
  if (column.required) return [withValue];
  if (descending) return isAfterNone ? [withoutValue] : [withValue, withoutValue];
  return isAfterValue ? [withValue] : [withoutValue, withValue];
}

/** The kind of the index entry of a row without a value. */
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
    // These entries are adjacent in the index of strings, in insertion order.
    if (kind === NONE) where.push('k.txt is null', 'k.created_seq > -1');
    // Holds for all of them. Without a bound the planner, where it has no statistics, would sort all entries for the first ones.
    else where.push(kind === 'n' ? "k.num >= '-infinity'" : "k.txt >= ''");
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

/** One row comparison, from which an index scan can start: all keys are ascending, or all are descending. */
function afterEntry(orders: readonly FieldOrder[], after: readonly unknown[], statement: Statement): string {
  const [start] = after;
  if (start instanceof TextStart) return startEntry(orders, start, statement);
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

/** The entries from the first one with the same start as a string that is no longer known in full. */
function startEntry([order]: readonly FieldOrder[], start: TextStart, statement: Statement): string {
  const [key] = order?.keys ?? [];
  if (key?.type !== 'text') throw foreignCursor();
  return `${startOf(key.sql)} ${key.descending ? '<=' : '>='} ${statement.param(start.text, 'text')}`;
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
      throw new Error(`column ${name} is json, which has no index`);
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
        cursorSql: cursorTextSql('r.entry_txt'),
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

/** The order of rows without a value, which are all equal. */
const NO_VALUE: FieldOrder = { inputs: [], keys: [], cursorSql: 'null::jsonb', valuesOf: (value) => (value === null ? [] : undefined) };

function insertion(descending: boolean): FieldOrder {
  const valuesOf = (value: unknown) => (Number.isSafeInteger(value) ? [value as number] : undefined);
  return { inputs: [], keys: [{ sql: 'k.created_seq', type: 'bigint', descending }], cursorSql: 'to_jsonb(r.created_seq)', valuesOf };
}
