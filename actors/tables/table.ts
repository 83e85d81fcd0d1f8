/** One table in memory: what is known of it as a whole, and the rows that were changed or read lately. All its other rows only the store has. */
import { Failure } from '../../protocol/core/errors.ts';
import type { TableSchema } from '../../protocol/data/tables.ts';
import type { IndexedValue, StoredRow } from './changes.ts';
import { type Indexed, indexedValues } from './row-fields.ts';
import { TableAccess } from './table-access.ts';

/** A row, or that it was deleted (`row` null), as of change `seq`. */
interface Remembered {
  readonly seq: number;
  readonly row: StoredRow | null;
  readonly indexed: Indexed;
}

/** While a mark is open, changes that a read of the store may have missed stay in memory. */
export interface ReadMark {
  readonly committedSeq: number;
}

// Cache limit for rows that could be evicted; the most recently used stay.
const CACHED_BYTES_MAX = 256 * 1024;
// When they are too many, this share stays: a map is slow to find its first entry while those before it have just been deleted.
const CACHED_KEPT = 0.75;
// Limit for rows that must stay in memory, because they are uncommitted or a read is in flight. Above it writes are refused with UNAVAILABLE.
const HELD_BYTES_MAX = 32 * 1024 * 1024;
const TABLE_BYTES = 1200;
const ROW_BYTES = 400;

export class Table {
  readonly name: string;
  readonly createdAtMs: number;
  /** The name under which the store has its rows: its own, or another where a dropped table may still have rows there. */
  readonly storedAs: string;
  schema: TableSchema | null;
  /** Seq of the last change of the table itself, not of its rows. */
  seq: number;
  rowCount: number;
  updatedAtMs: number;

  readonly access = new TableAccess();
  readonly #rows = new Map<string, Remembered>();
  /** Which of the rows in memory holds a value, for each unique column. */
  readonly #holders = new Map<string, Map<IndexedValue, string>>();
  readonly #marks = new Set<ReadMark>();
  #bytes = TABLE_BYTES;

  constructor(of: {
    name: string;
    schema: TableSchema | null;
    rowCount: number;
    seq: number;
    storedAs: string;
    createdAtMs: number;
    updatedAtMs: number;
  }) {
    this.name = of.name;
    this.schema = of.schema;
    this.rowCount = of.rowCount;
    this.seq = of.seq;
    this.storedAs = of.storedAs;
    this.createdAtMs = of.createdAtMs;
    this.updatedAtMs = of.updatedAtMs;
  }

  get residentBytes(): number {
    return this.#bytes;
  }

  /** Throws UNAVAILABLE while too much of it must stay in memory. */
  admit(): void {
    if (this.#bytes > HELD_BYTES_MAX) {
      throw new Failure('UNAVAILABLE', { message: 'Too many rows of this table are being changed.', retryAfterS: 1 });
    }
  }

  isUnique(column: string): boolean {
    return this.schema?.columns.some(({ name, unique }) => unique && name === column) ?? false;
  }

  isIndexed(column: string): boolean {
    return this.schema?.columns.some(({ name, unique, indexed }) => (unique || indexed) && name === column) ?? false;
  }

  /** Undefined: the row is not in memory, read the store. Null: it was deleted. */
  remembered(rowId: string): StoredRow | null | undefined {
    return this.#rows.get(rowId)?.row;
  }

  /** Which row in memory holds the value of a unique column. */
  holder(column: string, value: IndexedValue): string | undefined {
    return this.#holders.get(column)?.get(value);
  }

  /** The rows in memory, deleted ones left out. */
  *rememberedRows(): Generator<StoredRow> {
    for (const { row } of this.#rows.values()) if (row !== null) yield row;
  }

  put(row: StoredRow, indexed: Indexed): void {
    this.#forget(row.rowId);
    this.#remember(row.rowId, { seq: row.seq, row, indexed });
  }

  delete(rowId: string, seq: number): void {
    this.#forget(rowId);
    this.#remember(rowId, { seq, row: null, indexed: [] });
  }

  /** Keeps what was read under a mark, where nothing newer is known. */
  keep(row: StoredRow): void {
    if (this.#rows.has(row.rowId)) return;
    this.#remember(row.rowId, { seq: row.seq, row, indexed: indexedValues(this.schema, JSON.parse(row.data)) });
  }

  touch(rowId: string): void {
    const there = this.#rows.get(rowId);
    if (there === undefined || !this.#rows.delete(rowId)) return;
    this.#rows.set(rowId, there);
  }

  /** With another schema the rows in memory have other values in the index. Nothing of the table may be uncommitted. */
  reshape(schema: TableSchema | null, seq: number, updatedAtMs: number): void {
    this.schema = schema;
    this.seq = seq;
    this.updatedAtMs = updatedAtMs;
    this.#rows.clear();
    this.#holders.clear();
    this.#bytes = TABLE_BYTES;
  }

  beginRead(committedSeq: number): ReadMark {
    const mark = { committedSeq };
    this.#marks.add(mark);
    return mark;
  }

  endRead(mark: ReadMark): void {
    this.#marks.delete(mark);
  }

  /** Forgets rows, the longest unused first, that the store has and that no reader may have missed. */
  trim(committedSeq: number): void {
    if (this.#bytes <= CACHED_BYTES_MAX) return;
    let seenByAll = committedSeq;
    for (const mark of this.#marks) seenByAll = Math.min(seenByAll, mark.committedSeq);
    for (const [rowId, { seq }] of this.#rows) {
      if (seq > seenByAll) return;
      this.#forget(rowId);
      if (this.#bytes <= CACHED_BYTES_MAX * CACHED_KEPT) return;
    }
  }

  #remember(rowId: string, remembered: Remembered): void {
    this.#rows.set(rowId, remembered);
    this.#bytes += rowBytes(remembered);
    for (const [column, value] of remembered.indexed) {
      if (value === null || !this.isUnique(column)) continue;
      const holders = this.#holders.get(column) ?? new Map<IndexedValue, string>();
      this.#holders.set(column, holders);
      holders.set(value, rowId);
    }
  }

  #forget(rowId: string): void {
    const there = this.#rows.get(rowId);
    if (there === undefined) return;
    this.#rows.delete(rowId);
    this.#bytes -= rowBytes(there);
    for (const [column, value] of there.indexed) {
      const holders = this.#holders.get(column);
      // In one turn a value may have gone over to another row before this one let go of it.
      if (value !== null && holders?.get(value) === rowId) holders.delete(value);
    }
  }
}

function rowBytes({ row, indexed }: Remembered): number {
  return ROW_BYTES + (row === null ? 0 : row.data.length * 2) + indexed.length * 100;
}
