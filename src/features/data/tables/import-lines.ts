/** Parses a CSV or NDJSON file into rows while it is received, each with the number of the line on which it ends. */
import { CsvError, type Parser, parse } from 'csv-parse';
import type { RowFields } from '../../../../actors/tables/row-fields.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { TableSchema } from '../../../../protocol/data/tables.ts';
import { parseJsonDocument } from '../../../edge/json-document.ts';
import { cellValue, unguarded } from './csv.ts';

export type ImportLine = { readonly line: number } & (
  | { readonly fields: RowFields }
  | { readonly error: string; readonly isLast: boolean }
);

// A row of the maximum size fits even if its JSON escapes every character.
export const LINE_BYTES_MAX = LIMITS.rowBytesMax * 6;

/** The parser is given this much at a time, because everything it parses from one piece is in memory at once. */
const PIECE_BYTES = 64 * 1024;

interface Cell {
  readonly text: string;
  readonly isQuoted: boolean;
}

interface ParsedLine {
  readonly record: readonly Cell[];
  readonly line: number;
}

/**
 * Throws INVALID_REQUEST if the first line does not name the fields. Ends at the first line that is not valid CSV.
 * `onNames` is told the names before the first row comes.
 */
export async function* csvLines(
  body: AsyncIterable<Uint8Array>,
  schema: TableSchema | null,
  onNames?: (names: readonly string[]) => void,
  delimiter = ',',
): AsyncGenerator<ImportLine> {
  let parsed: ParsedLine[] = [];
  const parser = parse({
    delimiter,
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LINE_BYTES_MAX,
    cast: (text, { quoting }): Cell => ({ text, isQuoted: quoting }),
    // Records are collected here, because the parser as a stream discards unread records when it meets a syntax error.
    on_record: (record: unknown, { lines }) => {
      // The library's types ignore the result of `cast`.
      parsed.push({ record: record as readonly Cell[], line: lines });
      return null;
    },
  });
  // `parsePiece` gets the same error from its callback; without a listener the event would be thrown.
  parser.on('error', () => undefined);
  let names: readonly string[] | undefined;
  let types: readonly (TableSchema['columns'][number]['type'] | undefined)[] = [];
  let lastLine = 0;
  for await (const piece of pieces(body)) {
    const fault = await parsePiece(parser, piece);
    for (const { record, line } of parsed) {
      lastLine = line;
      if (names === undefined) {
        names = headerNames(record);
        onNames?.(names);
        types = names.map((name) => schema?.columns.find((column) => column.name === name)?.type);
        continue;
      }
      if (record.length !== names.length) {
        yield { line: lastLine, error: `has ${record.length} fields, but the first line names ${names.length}`, isLast: false };
        continue;
      }
      yield { line: lastLine, fields: rowOf(names, types, record) };
    }
    parsed = [];
    if (fault === undefined) continue;
    if (names === undefined)
      throw new Failure('INVALID_REQUEST', { message: `The body is not valid CSV: the first line ${csvProblem(fault)}.` });
    yield { line: lastLine + 1, error: csvProblem(fault), isLast: true };
    return;
  }
  if (names === undefined) throw new Failure('INVALID_REQUEST', { message: 'The body is empty: its first line must name the fields.' });
}

/** Ends with null, which marks the end of the file. */
async function* pieces(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer | null> {
  for await (const chunk of copies(body)) {
    for (let from = 0; from < chunk.length; from += PIECE_BYTES) yield chunk.subarray(from, from + PIECE_BYTES);
  }
  yield null;
}

/** Resolves with the syntax error in the piece, if there is one. */
function parsePiece(parser: Parser, piece: Buffer | null): Promise<CsvError | undefined> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null) => {
      if (error === undefined || error === null) resolve(undefined);
      else if (error instanceof CsvError) resolve(error);
      else reject(error);
    };
    if (piece === null) parser.end(done);
    else parser.write(piece, done);
  });
}

/** What is wrong with a line, in our words instead of the library's. */
function csvProblem({ code }: CsvError): string {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'begins a quoted cell that is never closed';
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'has text between a closing quote and the end of its cell';
    case 'INVALID_OPENING_QUOTE':
      return 'has a quote inside an unquoted cell';
    case 'CSV_MAX_RECORD_SIZE':
      return `is longer than ${LINE_BYTES_MAX} bytes`;
    default:
      return 'is not valid CSV';
  }
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

export function jsonLine(bytes: Uint8Array, line: number): ImportLine {
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

/** Lines without their line ends; yields undefined and ends at a line that is too long. */
async function* splitLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of copies(body)) {
    const bytes: Buffer = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      if (end - start > LINE_BYTES_MAX) {
        yield undefined;
        return;
      }
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

/** Copies each chunk, because a chunk of a body is valid only until the next one is requested. */
export async function* copies(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield Buffer.from(chunk);
}
