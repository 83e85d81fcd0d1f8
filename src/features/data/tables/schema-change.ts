/** Sets the schema of a table: its rows are checked and indexed while nothing else can write them. */
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { StoredRow } from '../../../../actors/tables/changes.ts';
import { HeldOperation } from '../../../../actors/tables/held-table.ts';
import type { Table } from '../../../../actors/tables/table.ts';
import type { RowWrite } from '../../../../actors/tables/table-operations.ts';
import type { TablesPart } from '../../../../actors/tables/tables-part.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { TableColumn, TableSchema } from '../../../../protocol/data/tables.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Sql } from '../../../storage/sql.ts';
import type { Queries } from '../../deps.ts';
import {
  deleteColumnIndexes,
  type IndexEntry,
  insertIndexEntries,
  isOwnerEpoch,
  lockTable,
  readRowColumns,
  type StoredTable,
} from './rows.ts';
import { columnsToIndex, NO_SCHEMA, SchemaCheck } from './rules.ts';

const BATCH_ROWS = 500;

/** Quotes included. */
export function schemaEtag(schema: TableSchema): string {
  return bodyEtag(schema);
}

/** Returns whether the table is new. Throws VERSION_CONFLICT, TABLE_LIMIT_EXCEEDED, and INVALID_REQUEST naming rows and columns that do not fit. */
export class ChangeSchema extends HeldOperation<void, boolean> {
  readonly #sql: Sql;
  readonly #schema: TableSchema;
  readonly #options: RowWrite;

  constructor(sql: Sql, table: string, schema: TableSchema, options: RowWrite) {
    super(table);
    this.#sql = sql;
    this.#schema = schema;
    this.#options = options;
  }

  /**
   * Fills the index before the turn. Until the turn's change is committed, no schema calls these columns indexed, so nothing reads the
   * entries; if the turn fails, the next schema that indexes the column deletes them first.
   */
  protected async look(tables: TablesPart, table: Table): Promise<void> {
    // Checked here to avoid reading all rows in vain; the turn checks again, and that check decides.
    this.#admit(table);
    if (table.rowCount === 0) return;
    const added = columnsToIndex(table.schema, this.#schema);
    const stored = { artifactId: tables.artifactId, storedAs: table.storedAs };
    await this.#sql.begin(async (tx) => {
      await clearIndexes(tx, stored, tables.epoch, added);
      await checkRows(tx, stored, this.#schema, added);
    });
  }

  protected turn(tables: TablesPart, table: Table | undefined): boolean {
    this.#admit(table);
    tables.admit(this.name, 0);
    tables.putSchema(this.name, this.#schema);
    return table === undefined;
  }

  #admit(table: Table | undefined): void {
    if (table !== undefined) this.#options.mayWrite(table);
    checkConditions(table && { etag: schemaEtag(table.schema ?? NO_SCHEMA) }, this.#options);
  }
}

/** Deletes the columns' index entries, once no previous owner of the artifact can still be filling them. Throws OWNER_MOVED. */
async function clearIndexes(tx: Queries, table: StoredTable, epoch: number, added: readonly TableColumn[]): Promise<void> {
  await lockTable(tx, table);
  if (!(await isOwnerEpoch(tx, table.artifactId, epoch))) throw new Failure('OWNER_MOVED', { retryAfterS: 1 });
  if (added.length === 0) return;
  const names = added.map(({ name }) => name);
  await deleteColumnIndexes(tx, table, names);
}

/** Reads the schema's columns of all rows in batches, and fills the index of the added ones. */
async function checkRows(tx: Queries, table: StoredTable, schema: TableSchema, added: readonly TableColumn[]): Promise<void> {
  const columns = schema.columns.map(({ name }) => name);
  const check = new SchemaCheck(schema);
  const addedNames = new Set(added.map(({ name }) => name));
  let after = 0;
  for (;;) {
    const rows = await readRowColumns(tx, table, { after, columns, limit: BATCH_ROWS });
    const entries = rows.flatMap((row) => indexEntries(check, row, addedNames));
    if (addedNames.size > 0) await insertIndexEntries(tx, table, entries);
    after = rows.at(-1)?.createdSeq ?? after;
    if (rows.length < BATCH_ROWS) break;
  }
  check.refuse();
}

function indexEntries(
  check: SchemaCheck,
  { rowId, createdSeq, data }: Pick<StoredRow, 'rowId' | 'createdSeq' | 'data'>,
  columns: ReadonlySet<string>,
): IndexEntry[] {
  return check
    .row(rowId, JSON.parse(data))
    .filter(([column]) => columns.has(column))
    .map(([column, value]) => ({ rowId, createdSeq, column, value }));
}
