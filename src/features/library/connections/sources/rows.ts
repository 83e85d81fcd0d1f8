/** Rows in what a host has answered: CSV, lines of JSON, or JSON in which a pointer leads to the rows. */
import type { RowFields } from '../../../../../actors/tables/row-fields.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { DATASET_TYPES } from '../../../../../protocol/data/datasets.ts';
import { loopTurns } from '../../../../platform/loop-turns.ts';
import { rowsIn } from '../../../data/datasets/sources.ts';
import { SourceFailure } from './target.ts';

export type Row = RowFields;
/** What a cursor column can hold. */
export type Scalar = string | number;

export type SourceFormat = keyof typeof DATASET_TYPES;

const PIECE_BYTES = 64 * 1024;
const OPEN_ARRAY = 0x5b;
/** Between two turns of the event loop, in which a deadline can fire. */
const ROWS_PER_TURN = 200;

/** Throws SourceFailure, and INVALID_REQUEST or INVALID_JSON for a line that is no row. `lane`: whose turn it is to parse. */
export async function* rowsOfBytes(bytes: Buffer, format: SourceFormat, pointer: string | undefined, lane: string): AsyncGenerator<Row> {
  if (format === 'json' && !isPlainArray(bytes, pointer)) {
    let count = 0;
    for (const row of rowsOfJson(bytes, pointer)) {
      yield row;
      count += 1;
      if (count % ROWS_PER_TURN === 0) await loopTurns.next(lane);
    }
    return;
  }
  for await (const { fields } of rowsIn(pieces(bytes), DATASET_TYPES[format], lane).rows) yield fields;
}

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** An array of objects at the top, which is read piece by piece. */
function isPlainArray(bytes: Buffer, pointer: string | undefined): boolean {
  if (pointer !== undefined && pointer !== '') return false;
  const first = nextByte(bytes, 0);
  return bytes[first] === OPEN_ARRAY && bytes[nextByte(bytes, first + 1)] !== OPEN_ARRAY;
}

function nextByte(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] ?? 0) <= 0x20) at += 1;
  return at;
}

function* rowsOfJson(bytes: Buffer, pointer: string | undefined): Generator<Row> {
  if (bytes.length > LIMITS.connectionJsonBytesMax) {
    throw new SourceFailure(
      `JSON that is not an array of objects may have ${LIMITS.connectionJsonBytesMax} bytes, and the answer has ${bytes.length}.`,
    );
  }
  const found = pointed(parsed(bytes), pointer ?? '');
  const rows = Array.isArray(found) ? found : tableOf(found);
  if (rows === undefined) {
    throw new SourceFailure(
      `There is no array at ${JSON.stringify(pointer ?? '')}; name where the rows are, such as /values or /data/items.`,
    );
  }
  yield* Array.isArray(rows[0]) ? rowsUnderHeader(rows) : rows.map(objectRow);
}

/** `{values: [[…]]}`, as spreadsheets answer. */
function tableOf(found: unknown): unknown[] | undefined {
  const { values } = (found ?? {}) as { readonly values?: unknown };
  return Array.isArray(values) && Array.isArray(values[0]) ? values : undefined;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new SourceFailure('The answer is not JSON.', { cause: error });
  }
}

/** RFC 6901. Undefined where it leads nowhere. */
function pointed(value: unknown, pointer: string): unknown {
  const steps = pointer.split('/').slice(1);
  return steps.reduce<unknown>((at, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Record<string, unknown>)[name] : undefined;
  }, value);
}

function objectRow(value: unknown, index: number): Row {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Row;
  throw new SourceFailure(`Row ${index + 1} is not an object.`);
}

/** The first row names the columns. A cell that a row does not have is left out. */
function* rowsUnderHeader([header = [], ...rows]: readonly unknown[]): Generator<Row> {
  const names = columnNames(header as readonly unknown[]);
  for (const [index, cells] of rows.entries()) {
    if (!Array.isArray(cells)) throw new SourceFailure(`Row ${index + 2} is not an array as the first one is.`);
    const fields: [string, unknown][] = [];
    // Not to the end of the names: a long header over many empty rows would be their product in steps.
    for (const [column, cell] of cells.slice(0, names.length).entries()) {
      const name = names[column];
      if (name !== undefined && cell !== '') fields.push([name, cell]);
    }
    yield Object.fromEntries(fields);
  }
}

/** A column without a name gets its number. */
function columnNames(header: readonly unknown[]): string[] {
  return distinctNames(
    header.map((cell, index) => {
      const given = typeof cell === 'string' || typeof cell === 'number' ? String(cell).trim() : '';
      return given === '' ? `column_${index + 1}` : given;
    }),
  );
}

/** Each name once: a column whose name is taken gets its number, too. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((given, index) => {
    let name = given;
    while (taken.has(name)) name = `${name}_${index + 1}`;
    taken.add(name);
    return name;
  });
}

const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d|$)/;

/** Whether `value` is beyond `last`: numbers by size, times by when they are, other texts by their characters. Throws SourceFailure. */
export function isBeyond(value: Scalar, last: Scalar, column: string): boolean {
  if (typeof value !== typeof last) throw new SourceFailure(`The column "${column}" has texts and numbers, so its order cannot be told.`);
  if (typeof value === 'string' && typeof last === 'string' && TIME.test(value) && TIME.test(last)) {
    const [a, b] = [Date.parse(value), Date.parse(last)];
    if (a !== b && !Number.isNaN(a) && !Number.isNaN(b)) return a > b;
  }
  return value > last;
}

/** The value of a row in the cursor column; null where it has none. Throws SourceFailure for what has no order. */
export function cursorValue(row: Row, column: string): Scalar | null {
  const value = row[column] ?? null;
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw new SourceFailure(`The column "${column}" has a value that is neither a text nor a number.`);
}
