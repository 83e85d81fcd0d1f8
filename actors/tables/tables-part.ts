/** Tables: the part of an artifact that holds named tables of rows. The rows live in the store. Source: contract.md §5. */
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type TableSchema, tableSchema } from '../../protocol/data/tables.ts';
import type { Ledger } from '../runtime/live-kind.ts';
import type { Clock } from '../runtime/ports.ts';
import type { StoredRow, StoredTable, TableChange, TableReads } from './changes.ts';
import type { Indexed } from './row-fields.ts';
import { type ReadMark, Table } from './table.ts';

/** What this part needs of its actor. */
export interface TablesLedger extends Ledger<TableChange> {
  readonly epoch: number;
  /** Settles when everything that is pending now is committed, or when it never will be. */
  settled(): Promise<void>;
}

export interface TablesDeps {
  readonly ledger: TablesLedger;
  readonly clock: Clock;
  readonly store: TableReads;
}

export interface TableInfo {
  readonly name: string;
  readonly rowCount: number;
}

/** A row as a turn leaves it: made, changed or (`after` null) deleted. */
export type RowChange =
  | {
      readonly rowId: string;
      readonly before: StoredRow | undefined;
      readonly after: { readonly data: string; readonly indexed: Indexed };
    }
  | { readonly rowId: string; readonly before: StoredRow; readonly after: null };

const PART_BYTES = 200;

export class TablesPart {
  readonly store: TableReads;
  readonly #ledger: TablesLedger;
  readonly #clock: Clock;
  /** Rows of dropped tables may still be in the store, each under a name that no table may take from then on. */
  #hasDropped = false;
  /** Made with the first table: most artifacts have none. */
  #tables: Map<string, Table> | undefined;

  constructor(deps: TablesDeps) {
    this.#ledger = deps.ledger;
    this.#clock = deps.clock;
    this.store = deps.store;
  }

  /** `hasDropped`: whether the store still has something of dropped tables. */
  restore(tables: readonly StoredTable[], hasDropped: boolean): void {
    this.#hasDropped = hasDropped;
    for (const stored of tables) {
      const schema = stored.schema === null ? null : tableSchema.parse(JSON.parse(stored.schema));
      this.#add(new Table({ ...stored, schema }));
    }
  }

