/** What is done to a table in one turn: reading ahead of it what it needs of the store, and the turn itself. Source: contract.md §5. */
import { Failure } from '../../protocol/core/errors.ts';
import { type Conditions, checkConditions } from '../json/json-conditions.ts';
import { mergePatch } from '../json/json-merge.ts';
import type { IndexedValue, StoredRow } from './changes.ts';
import { fieldOf, indexedValue, ownFields, type RowFields, unstorable, type WrittenRow } from './row-fields.ts';
import type { Table } from './table.ts';
import { Seat } from './table-access.ts';
import { KnownRows, TablePlan } from './table-plan.ts';
import type { TablesPart } from './tables-part.ts';

/** For `ActorRuntime.ask`: `run` as the turn, `prepare` before it, `close` when it is over whatever came of it. */
export interface TableOperation<T> {
  prepare(actor: { readonly tables: TablesPart }): Promise<void> | undefined;
  run(actor: { readonly tables: TablesPart }): T;
  close(): void;
}

/** Throws FORBIDDEN where this table may not be written by the caller. */
export type MayWrite = (table: Table) => void;

export interface InsertOptions {
  /** Rows whose value in this field is held by a row already change that row. `id` is a field as well. */
  readonly onConflict?: string | undefined;
  /** Whether such a row keeps the fields that are not given (a merge patch), or is replaced. */
  readonly merge?: boolean;
  /** Whether messages name the row by its number. */
  readonly isMany: boolean;
  /** The rows as texts, written ahead of the turn where they are large together. */
  readonly written?: readonly WrittenRow[] | undefined;
  readonly mayWrite: MayWrite;
}

export interface Inserted {
  /** In the order given; a row that was given twice stands there twice. */
  readonly rows: readonly StoredRow[];
  /** How many of them were there before. */
  readonly updated: number;
}

export class InsertRows implements TableOperation<Inserted> {
  readonly #name: string;
  readonly #rows: readonly RowFields[];
  readonly #options: InsertOptions;
  readonly #seat = new Seat(false);
  readonly #known = new KnownRows();

  constructor(table: string, rows: readonly RowFields[], options: InsertOptions) {
    this.#name = table;
    this.#rows = rows;
    this.#options = options;
  }

