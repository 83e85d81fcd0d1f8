/** Gives a table a schema: its rows are checked against it and put into the index while nobody else can write them. */
import { HeldOperation } from '../../../actors/held-table.ts';
import type { IndexedValue, StoredRow } from '../../../actors/ports.ts';
import { fieldOf, type Indexed, indexedValues, type RowFields, schemaIssues } from '../../../actors/row-fields.ts';
import type { Table } from '../../../actors/table.ts';
import type { MayWrite } from '../../../actors/table-operations.ts';
import type { TablesPart } from '../../../actors/tables-part.ts';
import { Failure, type Issue } from '../../../protocol/errors.ts';
import type { TableColumn, TableSchema } from '../../../protocol/schemas/table.ts';
import { kindOf } from '../../storage/journal-columns.ts';
import type { Sql } from '../../storage/sql.ts';
import type { Queries } from '../deps.ts';

const ROWS_AT_ONCE = 500;
// More than anybody corrects in one go.
const ISSUES_MAX = 20;

/** Answers whether the table is new. Throws INVALID_REQUEST naming rows and columns that do not agree, TABLE_LIMIT_EXCEEDED. */
export class ChangeSchema extends HeldOperation<void, boolean> {
  readonly #sql: Sql;
  readonly #schema: TableSchema;
  readonly #mayWrite: MayWrite;

  constructor(sql: Sql, table: string, schema: TableSchema, mayWrite: MayWrite) {
    super(table);
    this.#sql = sql;
    this.#schema = schema;
    this.#mayWrite = mayWrite;
  }

  /**
   * What it leaves in the index is of columns that no schema calls indexed until the turn's change is committed. Should that not happen,
   * nobody reads it, and the next schema to name the column empties it first.
   */
  protected async look(tables: TablesPart, table: Table): Promise<void> {
    if (table.rowCount === 0) return;
    const added = this.#schema.columns.filter((column) => isIndexed(column) && !wasIndexed(table.schema, column));
    await this.#sql.begin(async (tx) => {
      await takeTurn(tx, tables, table.storedAs, added);
      await checkRows(tx, tables, table, this.#schema, added);
    });
  }

  protected turn(tables: TablesPart, table: Table | undefined): boolean {
    if (table !== undefined) this.#mayWrite(table);
    tables.admit(this.name, 0);
    tables.putSchema(this.name, this.#schema);
    return table === undefined;
  }
}

function isIndexed(column: TableColumn): boolean {
  return column.unique || column.indexed;
}

/** In the index already, with values of the same type. */
function wasIndexed(schema: TableSchema | null, { name, type }: TableColumn): boolean {
  return schema?.columns.some((column) => column.name === name && column.type === type && isIndexed(column)) ?? false;
}

/** Empties the index of the columns, after anybody who filled it for a table that he no longer owns. Throws OWNER_MOVED. */
async function takeTurn(tx: Queries, tables: TablesPart, table: string, added: readonly TableColumn[]): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`${tables.artifactId}/${table}`}, 0))`;
  const [owner] = await tx`select 1 from artifact where id = ${tables.artifactId} and owner_epoch = ${tables.epoch}`;
  if (owner === undefined) throw new Failure('OWNER_MOVED', { retryAfterS: 1 });
  if (added.length === 0) return;
  await tx`
    delete from row_index
    where artifact_id = ${tables.artifactId} and table_name = ${table} and column_name = any(${added.map(({ name }) => name)}::text[])`;
}

/** Reads the rows in pieces, of their fields only the columns. */
async function checkRows(tx: Queries, tables: TablesPart, table: Table, schema: TableSchema, added: readonly TableColumn[]): Promise<void> {
  const names = schema.columns.map(({ name }) => name);
  const check = new SchemaCheck(schema);
  const inAdded = new Set(added.map(({ name }) => name));
  let after = 0;
  for (;;) {
    const rows = await tx<Pick<StoredRow, 'rowId' | 'data' | 'createdSeq'>[]>`
      select r.row_id as "rowId", r.created_seq as "createdSeq",
        coalesce((select jsonb_object_agg(n, r.data -> n) from unnest(${names}::text[]) as n where r.data ? n), '{}')::text as data
      from table_row r
      where r.artifact_id = ${tables.artifactId} and r.table_name = ${table.storedAs} and r.created_seq > ${after}
      order by r.created_seq limit ${ROWS_AT_ONCE}`;
    const indexed = rows.map(({ rowId, createdSeq, data }) => ({ rowId, createdSeq, values: check.row(rowId, JSON.parse(data)) }));
    if (inAdded.size > 0) await fillIndex(tx, tables, table.storedAs, indexed, inAdded);
    after = rows.at(-1)?.createdSeq ?? after;
    if (rows.length < ROWS_AT_ONCE) break;
  }
  check.refuse();
}

/** Collects what does not agree. */
class SchemaCheck {
  readonly #schema: TableSchema;
  readonly #issues: Issue[] = [];
  readonly #seen = new Map<string, Map<unknown, string>>();

  constructor(schema: TableSchema) {
    this.#schema = schema;
    for (const { name, unique } of schema.columns) if (unique) this.#seen.set(name, new Map());
  }

  /** Answers the values for the index. */
  row(rowId: string, fields: RowFields): Indexed {
    const issues = schemaIssues(this.#schema, fields, rowId);
    for (const [column, seen] of this.#seen) {
      const value = fieldOf(fields, column);
      if (value === undefined || value === null) continue;
      const holder = seen.get(value);
      if (holder === undefined) seen.set(value, rowId);
      else issues.push({ path: `${rowId}.${column}`, message: `is the same as in ${holder}, and the column is to be unique` });
    }
    this.#issues.push(...issues);
    if (this.#issues.length >= ISSUES_MAX) this.refuse();
    return issues.length > 0 ? [] : indexedValues(this.#schema, fields);
  }

  refuse(): void {
    const [first] = this.#issues;
    if (first === undefined) return;
    throw new Failure('INVALID_REQUEST', {
      message: `The rows that are there do not agree: ${first.path} ${first.message}`,
      hint: 'Change or delete the rows named, or ask less of the columns.',
      param: first.path,
      issues: this.#issues.slice(0, ISSUES_MAX),
    });
  }
}

async function fillIndex(
  tx: Queries,
  tables: TablesPart,
  table: string,
  rows: readonly { readonly rowId: string; readonly createdSeq: number; readonly values: Indexed }[],
  columns: ReadonlySet<string>,
): Promise<void> {
  const entries: { readonly rowId: string; readonly createdSeq: number; readonly column: string; readonly value: IndexedValue | null }[] =
    [];
  for (const { rowId, createdSeq, values } of rows)
    for (const [column, value] of values) if (columns.has(column)) entries.push({ rowId, createdSeq, column, value });
  await tx`
    insert into row_index (artifact_id, table_name, column_name, kind, num, txt, row_id, created_seq)
    select ${tables.artifactId}, ${table}, e.col, e.kind::"char", e.num, e.txt, e.row_id, e.created_seq
    from unnest(
      ${entries.map(({ rowId }) => rowId)}::text[], ${entries.map(({ column }) => column)}::text[],
      ${entries.map(({ value }) => kindOf(value))}::text[],
      ${entries.map(({ value }) => (typeof value === 'number' ? value : null))}::double precision[],
      ${entries.map(({ value }) => (typeof value === 'number' || value === null ? null : String(value)))}::text[],
      ${entries.map(({ createdSeq }) => createdSeq)}::bigint[]
    ) as e (row_id, col, kind, num, txt, created_seq)`;
}
