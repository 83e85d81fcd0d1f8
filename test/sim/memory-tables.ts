/** Tables of one artifact in memory. As in the real store, the rows of a dropped table stay until a purge removes them, some at a time. */
import type { Change } from '../../actors/kinds.ts';
import type { HolderQuery, StoredRow, StoredTable } from '../../actors/tables/changes.ts';
import type { Indexed } from '../../actors/tables/row-fields.ts';

type TableChange = Extract<Change, { kind: 'table.put' | 'table.drop' | 'row.put' | 'row.delete' }>;

interface Rows {
  readonly rows: Map<string, StoredRow>;
  /** The index entries of each row. */
  readonly index: Map<string, Indexed>;
}

export class MemoryTables {
  readonly #tables = new Map<string, StoredTable>();
  /** By the name under which they are stored. */
  readonly #rows = new Map<string, Rows>();
  readonly #dropped = new Set<string>();

  /** Adds a table that exists before the first change. */
  add(table: StoredTable): void {
    this.#tables.set(table.name, table);
  }

  list(): StoredTable[] {
    return [...this.#tables.values()];
  }

  get hasDropped(): boolean {
    return this.#dropped.size > 0;
  }

  /** The rows of the table of that name, in insertion order. */
  rowsOf(name: string): StoredRow[] {
    const table = this.#tables.get(name);
    return table === undefined ? [] : [...this.#of(table.storedAs).rows.values()];
  }

  /** The rows under that storage name, also when the table has been dropped since. */
  read(storedAs: string): StoredRow[] {
    return this.#dropped.has(storedAs) ? [] : [...this.#of(storedAs).rows.values()];
  }

  /** The index entries of all rows, also of dropped tables. */
  readRows(storedAs: string, rowIds: readonly string[]): StoredRow[] {
    const { rows } = this.#of(storedAs);
    return rowIds.flatMap((rowId) => rows.get(rowId) ?? []);
  }

  readHolders(wanted: HolderQuery): StoredRow[] {
    const { rows, index } = this.#of(wanted.table);
    const holds = (row: StoredRow) => {
      const value = wanted.isIndexed
        ? index.get(row.rowId)?.find(([column]) => column === wanted.column)?.[1]
        : JSON.parse(row.data)[wanted.column];
      return wanted.values.includes(value);
    };
    return [...rows.values()].filter(holds).slice(0, wanted.rowsMax);
  }

  /** Removes one row of a dropped table, or the record of the drop when no row is left. */
  purgeOne(): void {
    const [storedAs] = this.#dropped;
    if (storedAs === undefined) return;
    const { rows, index } = this.#of(storedAs);
    const [rowId] = rows.keys();
    if (rowId === undefined) this.#dropped.delete(storedAs);
    else {
      rows.delete(rowId);
      index.delete(rowId);
    }
  }

  apply(change: TableChange, violation: (why: string) => void): void {
    const storedAs = change.storedAs ?? change.table;
    const table = this.#tables.get(change.table);
    if (change.kind === 'table.put') {
      if (this.#dropped.has(storedAs)) violation(`a table is stored as ${storedAs}, which a dropped one is`);
      this.#tables.set(change.table, { ...change, name: change.table, storedAs });
      return;
    }
    if (table?.storedAs !== storedAs) {
      violation(`${change.kind} of no table ${change.table} stored as ${storedAs}`);
      return;
    }
    if (change.kind === 'table.drop') {
      this.#tables.delete(change.table);
      this.#dropped.add(storedAs);
      return;
    }
    const count = this.#applyRow(storedAs, change);
    if (count !== change.rowCount) violation(`${count} rows where ${change.rowCount} are counted`);
    const updatedAtMs = change.kind === 'row.put' ? change.updatedAtMs : change.atMs;
    this.#tables.set(change.table, { ...table, rowCount: change.rowCount, updatedAtMs });
  }

  #applyRow(storedAs: string, change: Extract<Change, { kind: 'row.put' | 'row.delete' }>): number {
    const { rows, index } = this.#of(storedAs);
    if (change.kind === 'row.delete') {
      rows.delete(change.rowId);
      index.delete(change.rowId);
    } else {
      rows.set(change.rowId, change);
      index.set(change.rowId, change.indexed);
    }
    return rows.size;
  }

  #of(storedAs: string): Rows {
    const there = this.#rows.get(storedAs);
    if (there !== undefined) return there;
    const made = { rows: new Map(), index: new Map() };
    this.#rows.set(storedAs, made);
    return made;
  }
}
