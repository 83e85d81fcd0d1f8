/** Tables and rows in the group commit: their state after a batch. */
import type { ChangeOf } from '../../../../actors/kinds.ts';
import type { IndexedValue } from '../../../../actors/tables/changes.ts';
import type { Graves } from '../live-kind.ts';

type TableChange = ChangeOf<'tables'>;
type Of<Kind extends TableChange['kind']> = Extract<TableChange, { readonly kind: Kind }>;
type RowChange = Of<'row.put'> | Of<'row.delete'>;

/** The state of a table after one batch. Changes before a drop are discarded; `drop` removes the stored rows. */
interface TableEnd {
  drop: Of<'table.drop'> | undefined;
  /** Drops before that one. */
  readonly drops: readonly Of<'table.drop'>[];
  put: Of<'table.put'> | undefined;
  /** The last change of each row. */
  readonly rows: Map<string, RowChange>;
  lastRow: RowChange | undefined;
}

export class TableColumns {
  readonly #graves: Graves;
  readonly tablePuts = {
    artifacts: [] as number[],
    names: [] as string[],
    storedAs: [] as (string | null)[],
    schemas: [] as (string | null)[],
    counts: [] as number[],
    seqs: [] as number[],
    created: [] as number[],
    updated: [] as number[],
  };
  /** Tables of which only rows have changed. */
  readonly tableCounts = { artifacts: [] as number[], names: [] as string[], counts: [] as number[], updated: [] as number[] };
  readonly tableDrops = { artifacts: [] as number[], names: [] as string[], stays: [] as boolean[] };
  /** Under which dropped tables may have left rows. */
  readonly rowsLeft = { artifacts: [] as number[], storedAs: [] as string[], times: [] as number[] };
  readonly rowPuts = {
    artifacts: [] as number[],
    tables: [] as string[],
    ids: [] as string[],
    data: [] as string[],
    createdSeqs: [] as number[],
    seqs: [] as number[],
    created: [] as number[],
    updated: [] as number[],
  };
  readonly rowDeletes = { artifacts: [] as number[], tables: [] as string[], ids: [] as string[], createdSeqs: [] as number[] };
  readonly indexPuts = {
    artifacts: [] as number[],
    tables: [] as string[],
    ids: [] as string[],
    createdSeqs: [] as number[],
    columns: [] as string[],
    kinds: [] as string[],
    numbers: [] as (number | null)[],
    texts: [] as (string | null)[],
  };
  /** Rows that may have had other values in the index. */
  readonly reindexed = { artifacts: [] as number[], tables: [] as string[], ids: [] as string[] };

  constructor(graves: Graves) {
    this.#graves = graves;
  }

  add(artifact: number, changes: readonly TableChange[]): void {
    const tables = new Map<string, TableEnd>();
    for (const change of changes) changeTable(tables, change);
    for (const [name, end] of tables) this.#addTable(artifact, name, end);
  }

  #addTable(artifact: number, name: string, { drop, drops, put, rows, lastRow }: TableEnd): void {
    if (drop !== undefined) {
      for (const { storedAs, atMs } of [...drops, drop]) {
        this.rowsLeft.artifacts.push(artifact);
        this.rowsLeft.storedAs.push(storedAs ?? name);
        this.rowsLeft.times.push(atMs);
      }
      this.tableDrops.artifacts.push(artifact);
      this.tableDrops.names.push(name);
      this.tableDrops.stays.push(put !== undefined);
      this.#graves.bury(artifact, drop, name, null);
    }
    if (put !== undefined) {
      const { tablePuts } = this;
      tablePuts.artifacts.push(artifact);
      tablePuts.names.push(name);
      tablePuts.storedAs.push(put.storedAs === name ? null : (put.storedAs ?? null));
      tablePuts.schemas.push(put.schema);
      tablePuts.counts.push(lastRow?.rowCount ?? put.rowCount);
      tablePuts.seqs.push(put.seq);
      tablePuts.created.push(put.createdAtMs);
      tablePuts.updated.push(lastRow === undefined ? put.updatedAtMs : timeOf(lastRow));
    } else if (lastRow !== undefined) {
      this.tableCounts.artifacts.push(artifact);
      this.tableCounts.names.push(name);
      this.tableCounts.counts.push(lastRow.rowCount);
      this.tableCounts.updated.push(timeOf(lastRow));
    }
    for (const change of rows.values()) this.#addRow(artifact, change);
  }

  #addRow(artifact: number, change: RowChange): void {
    const isNew = change.kind === 'row.put' && change.createdSeq === change.seq;
    if (!isNew) {
      this.reindexed.artifacts.push(artifact);
      this.reindexed.tables.push(change.storedAs ?? change.table);
      this.reindexed.ids.push(change.rowId);
    }
    if (change.kind === 'row.delete') {
      this.rowDeletes.artifacts.push(artifact);
      this.rowDeletes.tables.push(change.storedAs ?? change.table);
      this.rowDeletes.ids.push(change.rowId);
      this.rowDeletes.createdSeqs.push(change.createdSeq);
      this.#graves.bury(artifact, change, change.table, change.rowId);
      return;
    }
    const { rowPuts } = this;
    rowPuts.artifacts.push(artifact);
    rowPuts.tables.push(change.storedAs ?? change.table);
    rowPuts.ids.push(change.rowId);
    rowPuts.data.push(change.data);
    rowPuts.createdSeqs.push(change.createdSeq);
    rowPuts.seqs.push(change.seq);
    rowPuts.created.push(change.createdAtMs);
    rowPuts.updated.push(change.updatedAtMs);
    for (const [column, value] of change.indexed) this.#addIndexed(artifact, change, column, value);
  }

  #addIndexed(artifact: number, { table, storedAs, rowId, createdSeq }: Of<'row.put'>, column: string, value: IndexedValue | null): void {
    const { indexPuts } = this;
    indexPuts.artifacts.push(artifact);
    indexPuts.tables.push(storedAs ?? table);
    indexPuts.ids.push(rowId);
    indexPuts.createdSeqs.push(createdSeq);
    indexPuts.columns.push(column);
    indexPuts.kinds.push(kindOf(value));
    indexPuts.numbers.push(typeof value === 'number' ? value : null);
    indexPuts.texts.push(typeof value === 'number' || value === null ? null : String(value));
  }
}

function changeTable(tables: Map<string, TableEnd>, change: TableChange): void {
  let end = tables.get(change.table);
  if (end === undefined || change.kind === 'table.drop') {
    const drops = end?.drop === undefined ? [] : [...end.drops, end.drop];
    end = { drop: change.kind === 'table.drop' ? change : undefined, drops, put: undefined, rows: new Map(), lastRow: undefined };
    tables.set(change.table, end);
  }
  switch (change.kind) {
    case 'table.drop':
      return;
    case 'table.put':
      end.put = change;
      return;
    case 'row.put':
    case 'row.delete':
      end.rows.set(change.rowId, change);
      end.lastRow = change;
      return;
    default:
      change satisfies never;
  }
}

function timeOf(change: RowChange): number {
  return change.kind === 'row.put' ? change.updatedAtMs : change.atMs;
}

/** As `row_index.kind` has it. */
export function kindOf(value: IndexedValue | null): 'n' | 's' | 'b' | 'z' {
  if (value === null) return 'z';
  if (typeof value === 'number') return 'n';
  return typeof value === 'string' ? 's' : 'b';
}
