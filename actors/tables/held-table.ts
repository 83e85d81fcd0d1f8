/** Changes that read a whole table first: the table is locked for writes from that read to the turn. Readers do not wait. */
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { StoredRow } from './changes.ts';
import { ownFields, type RowFields } from './row-fields.ts';
import type { Table } from './table.ts';
import { Seat } from './table-access.ts';
import { type MayWrite, merged, readHolders, type TableOperation, uniqueColumns, valuesOf } from './table-operations.ts';
import { KnownRows, TablePlan } from './table-plan.ts';
import type { RowChange, TablesPart } from './tables-part.ts';

/** `look` sees every earlier change of the table, committed. It must terminate by itself, because writers wait for it. */
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

  /** Reads what `turn` needs from the committed table. */
  protected abstract look(tables: TablesPart, table: Table): Promise<L>;

  /** `seen` is there whenever `table` is. */
  protected abstract turn(tables: TablesPart, table: Table | undefined, seen: L | undefined): T;

  async #look(tables: TablesPart, table: Table): Promise<void> {
    await tables.settled();
    this.#seen = { table, look: await this.look(tables, table) };
  }
}

/** The rows that match a filter, as committed and in the order of their insertion, some at a time. What it reads ahead is bounded. */
export type ReadMatching = (tables: TablesPart, table: Table) => AsyncIterable<readonly StoredRow[]>;

/** Limits of one turn and one commit of a change of many rows: larger ones would delay other callers. */
export interface PieceBounds {
  readonly rowsMax: number;
  /** Limit on the total bytes of the rows' texts; a piece has at least one row. */
  readonly bytesMax: number;
}

// About ten milliseconds of the store: a concurrent caller waits for one piece and is committed with the next.
const PIECE: PieceBounds = { rowsMax: 100, bytesMax: 1024 * 1024 };

/**
 * Changes the rows that match, piece by piece: `run` is a turn for each until `isDone`, and answers how many rows it changed. Which rows
 * match, and that all of them may be changed, is settled before the first piece: the table is locked for writes until the last. If the actor
 * is replaced after the first piece, the rest is not done: UNAVAILABLE.
 */
abstract class ChangeMatching extends HeldOperation<readonly (readonly RowChange[])[], number> {
  readonly #mayWrite: MayWrite;
  readonly #bounds: PieceBounds;
  #pieces = 0;
  #done = 0;

  constructor(table: string, mayWrite: MayWrite, bounds: PieceBounds) {
    super(table);
    this.#mayWrite = mayWrite;
    this.#bounds = bounds;
  }

  get isDone(): boolean {
    return this.#done >= this.#pieces;
  }

  protected async look(tables: TablesPart, table: Table): Promise<readonly (readonly RowChange[])[]> {
    this.#requireFirst();
    this.#mayWrite(table);
    const pieces = piecesOf(await this.plan(tables, table), this.#bounds);
    this.#pieces = pieces.length;
    return pieces;
  }

  protected turn(tables: TablesPart, there: Table | undefined, pieces: readonly (readonly RowChange[])[] | undefined): number {
    if (there === undefined) {
      this.#requireFirst();
      // No row matches in a missing table. Pieces of an earlier look are dropped, because the table may have been dropped since.
      this.#pieces = 0;
      return 0;
    }
    const piece = pieces?.[this.#done];
    if (piece === undefined) return 0;
    // Refused as a whole or not at all; the pieces that follow wait for each other, so that there is never more than one of them to store.
    if (this.#done === 0) tables.admit(this.name, 0);
    tables.change(there, piece);
    this.#done += 1;
    return piece.length;
  }

  /** All changes, every one of which can be made. */
  protected abstract plan(tables: TablesPart, table: Table): Promise<readonly RowChange[]>;

  #requireFirst(): void {
    if (this.#done === 0) return;
    throw new Failure('UNAVAILABLE', {
      message: 'Only the first of the rows that match could be changed. Ask again for the rest.',
      retryAfterS: 1,
    });
  }
}

/** Changes the rows that match, each by the same merge patch. */
export class PatchMatching extends ChangeMatching {
  readonly #matching: ReadMatching;
  readonly #changes: RowFields;
  readonly #known = new KnownRows();

  constructor(table: string, matching: ReadMatching, changes: RowFields, mayWrite: MayWrite, bounds = PIECE) {
    super(table, mayWrite, bounds);
    this.#matching = matching;
    this.#changes = ownFields(changes);
  }

  override close(): void {
    super.close();
    this.#known.close();
  }

  protected async plan(tables: TablesPart, table: Table): Promise<readonly RowChange[]> {
    const columns = uniqueColumns(table).filter((column) => Object.hasOwn(this.#changes, column));
    await this.#known.read(tables, table, () =>
      Promise.all(columns.map((column) => readHolders(tables, table, column, valuesOf([this.#changes], column)))),
    );
    const plan = new TablePlan(table, this.#known);
    for await (const rows of upToMax(this.#matching(tables, table))) {
      this.#known.add(rows);
      for (const row of rows) plan.put(row.rowId, merged(JSON.parse(row.data), this.#changes), row.rowId);
    }
    plan.refuse();
    return plan.changes();
  }
}

/** Deletes the rows that match. */
export class DeleteMatching extends ChangeMatching {
  readonly #matching: ReadMatching;

  constructor(table: string, matching: ReadMatching, mayWrite: MayWrite, bounds = PIECE) {
    super(table, mayWrite, bounds);
    this.#matching = matching;
  }

  protected async plan(tables: TablesPart, table: Table): Promise<readonly RowChange[]> {
    const changes: RowChange[] = [];
    for await (const rows of upToMax(this.#matching(tables, table))) {
      for (const row of rows) changes.push({ rowId: row.rowId, before: row, after: null });
    }
    return changes;
  }
}

/** Throws TOO_MANY_ROWS. */
async function* upToMax(pages: AsyncIterable<readonly StoredRow[]>): AsyncGenerator<readonly StoredRow[]> {
  let count = 0;
  for await (const rows of pages) {
    count += rows.length;
    if (count > LIMITS.rowsByFilterMax) {
      throw new Failure('TOO_MANY_ROWS', { message: `The filter matches more than ${LIMITS.rowsByFilterMax} rows.`, param: 'filter' });
    }
    yield rows;
  }
}

function piecesOf(changes: readonly RowChange[], { rowsMax, bytesMax }: PieceBounds): RowChange[][] {
  const pieces: RowChange[][] = [];
  let piece: RowChange[] = [];
  let bytes = 0;
  for (const change of changes) {
    const size = change.after?.data.length ?? 0;
    if (piece.length === 0 || piece.length === rowsMax || bytes + size > bytesMax) {
      piece = [];
      bytes = 0;
      pieces.push(piece);
    }
    piece.push(change);
    bytes += size;
  }
  return pieces;
}
