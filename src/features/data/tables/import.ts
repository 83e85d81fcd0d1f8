/** Inserts the rows of a file into a table in batches. */
import type { RowFields } from '../../../../actors/tables/row-fields.ts';
import { type ErrorCode, Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { ImportLine } from './import-lines.ts';

export interface Imported {
  readonly inserted: number;
  readonly failed: { line: number; error: string }[];
  /** Null if every line was tried. */
  readonly stoppedAtLine: number | null;
}

/** Inserts all rows or none; rejects with a Failure. */
export type InsertMany = (rows: readonly RowFields[]) => Promise<unknown>;

type Line = Extract<ImportLine, { readonly fields: RowFields }>;

/** Errors of a single row: the other rows of the batch can still be inserted. */
const ROW_ERRORS: readonly ErrorCode[] = ['INVALID_REQUEST', 'ROW_TOO_LARGE', 'DUPLICATE_VALUE'];

const BATCH_BYTES_MAX = LIMITS.rowsPageBytesMax;

/**
 * Inserted rows stay inserted if a later line or the file itself is faulty. Rejects only if the table refuses the rows before any was
 * inserted and before any line failed.
 */
export class TableImport {
  readonly #insert: InsertMany;
  readonly #failed: { line: number; error: string }[] = [];
  #inserted = 0;
  #stoppedAtLine: number | null = null;

  constructor(insert: InsertMany) {
    this.#insert = insert;
  }

  async run(lines: AsyncIterable<ImportLine>): Promise<Imported> {
    let batch: Line[] = [];
    let batchBytes = 0;
    for await (const line of lines) {
      if ('error' in line) {
        // The lines before this one are inserted first, because the import may stop here.
        if (line.isLast || this.#isFull) await this.#put(batch.splice(0));
        this.#fail(line.line, line.error);
        if (line.isLast) this.#stoppedAtLine ??= line.line;
      } else {
        batch.push(line);
        batchBytes += JSON.stringify(line.fields).length;
      }
      if (batch.length >= LIMITS.insertRowsMax || batchBytes >= BATCH_BYTES_MAX) {
        await this.#put(batch);
        batch = [];
        batchBytes = 0;
      }
      if (this.#stoppedAtLine !== null) break;
    }
    await this.#put(batch);
    const failed = this.#failed.sort((a, b) => a.line - b.line);
    return { inserted: this.#inserted, failed, stoppedAtLine: this.#stoppedAtLine };
  }

  /** Inserts all lines at once; if a row is refused, tries each half on its own, down to the rows at fault. */
  async #put(lines: readonly Line[]): Promise<void> {
    const [first] = lines;
    if (first === undefined || this.#stoppedAtLine !== null) return;
    try {
      await this.#insert(lines.map(({ fields }) => fields));
      this.#inserted += lines.length;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!ROW_ERRORS.includes(error.code)) this.#stop(first.line, error);
      else if (lines.length === 1) this.#fail(first.line, error.message);
      else {
        const middle = lines.length >> 1;
        await this.#put(lines.slice(0, middle));
        await this.#put(lines.slice(middle));
      }
    }
  }

  get #isFull(): boolean {
    return this.#failed.length >= LIMITS.importFailuresMax;
  }

  #fail(line: number, error: string): void {
    if (this.#isFull) this.#stoppedAtLine ??= line;
    else this.#failed.push({ line, error });
  }

  #stop(line: number, error: Failure): void {
    if (this.#inserted === 0 && this.#failed.length === 0) throw error;
    this.#failed.push({ line, error: error.message });
    this.#stoppedAtLine = line;
  }
}
