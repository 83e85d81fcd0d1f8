/**
 * Writes rows as they are stored: one JSON object a line, in blocks. For each block it is noted where it begins, as lines of JSON and as
 * CSV, so that any range of either can be read without what is before it. A JSON array has the same bytes as the lines, between brackets.
 */
import { type RowFields, rowText, unstorable } from '../../../../actors/tables/row-fields.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { DatasetColumn } from '../../../../protocol/data/datasets.ts';
import { loopTurns } from '../../../platform/loop-turns.ts';
import type { Spool, SpooledFile, SpoolWriter } from '../../../storage/spool.ts';
import { csvCell } from '../tables/csv.ts';
import { Columns } from './columns.ts';

/** A block ends with the row that reaches this size. Reading one costs the event loop about a millisecond. */
const BLOCK_BYTES = 128 * 1024;

/** Where a block begins: the number of its first row, its byte, and the bytes of the cells before it as CSV. */
export type Block = readonly [row: number, offset: number, cellBytes: number];

export interface DatasetContent {
  readonly rows: number;
  readonly sizeBytes: number;
  /** Lowercase hex. */
  readonly sha256: string;
  readonly columns: readonly DatasetColumn[];
  readonly blocks: readonly Block[];
  readonly cellBytes: number;
}

export interface EncodedDataset extends DatasetContent {
  readonly file: SpooledFile;
}

/** Rows of any source; `where` names one in messages. */
export interface SourceRow {
  readonly fields: RowFields;
  readonly where: string;
}

export interface RowSource {
  readonly rows: AsyncIterable<SourceRow> | Iterable<SourceRow>;
  /** The columns that the source names beside those of its rows, known once the first row is. */
  readonly names?: () => readonly string[];
}

/** Throws INVALID_REQUEST, ROW_TOO_LARGE, FILE_TOO_LARGE, and what `source` throws; the spool is then clean again. */
export async function encodeRows(spool: Spool, { rows, names }: RowSource, lane: string): Promise<EncodedDataset> {
  const writer = await spool.create();
  const encoder = new RowEncoder(writer);
  try {
    let started = performance.now();
    for await (const row of rows) {
      if (encoder.rows === 0) encoder.name(names?.() ?? []);
      encoder.add(row);
      if (!encoder.isBlockFull) continue;
      await encoder.endBlock();
      loopTurns.worked(performance.now() - started);
      await loopTurns.next(lane);
      started = performance.now();
    }
    encoder.name(names?.() ?? []);
    await encoder.endBlock();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
  return encoder.finish();
}

class RowEncoder {
  readonly #writer: SpoolWriter;
  readonly #columns = new Columns();
  readonly #blocks: Block[] = [];
  #lines: string[] = [];
  #blockBytes = 0;
  #cellBytes = 0;
  rows = 0;

  constructor(writer: SpoolWriter) {
    this.#writer = writer;
  }

  name(names: readonly string[]): void {
    this.#columns.name(names);
  }

  get isBlockFull(): boolean {
    return this.#blockBytes >= BLOCK_BYTES;
  }

  add({ fields, where }: SourceRow): void {
    const text = checked(where, () => this.#textOf(fields, where));
    if (this.#lines.length === 0) this.#blocks.push([this.rows, this.#writer.sizeBytes, this.#cellBytes]);
    this.#lines.push(text);
    this.#blockBytes += Buffer.byteLength(text) + 1;
    for (const value of Object.values(fields)) this.#cellBytes += Buffer.byteLength(csvCell(value));
    this.rows += 1;
    if (this.#writer.sizeBytes + this.#blockBytes > LIMITS.datasetBytesMax) {
      throw new Failure('FILE_TOO_LARGE', { message: `The rows take more than ${LIMITS.datasetBytesMax} bytes as lines of JSON.` });
    }
  }

  #textOf(fields: RowFields, where: string): string {
    const text = rowText(fields, where);
    const issue = unstorable(fields, '');
    if (issue !== undefined) throw new Failure('INVALID_REQUEST', { message: `${issue.path} ${issue.message}.` });
    for (const [name, value] of Object.entries(fields)) this.#columns.see(name, value);
    return text;
  }

  async endBlock(): Promise<void> {
    if (this.#lines.length === 0) return;
    await this.#writer.write(Buffer.from(`${this.#lines.join('\n')}\n`));
    this.#lines = [];
    this.#blockBytes = 0;
  }

  async finish(): Promise<EncodedDataset> {
    const file = await this.#writer.finish();
    const { sizeBytes, sha256 } = file;
    return { file, rows: this.rows, sizeBytes, sha256, columns: this.#columns.list(), blocks: this.#blocks, cellBytes: this.#cellBytes };
  }
}

/** Names the row in the message of what is wrong with it. */
function checked<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.code, { ...error.details, message: `${where}: ${error.message}`, param: where.toLowerCase() });
  }
}
