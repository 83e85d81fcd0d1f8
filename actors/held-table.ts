/** Changes that need a look at a whole table: it is kept as it is from that look to the turn. Readers are not kept waiting, writers of this table are. */
import { Failure } from '../protocol/errors.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { StoredRow } from './ports.ts';
import { ownFields, type RowFields } from './row-fields.ts';
import type { Table } from './table.ts';
import { Seat } from './table-access.ts';
import { type MayWrite, merged, readHolders, type TableOperation, uniqueColumns, valuesOf } from './table-operations.ts';
import { KnownRows, TablePlan } from './table-plan.ts';
import type { TablesPart } from './tables-part.ts';

/** `look` sees everything that was done to the table before, committed. It must end by itself: writers wait for it. */
export abstract class HeldOperation<L, T> implements TableOperation<T> {
  protected readonly name: string;
  readonly #seat = new Seat(true);
  #seen: { readonly table: Table; readonly look: L } | undefined;

  constructor(table: string) {
    this.name = table;
  }

  prepare({ tables }: { readonly tables: TablesPart }): Promise<void> | undefined {
    const table = tables.find(this.name);
    // Left unread where the turn will refuse or has nothing to look at.
    if (table === undefined) return undefined;
    const busy = this.#seat.take(table);
    if (busy !== undefined) return busy;
    return this.#seen?.table === table ? undefined : this.#look(tables, table);
  }

  run({ tables }: { readonly tables: TablesPart }): T {
    return this.turn(tables, tables.find(this.name), this.#seen?.look);
  }

  close(): void {
    this.#seat.leave();
  }

  /** Of the table as it is committed. */
  protected abstract look(tables: TablesPart, table: Table): Promise<L>;

  /** `seen` is there whenever `table` is. */
  protected abstract turn(tables: TablesPart, table: Table | undefined, seen: L | undefined): T;

  async #look(tables: TablesPart, table: Table): Promise<void> {
    await tables.settled();
    this.#seen = { table, look: await this.look(tables, table) };
  }
}

/** Answers the rows that match a filter, as committed: at most `rowsMax + 1`, and no more than fit into `bytesMax` and one. */
export type ReadMatching = (tables: TablesPart, table: Table, rowsMax: number) => Promise<readonly StoredRow[]>;

/** Changes the rows that match, each by the same merge patch. Answers how many. */
export class PatchMatching extends HeldOperation<readonly StoredRow[], number> {
  readonly #matching: ReadMatching;
  readonly #changes: RowFields;
  readonly #mayWrite: MayWrite;
  readonly #known = new KnownRows();

  constructor(table: string, matching: ReadMatching, changes: RowFields, mayWrite: MayWrite) {
    super(table);
    this.#matching = matching;
    this.#changes = ownFields(changes);
    this.#mayWrite = mayWrite;
  }

  override close(): void {
    super.close();
    this.#known.close();
  }

  protected async look(tables: TablesPart, table: Table): Promise<readonly StoredRow[]> {
    let rows: readonly StoredRow[] = [];
    const columns = uniqueColumns(table).filter((column) => Object.hasOwn(this.#changes, column));
    await this.#known.read(tables, table, async () => {
      const holders = columns.map((column) => readHolders(tables, table, column, valuesOf([this.#changes], column)));
      const answers = await Promise.all([this.#matching(tables, table, LIMITS.rowsByFilterMax), ...holders]);
      rows = answers[0];
      return answers;
    });
    return rows;
  }

  protected turn(tables: TablesPart, there: Table | undefined, seen: readonly StoredRow[] | undefined): number {
    const table = there ?? tables.get(this.name);
    this.#mayWrite(table);
    const rows = seen ?? [];
    requireFew(rows);
    const plan = new TablePlan(table, this.#known);
    for (const row of rows) plan.put(row.rowId, merged(JSON.parse(row.data), this.#changes), row.rowId);
    plan.refuse();
    if (rows.length === 0) return 0;
    tables.admit(this.name, 0);
    tables.change(table, plan.changes());
    return rows.length;
  }
}

/** Deletes the rows that match. Answers how many. */
export class DeleteMatching extends HeldOperation<readonly StoredRow[], number> {
  readonly #matching: ReadMatching;
  readonly #mayWrite: MayWrite;

  constructor(table: string, matching: ReadMatching, mayWrite: MayWrite) {
    super(table);
    this.#matching = matching;
    this.#mayWrite = mayWrite;
  }

  protected look(tables: TablesPart, table: Table): Promise<readonly StoredRow[]> {
    return this.#matching(tables, table, LIMITS.rowsByFilterMax);
  }

  protected turn(tables: TablesPart, there: Table | undefined, seen: readonly StoredRow[] | undefined): number {
    const table = there ?? tables.get(this.name);
    this.#mayWrite(table);
    const rows = seen ?? [];
    requireFew(rows);
    if (rows.length === 0) return 0;
    tables.admit(this.name, 0);
    tables.change(
      table,
      rows.map((row) => ({ rowId: row.rowId, before: row, after: null })),
    );
    return rows.length;
  }
}

/** Throws TOO_MANY_ROWS. */
function requireFew(rows: readonly StoredRow[]): void {
  if (rows.length <= LIMITS.rowsByFilterMax) return;
  throw new Failure('TOO_MANY_ROWS', { message: `The filter matches more than ${LIMITS.rowsByFilterMax} rows.`, param: 'filter' });
}