  prepare({ tables }: { readonly tables: TablesPart }): Promise<void> | undefined {
    const table = tables.find(this.#name);
    if (table === undefined) return undefined;
    const busy = this.#seat.take(table);
    if (busy !== undefined) return busy;
    const { onConflict } = this.#options;
    const columns = uniqueColumns(table);
    if (onConflict !== undefined && onConflict !== 'id' && !columns.includes(onConflict)) columns.push(onConflict);
    if ((columns.length === 0 && onConflict === undefined) || this.#known.isOf(table)) return undefined;
    return this.#known.read(tables, table, () => {
      const reads = columns.map((column) => readHolders(tables, table, column, valuesOf(this.#rows, column)));
      if (onConflict === 'id') reads.push(tables.store.readRows(tables.artifactId, table.storedAs, this.#ids()));
      return Promise.all(reads);
    });
  }

  run({ tables }: { readonly tables: TablesPart }): Inserted {
    const { isMany, mayWrite } = this.#options;
    const there = tables.find(this.#name);
    if (there !== undefined) mayWrite(there);
    const plan = new TablePlan(there, this.#known, (bytes) => tables.spend(bytes, 'rows.insert', 'onConflict'));
    let updated = 0;
    const ids = this.#rows.map((row, index) => {
      const where = isMany ? `rows.${index}` : '';
      const current = this.#conflicting(plan, row, where);
      if (current !== undefined) updated += 1;
      const fields = ownFields(row);
      if (current !== undefined && this.#options.merge) return plan.put(current.rowId, merged(current.fields, fields), where);
      return plan.put(current?.rowId, fields, where, this.#options.written?.[index]);
    });
    plan.refuse();
    tables.admit(this.#name, plan.newRows);
    const written = new Map(tables.change(tables.open(this.#name), plan.changes()).map((row) => [row.rowId, row]));
    return { rows: ids.flatMap((id) => written.get(id ?? '') ?? []), updated };
  }

  close(): void {
    this.#seat.leave();
    this.#known.close();
  }

  #ids(): string[] {
    return this.#rows.flatMap(({ id }) => (typeof id === 'string' ? id : []));
  }

  /** The row that a given one is to change. */
  #conflicting(plan: TablePlan, row: RowFields, where: string): { readonly rowId: string; readonly fields: RowFields } | undefined {
    const { onConflict: field } = this.#options;
    if (field === undefined) return undefined;
    const value = indexedValue(fieldOf(row, field));
    const param = where === '' ? field : `${where}.${field}`;
    if (field === 'id') {
      if (value === undefined) return undefined;
      const current = plan.row(String(value));
      if (current === undefined) throw new Failure('ROW_NOT_FOUND', { message: `${param}: there is no row ${String(value)}.`, param });
      return current;
    }
    if (value === undefined) {
      throw new Failure('INVALID_REQUEST', {
        message: `${param}: must be a string, a number or a boolean: onConflict looks rows up by it.`,
        param,
      });
    }
    const [holder, another] = plan.holders(field, value);
    if (another !== undefined) {
      throw new Failure('DUPLICATE_VALUE', {
        message: `${param}: more than one row has this value, so onConflict cannot tell which to change.`,
        hint: 'Make the values differ, or name a field whose column is unique.',
        param,
      });
    }
    return holder === undefined ? undefined : plan.row(holder);
  }
}

/** Reads one row. */
export class ReadRow implements TableOperation<StoredRow> {
  readonly #name: string;
  readonly #rowId: string;
  readonly #known = new KnownRows();

  constructor(table: string, rowId: string) {
    this.#name = table;
    this.#rowId = rowId;
  }

  prepare({ tables }: { readonly tables: TablesPart }): Promise<void> | undefined {
    const table = tables.find(this.#name);
    if (table === undefined || table.remembered(this.#rowId) !== undefined || this.#known.isOf(table)) return undefined;
    return readRow(this.#known, tables, table, this.#rowId);
  }

  run({ tables }: { readonly tables: TablesPart }): StoredRow {
    const table = tableOfRow(tables, this.#name);
    table.touch(this.#rowId);
    return requireRow(this.#known, table, this.#rowId);
  }

  close(): void {
    this.#known.close();
  }
}

export interface RowWrite extends Conditions {
  readonly mayWrite: MayWrite;
}

/** Takes a table away with all its rows. Answers how many there were. */
export class DropTable implements TableOperation<number> {
  readonly #name: string;
  readonly #mayWrite: MayWrite;
  readonly #seat = new Seat(false);

  constructor(table: string, mayWrite: MayWrite) {
    this.#name = table;
    this.#mayWrite = mayWrite;
  }

  prepare({ tables }: { readonly tables: TablesPart }): Promise<void> | undefined {
    const table = tables.find(this.#name);
    return table && this.#seat.take(table);
  }

  run({ tables }: { readonly tables: TablesPart }): number {
    const table = tables.get(this.#name);
    this.#mayWrite(table);
    tables.drop(this.#name);
    return table.rowCount;
  }

  close(): void {
    this.#seat.leave();
  }
}

/** Changes one row by a merge patch. */
export class PatchRow implements TableOperation<StoredRow> {
  readonly #name: string;
  readonly #rowId: string;
  readonly #changes: RowFields;
  readonly #options: RowWrite;
  readonly #seat = new Seat(false);
  readonly #known = new KnownRows();

  constructor(table: string, rowId: string, changes: RowFields, options: RowWrite) {
    this.#name = table;
    this.#rowId = rowId;
    this.#changes = ownFields(changes);
    this.#options = options;
  }

  prepare({ tables }: { readonly tables: TablesPart }): Promise<void> | undefined {
    const table = tables.find(this.#name);
    if (table === undefined) return undefined;
    const busy = this.#seat.take(table);
    if (busy !== undefined) return busy;
    if (this.#known.isOf(table)) return undefined;
    const columns = uniqueColumns(table).filter((column) => Object.hasOwn(this.#changes, column));
    if (columns.length === 0 && table.remembered(this.#rowId) !== undefined) return undefined;
    return readRow(this.#known, tables, table, this.#rowId, () =>
      columns.map((column) => readHolders(tables, table, column, valuesOf([this.#changes], column))),
    );
  }

  run({ tables }: { readonly tables: TablesPart }): StoredRow {
    const table = tableOfRow(tables, this.#name);
    this.#options.mayWrite(table);
    const row = requireRow(this.#known, table, this.#rowId);
    checkConditions(stampOf(row), this.#options);
    tables.spend(row.data.length, 'row.patch', 'rowId');
    const plan = new TablePlan(table, this.#known);
    plan.put(row.rowId, merged(JSON.parse(row.data), this.#changes), '');
    plan.refuse();
    tables.admit(this.#name, 0);
    const [written] = tables.change(table, plan.changes());
    return written ?? row;
  }

  close(): void {
    this.#seat.leave();
    this.#known.close();
  }
}

export class DeleteRow implements TableOperation<void> {
  readonly #name: string;
  readonly #rowId: string;
  readonly #options: RowWrite;
  readonly #seat = new Seat(false);
  readonly #known = new KnownRows();

  constructor(table: string, rowId: string, options: RowWrite) {
    this.#name = table;
    this.#rowId = rowId;
    this.#options = options;
  }

  prepare({ tables }: { readonly tables: TablesPart }): Promise<void> | undefined {
    const table = tables.find(this.#name);
    if (table === undefined) return undefined;
    const busy = this.#seat.take(table);
    if (busy !== undefined) return busy;
    if (table.remembered(this.#rowId) !== undefined || this.#known.isOf(table)) return undefined;
    return readRow(this.#known, tables, table, this.#rowId);
  }

  run({ tables }: { readonly tables: TablesPart }): void {
    const table = tableOfRow(tables, this.#name);
    this.#options.mayWrite(table);
    const row = requireRow(this.#known, table, this.#rowId);
    checkConditions(stampOf(row), this.#options);
    tables.admit(this.#name, 0);
    tables.change(table, [{ rowId: row.rowId, before: row, after: null }]);
  }

  close(): void {
    this.#seat.leave();
    this.#known.close();
  }
}

/** Quotes included. */
export function rowEtag(row: StoredRow): string {
  return `"${row.seq.toString(36)}"`;
}

export function merged(fields: RowFields, changes: RowFields): RowFields {
  return mergePatch(fields, changes) as RowFields;
}

export function uniqueColumns(table: Table): string[] {
  return (table.schema?.columns ?? []).filter(({ unique }) => unique).map(({ name }) => name);
}

/** The rows that hold these values. Reads one row more than there are values, to detect a column that is not unique. */
export function readHolders(
  tables: TablesPart,
  table: Table,
  column: string,
  values: readonly IndexedValue[],
): Promise<readonly StoredRow[]> {
  if (values.length === 0) return Promise.resolve([]);
  const isIndexed = table.isIndexed(column);
  return tables.store.readHolders(tables.artifactId, { table: table.storedAs, column, values, isIndexed, rowsMax: values.length + 1 });
}

/** The distinct values that an index can hold; values that cannot be stored are refused later, so they are left out. */
export function valuesOf(rows: readonly RowFields[], column: string): IndexedValue[] {
  const values = new Set<IndexedValue>();
  for (const row of rows) {
    const value = indexedValue(fieldOf(row, column));
    if (value !== undefined && unstorable(value, column) === undefined) values.add(value);
  }
  return [...values];
}

function stampOf(row: StoredRow) {
  return { etag: rowEtag(row), updatedAtMs: row.updatedAtMs };
}

/** The table of a row. Throws ROW_NOT_FOUND, also when the table does not exist. */
function tableOfRow(tables: TablesPart, name: string): Table {
  const table = tables.find(name);
  if (table === undefined) throw new Failure('ROW_NOT_FOUND', { param: 'rowId' });
  return table;
}

function requireRow(known: KnownRows, table: Table, rowId: string): StoredRow {
  const row = known.row(table, rowId);
  if (row === undefined) throw new Failure('ROW_NOT_FOUND', { param: 'rowId' });
  return row;
}

async function readRow(
  known: KnownRows,
  tables: TablesPart,
  table: Table,
  rowId: string,
  more: () => Promise<readonly StoredRow[]>[] = () => [],
): Promise<void> {
  await known.read(tables, table, () => Promise.all([tables.store.readRows(tables.artifactId, table.storedAs, [rowId]), ...more()]));
  const row = known.row(table, rowId);
  // A row that was read is likely to be read again.
  if (row !== undefined) table.keep(row);
}