  /** An estimate from above, in bytes of memory. */
  get residentBytes(): number {
    let bytes = PART_BYTES;
    if (this.#tables !== undefined) for (const table of this.#tables.values()) bytes += table.residentBytes;
    return bytes;
  }

  get artifactId() {
    return this.#ledger.id;
  }

  get epoch(): number {
    return this.#ledger.epoch;
  }

  /** In the order of their names. */
  list(): TableInfo[] {
    const tables = [...(this.#tables?.values() ?? [])].map(({ name, rowCount }) => ({ name, rowCount }));
    return tables.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): Table | undefined {
    return this.#tables?.get(name);
  }

  /** Throws TABLE_NOT_FOUND. */
  get(name: string): Table {
    const table = this.find(name);
    if (table === undefined) throw new Failure('TABLE_NOT_FOUND', { param: 'table' });
    return table;
  }

  /** Settles when everything that is pending now is committed, or when it never will be. */
  settled(): Promise<void> {
    return this.#ledger.settled();
  }

  /** Takes work out of the budget of the turn. Throws REQUEST_TOO_EXPENSIVE. */
  spend(bytes: number, operation: string, param?: string): void {
    this.#ledger.spend(bytes, operation, param);
  }

  beginRead(table: Table): ReadMark {
    return table.beginRead(this.#ledger.committedSeq);
  }

  /** Called after a commit. */
  trim(): void {
    if (this.#tables !== undefined) for (const table of this.#tables.values()) table.trim(this.#ledger.committedSeq);
  }

  /** Throws UNAVAILABLE, TABLE_LIMIT_EXCEEDED where the table is new, ROW_LIMIT_EXCEEDED. Call before the first change of a turn. */
  admit(name: string, newRows: number): void {
    const table = this.find(name);
    if (table === undefined && (this.#tables?.size ?? 0) >= LIMITS.tablesMax) throw new Failure('TABLE_LIMIT_EXCEEDED', { param: 'table' });
    if ((table?.rowCount ?? 0) + newRows > LIMITS.tableRowsMax) throw new Failure('ROW_LIMIT_EXCEEDED');
    table?.admit();
    this.#ledger.admit();
  }

  /** The table of that name, made where there is none. After `admit`. */
  open(name: string): Table {
    return this.find(name) ?? this.#create(name, null);
  }

  /** Gives a table a schema, or a name to a new one. Nothing of the table may be uncommitted. After `admit`. */
  putSchema(name: string, schema: TableSchema): void {
    const table = this.find(name);
    if (table === undefined) {
      this.#create(name, schema);
      return;
    }
    const updatedAtMs = this.#nextTimeMs(table);
    const seq = this.#ledger.seq + 1;
    const { createdAtMs, rowCount, storedAs } = table;
    const text = JSON.stringify(schema);
    this.#ledger.record({ seq, kind: 'table.put', table: name, storedAs, schema: text, rowCount, createdAtMs, updatedAtMs });
    table.reshape(schema, seq, updatedAtMs);
  }

  /** Takes the table away at once; the store removes its rows when it has time for it. Throws TABLE_NOT_FOUND. */
  drop(name: string): void {
    const table = this.get(name);
    this.admit(name, 0);
    const seq = this.#ledger.seq + 1;
    this.#ledger.record({ seq, kind: 'table.drop', table: name, storedAs: table.storedAs, atMs: this.#nextTimeMs(table) });
    this.#tables?.delete(name);
    this.#hasDropped = true;
  }

  /** Makes the changes, all at one time, and answers the rows that are left of them, in the same order. After `admit`; must not fail. */
  change(table: Table, changes: readonly RowChange[]): StoredRow[] {
    // One clock for all rows of a table, so that the time of a row that was there before rises.
    const isNew = changes.every(({ before }) => before === undefined);
    const atMs = isNew ? Math.max(this.#clock.nowMs(), table.updatedAtMs) : this.#nextTimeMs(table);
    const rows: StoredRow[] = [];
    const { name, storedAs } = table;
    for (const change of changes) {
      const { rowId, before } = change;
      const seq = this.#ledger.seq + 1;
      if (change.after === null) {
        table.rowCount -= 1;
        const { createdSeq } = change.before;
        this.#ledger.record({ seq, kind: 'row.delete', table: name, storedAs, rowId, createdSeq, rowCount: table.rowCount, atMs });
        table.delete(rowId, seq);
        continue;
      }
      if (before === undefined) table.rowCount += 1;
      const { data, indexed } = change.after;
      const row = { rowId, data, seq, createdSeq: before?.createdSeq ?? seq, createdAtMs: before?.createdAtMs ?? atMs, updatedAtMs: atMs };
      this.#ledger.record({ ...row, kind: 'row.put', table: name, storedAs, rowCount: table.rowCount, indexed });
      table.put(row, indexed);
      rows.push(row);
    }
    table.updatedAtMs = atMs;
    table.trim(this.#ledger.committedSeq);
    return rows;
  }

  #create(name: string, schema: TableSchema | null): Table {
    const createdAtMs = this.#clock.nowMs();
    const seq = this.#ledger.seq + 1;
    const text = schema === null ? null : JSON.stringify(schema);
    // No name of a table has the sign, and no two changes the number.
    const storedAs = this.#hasDropped ? `${name}~${seq.toString(36)}` : name;
    const times = { createdAtMs, updatedAtMs: createdAtMs };
    this.#ledger.record({ seq, kind: 'table.put', table: name, storedAs, schema: text, rowCount: 0, ...times });
    return this.#add(new Table({ name, storedAs, schema, rowCount: 0, seq, ...times }));
  }

  #add(table: Table): Table {
    this.#tables ??= new Map();
    this.#tables.set(table.name, table);
    return table;
  }

  /** After everything that the table has. */
  #nextTimeMs(table: Table): number {
    return Math.max(this.#clock.nowMs(), table.updatedAtMs + 1);
  }
}
