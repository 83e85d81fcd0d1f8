/** What a turn will do to the rows of one table, worked out and checked as a whole before anything is changed. */
import { Failure, type Issue } from '../../protocol/core/errors.ts';
import { newId } from '../../protocol/core/ids.ts';
import type { IndexedValue, StoredRow } from './changes.ts';
import { fieldOf, type Indexed, indexedValues, type RowFields, rowText, schemaIssues, unstorable, type WrittenRow } from './row-fields.ts';
import type { ReadMark, Table } from './table.ts';
import type { RowChange, TablesPart } from './tables-part.ts';

/**
 * Rows read from the store before a turn, good for that turn: what has changed since the read began is in the table's memory,
 * which goes before them.
 */
export class KnownRows {
  #table: Table | undefined;
  #tableSeq = 0;
  #reading: { readonly table: Table; readonly mark: ReadMark } | undefined;
  #rows = new Map<string, StoredRow>();

  /** Whether a read was made for this table as it now is. Another actor has another table. */
  isOf(table: Table): boolean {
    return this.#table === table && this.#tableSeq === table.seq;
  }

  /** Reads rows; earlier reads are discarded. */
  async read(tables: TablesPart, table: Table, reads: () => Promise<readonly (readonly StoredRow[])[]>): Promise<void> {
    this.close();
    const reading = { table, mark: tables.beginRead(table) };
    this.#reading = reading;
    const tableSeq = table.seq;
    const answers = await reads();
    // Closed meanwhile, or read again.
    if (this.#reading !== reading) return;
    for (const row of answers.flat()) this.#rows.set(row.rowId, row);
    this.#table = table;
    this.#tableSeq = tableSeq;
  }

  /** Adds rows that were read later, while the table is locked for writes. */
  add(rows: readonly StoredRow[]): void {
    for (const row of rows) this.#rows.set(row.rowId, row);
  }

  /** The current row; undefined if there is none or it was not read. */
  row(table: Table, rowId: string): StoredRow | undefined {
    const remembered = table.remembered(rowId);
    if (remembered !== undefined) return remembered ?? undefined;
    return this.isOf(table) ? this.#rows.get(rowId) : undefined;
  }

  /** Those that were read and have not changed since. */
  *unchanged(table: Table): Generator<StoredRow> {
    if (this.isOf(table)) for (const row of this.#rows.values()) if (table.remembered(row.rowId) === undefined) yield row;
  }

  close(): void {
    this.#reading?.table.endRead(this.#reading.mark);
    this.#reading = undefined;
    this.#table = undefined;
    this.#rows = new Map();
  }
}

interface Planned {
  readonly rowId: string;
  readonly before: StoredRow | undefined;
  readonly fields: RowFields;
  readonly data: string;
  readonly indexed: Indexed;
}

// More issues than a caller would fix at once are not listed.
const ISSUES_MAX = 20;

export class TablePlan {
  readonly #table: Table | undefined;
  readonly #known: KnownRows;
  readonly #planned = new Map<string, Planned>();
  /** Values of unique columns that planned rows take. */
  readonly #taken = new Map<string, Map<IndexedValue, string>>();
  /** Rows by the value of a column, made when a column is first asked for: those in memory (of columns that are not unique) and those read. */
  readonly #byValue = new Map<string, Map<IndexedValue, string[]>>();
  readonly #issues: Issue[] = [];
  /** Takes the parsing of stored rows out of the budget of the turn. */
  readonly #spend: (bytes: number) => void;
  #newRows = 0;

  /** `table`: undefined when the plan will make it. */
  constructor(table: Table | undefined, known: KnownRows, spend: (bytes: number) => void = () => undefined) {
    this.#table = table;
    this.#known = known;
    this.#spend = spend;
  }

  get newRows(): number {
    return this.#newRows;
  }

  /** A row as the plan so far leaves it. */
  row(rowId: string): { readonly rowId: string; readonly fields: RowFields } | undefined {
    const planned = this.#planned.get(rowId);
    if (planned !== undefined) return planned;
    const row = this.#table === undefined ? undefined : this.#known.row(this.#table, rowId);
    if (row === undefined) return undefined;
    this.#spend(row.data.length);
    return { rowId, fields: JSON.parse(row.data) };
  }

  /** Rows that hold the value in the column, as the plan so far leaves them. Only of rows that are known. */
  holders(column: string, value: IndexedValue): string[] {
    const held = [...(this.#rowsBy(column).get(value) ?? [])];
    const inMemory = this.#table?.holder(column, value);
    if (inMemory !== undefined) held.push(inMemory);
    const holders = held.filter((rowId) => !this.#planned.has(rowId));
    for (const planned of this.#planned.values()) if (fieldOf(planned.fields, column) === value) holders.push(planned.rowId);
    return holders;
  }

  /**
   * Plans a row: a new one where `rowId` is undefined. Its id, or undefined where it cannot be, which `refuse` then tells.
   * Throws ROW_TOO_LARGE and DUPLICATE_VALUE. `where` names it in messages. `written`: the same fields, where they were written ahead.
   */
  put(rowId: string | undefined, fields: RowFields, where: string, written?: WrittenRow): string | undefined {
    const issue = written === undefined ? unstorable(fields, where) : written.issue;
    const issues = issue === undefined && this.#table?.schema ? schemaIssues(this.#table.schema, fields, where) : [];
    if (issue !== undefined) issues.push(issue);
    if (issues.length > 0) {
      this.#issues.push(...issues);
      if (this.#issues.length >= ISSUES_MAX) this.refuse();
      return undefined;
    }
    const id = rowId ?? newId('row');
    const before =
      this.#planned.get(id)?.before ?? (rowId === undefined || this.#table === undefined ? undefined : this.#known.row(this.#table, rowId));
    const indexed = indexedValues(this.#table?.schema ?? null, fields);
    this.#release(id);
    for (const [column, value] of indexed) if (value !== null) this.#take(column, value, id, where);
    if (rowId === undefined) this.#newRows += 1;
    this.#planned.set(id, { rowId: id, before, fields, data: written?.data ?? rowText(fields, where), indexed });
    return id;
  }

  /** Throws INVALID_REQUEST with everything that `put` could not take. */
  refuse(): void {
    const [first] = this.#issues;
    if (first === undefined) return;
    const issues = this.#issues.slice(0, ISSUES_MAX);
    throw new Failure('INVALID_REQUEST', { message: `${first.path}: ${first.message}`, param: first.path, issues });
  }

  /** In the order in which they were first planned. */
  changes(): RowChange[] {
    return [...this.#planned.values()].map(({ rowId, before, data, indexed }) => ({ rowId, before, after: { data, indexed } }));
  }

  #take(column: string, value: IndexedValue, rowId: string, where: string): void {
    const table = this.#table;
    if (table === undefined || !table.isUnique(column)) return;
    const taken = this.#taken.get(column) ?? new Map<IndexedValue, string>();
    this.#taken.set(column, taken);
    const holder = taken.get(value) ?? this.#storedHolder(table, column, value);
    if (holder !== undefined && holder !== rowId) {
      const param = where === '' ? column : `${where}.${column}`;
      throw new Failure('DUPLICATE_VALUE', { message: `${param}: another row has this value, and the column is unique.`, param });
    }
    taken.set(value, rowId);
  }

  /** Which row outside the plan holds a value of a unique column. */
  #storedHolder(table: Table, column: string, value: IndexedValue): string | undefined {
    const inMemory = table.holder(column, value);
    if (inMemory !== undefined) return this.#planned.has(inMemory) ? undefined : inMemory;
    return this.#rowsBy(column)
      .get(value)
      ?.find((rowId) => !this.#planned.has(rowId));
  }

  #release(rowId: string): void {
    for (const [column, value] of this.#planned.get(rowId)?.indexed ?? []) {
      const taken = this.#taken.get(column);
      if (value !== null && taken?.get(value) === rowId) taken.delete(value);
    }
  }

  #rowsBy(column: string): Map<IndexedValue, string[]> {
    let byValue = this.#byValue.get(column);
    if (byValue !== undefined) return byValue;
    byValue = new Map();
    this.#byValue.set(column, byValue);
    const table = this.#table;
    if (table === undefined) return byValue;
    const inMemory = table.isUnique(column) ? [] : table.rememberedRows();
    for (const { rowId, data } of [...inMemory, ...this.#known.unchanged(table)]) {
      this.#spend(data.length);
      const value = fieldOf(JSON.parse(data), column) as IndexedValue;
      const there = byValue.get(value);
      if (there === undefined) byValue.set(value, [rowId]);
      else there.push(rowId);
    }
    return byValue;
  }
}
