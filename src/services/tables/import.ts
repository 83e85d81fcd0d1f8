/** Puts the rows of a file into a table, so many at a time. */
import type { RowFields } from '../../../actors/row-fields.ts';
import { type ErrorCode, Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { ImportLine } from './import-lines.ts';

export interface Imported {
  readonly inserted: number;
  readonly failed: { line: number; error: string }[];
  /** Null where every line was tried. */
  readonly stoppedAtLine: number | null;
}

/** Inserts all of the rows or none; rejects with a Failure. */
export type InsertMany = (rows: readonly RowFields[]) => Promise<unknown>;

type Line = Extract<ImportLine, { readonly fields: RowFields }>;

/** Of one row, and not of the table: the others may still go in. */
const OF_A_ROW: readonly ErrorCode[] = ['INVALID_REQUEST', 'ROW_TOO_LARGE', 'DUPLICATE_VALUE'];

const STEP_BYTES_MAX = LIMITS.rowsPageBytesMax;

/** What is in stays in, whatever comes after. Rejects only where nothing went in and nothing is wrong with a line. */
export class TableImport {
  readonly #insert: InsertMany;
  readonly #failed: { line: number; error: string }[] = [];
  #inserted = 0;
  #stoppedAtLine: number | null = null;

  constructor(insert: InsertMany) {
    this.#insert = insert;
  }

  async run(lines: AsyncIterable<ImportLine>): Promise<Imported> {
    let step: Line[] = [];
    let stepBytes = 0;
    for await (const line of lines) {
      if ('error' in line) {
        // What came before it goes in first: only what comes after is left out where this is one failure too many.
        if (line.isLast || this.#isFull) await this.#put(step.splice(0));
        this.#fail(line.line, line.error);
        if (line.isLast) this.#stoppedAtLine ??= line.line;
      } else {
        step.push(line);
        stepBytes += JSON.stringify(line.fields).length;
      }
      if (step.length >= LIMITS.insertRowsMax || stepBytes >= STEP_BYTES_MAX) {
        await this.#put(step);
        step = [];
        stepBytes = 0;
      }
      if (this.#stoppedAtLine !== null) break;
    }
    await this.#put(step);
    const failed = this.#failed.sort((a, b) => a.line - b.line);
    return { inserted: this.#inserted, failed, stoppedAtLine: this.#stoppedAtLine };
  }

  /** All at once where they can be, else the halves apart, down to the rows that cannot be. */
  async #put(lines: readonly Line[]): Promise<void> {
    const [first] = lines;
    if (first === undefined || this.#stoppedAtLine !== null) return;
    try {
      await this.#insert(lines.map(({ fields }) => fields));
      this.#inserted += lines.length;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!OF_A_ROW.includes(error.code)) this.#stop(first.line, error);
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
