/** The rows of a CSV or NDJSON file as they come in, each with the line that it ends on. */
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import type { RowFields } from '../../../actors/row-fields.ts';
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { TableSchema } from '../../../protocol/schemas/table.ts';
import { parseJsonDocument } from '../../edge/json-document.ts';
import { cellValue, unguarded } from './csv.ts';

export type ImportLine = { readonly line: number } & (
  | { readonly fields: RowFields }
  | { readonly error: string; readonly isLast: boolean }
);

// Quotes doubled and everything escaped, a row as large as a row may be still fits.
const LINE_BYTES_MAX = LIMITS.rowBytesMax * 6;

interface Cell {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** Throws INVALID_REQUEST where the first line does not name the fields. A line that is no CSV ends it. */
export async function* csvLines(body: AsyncIterable<Uint8Array>, schema: TableSchema | null): AsyncGenerator<ImportLine> {
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LINE_BYTES_MAX,
    cast: (text, { quoting }): Cell => ({ text, isQuoted: quoting }),
  });
  const source = Readable.from(copies(body), { objectMode: true, highWaterMark: 1 });
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  let names: readonly string[] | undefined;
  let types: readonly (TableSchema['columns'][number]['type'] | undefined)[] = [];
  let lastLine = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: Cell[]; info: { lines: number } }>) {
      lastLine = info.lines;
      if (names === undefined) {
        names = headerNames(record);
        types = names.map((name) => schema?.columns.find((column) => column.name === name)?.type);
        continue;
      }
      if (record.length !== names.length) {
        yield { line: lastLine, error: `has ${record.length} fields where the first line names ${names.length}`, isLast: false };
        continue;
      }
      yield { line: lastLine, fields: rowOf(names, types, record) };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (names === undefined) throw new Failure('INVALID_REQUEST', { message: `The body is no CSV: ${error.message}` });
    yield { line: lastLine + 1, error: error.message, isLast: true };
  } finally {
    source.destroy();
  }
  if (names === undefined) throw new Failure('INVALID_REQUEST', { message: 'The body is empty: its first line must name the fields.' });
}

function headerNames(record: readonly Cell[]): readonly string[] {
  const names = record.map(({ text }) => unguarded(text));
  const wrong = names.findIndex((name, at) => name === '' || names.indexOf(name) !== at);
  if (wrong < 0) return names;
  throw new Failure('INVALID_REQUEST', {
    message: `The first line must name every field once: field ${wrong + 1} is empty or named twice.`,
  });
}

function rowOf(
  names: readonly string[],
  types: readonly (TableSchema['columns'][number]['type'] | undefined)[],
  record: readonly Cell[],
): RowFields {
  const entries = names.flatMap((name, at) => {
    const cell = record[at];
    const value = cell === undefined ? undefined : cellValue(cell.text, cell.isQuoted, types[at]);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

export async function* ndjsonLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<ImportLine> {
  let line = 0;
  for await (const bytes of splitLines(body)) {
    line += 1;
    if (bytes === undefined) {
      yield { line, error: `is longer than ${LINE_BYTES_MAX} bytes`, isLast: true };
      return;
    }
    if (bytes.every((byte) => byte <= 0x20)) continue;
    yield jsonLine(bytes, line);
  }
}

function jsonLine(bytes: Uint8Array, line: number): ImportLine {
  try {
    const { value } = parseJsonDocument(bytes);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { line, fields: value as RowFields };
    return { line, error: 'is not a JSON object', isLast: false };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { line, error: error.message.replace(/^The body/, 'the line'), isLast: false };
  }
}

const NEWLINE = 0x0a;

/** Without their ends; undefined where one is too long, and then no more. */
async function* splitLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of copies(body)) {
    const bytes: Buffer = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > LINE_BYTES_MAX) {
      yield undefined;
      return;
    }
  }
  if (rest.length > 0) yield rest;
}

/** A chunk of a body is valid only until the next one is asked for. */
async function* copies(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield Buffer.from(chunk);
}
