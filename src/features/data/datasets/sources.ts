/** Rows of a file that is sent, and rows that other parts of the service bring. */
import { createReadStream } from 'node:fs';
import type { RowFields } from '../../../../actors/tables/row-fields.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { DATASET_TYPES } from '../../../../protocol/data/datasets.ts';
import { loopTurns } from '../../../platform/loop-turns.ts';
import { csvLines, type ImportLine, ndjsonLines } from '../tables/import-lines.ts';
import type { RowSource, SourceRow } from './encode.ts';
import { jsonArrayRows } from './json-array.ts';

/** What is parsed in one go. */
const PIECE_BYTES = 64 * 1024;

export type DatasetType = (typeof DATASET_TYPES)[keyof typeof DATASET_TYPES];

/** The rows of a file. Iterate once. */
export function fileRows(path: string, type: DatasetType, lane: string, delimiter?: string): RowSource {
  return rowsIn(createReadStream(path, { highWaterMark: PIECE_BYTES }), type, lane, [], delimiter);
}

/** The rows in pieces of a file, each of which is parsed when it is the turn of `lane`. `known`: columns that are there in any case. */
export function rowsIn(
  chunks: AsyncIterable<Uint8Array>,
  type: DatasetType,
  lane: string,
  known: readonly string[] = [],
  delimiter?: string,
): RowSource {
  const pieces = inTurns(chunks, lane);
  let names = known;
  switch (type) {
    case DATASET_TYPES.csv: {
      const onNames = (found: readonly string[]) => {
        names = found;
      };
      const lines = csvLines(pieces, null, onNames, delimiter);
      return { rows: wellFormed(lines, 'Line'), names: () => names };
    }
    case DATASET_TYPES.ndjson:
      return { rows: wellFormed(ndjsonLines(pieces), 'Line'), names: () => names };
    case DATASET_TYPES.json:
      return { rows: wellFormed(jsonArrayRows(pieces), 'Row'), names: () => names };
    default:
      return type satisfies never;
  }
}

async function* inTurns(chunks: AsyncIterable<Uint8Array>, lane: string): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    await loopTurns.next(lane);
    yield chunk;
  }
}

/** Throws INVALID_REQUEST at the first line that is no row: a dataset is stored as a whole or not at all. */
async function* wellFormed(lines: AsyncIterable<ImportLine>, noun: 'Line' | 'Row'): AsyncGenerator<SourceRow> {
  for await (const line of lines) {
    const where = `${noun} ${line.line}`;
    if ('fields' in line) yield { fields: line.fields, where };
    else throw new Failure('INVALID_REQUEST', { message: `${where} ${line.error}.`, param: where.toLowerCase() });
  }
}

export type GivenRows = AsyncIterable<RowFields> | Iterable<RowFields>;

/** Rows of JSON values. What only becomes JSON when it is written, such as a Date, is stored as what it becomes. */
export function givenRows(rows: GivenRows): RowSource {
  return { rows: numbered(rows) };
}

async function* numbered(rows: GivenRows): AsyncGenerator<SourceRow> {
  let row = 0;
  for await (const fields of rows) {
    row += 1;
    yield { fields: JSON.parse(JSON.stringify(fields)), where: `Row ${row}` };
  }
}
