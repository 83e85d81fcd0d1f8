/** Pure decisions about tables: who may write or drop one, which bodies are rows, and whether stored rows fit a schema. */
import type { Role } from '../../../../actors/access/access.ts';
import { fieldOf, type Indexed, indexedValues, type RowFields, schemaIssues } from '../../../../actors/tables/row-fields.ts';
import type { MayWrite } from '../../../../actors/tables/table-operations.ts';
import { Failure, type Issue } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { TableColumn, TableSchema } from '../../../../protocol/data/tables.ts';

/** The schema of a table that was never given one. */
export const NO_SCHEMA: TableSchema = { columns: [], write: 'any' };

/** Applies `write` of the table's schema; the edge has already checked the artifact's own rules. */
export function mayWriteAs(role: Role): MayWrite {
  return ({ schema }) => {
    const write = schema?.write ?? 'any';
    const isAllowed = write === 'any' || role === 'owner' || (write === 'collaborator' && role === 'editor');
    if (!isAllowed) {
      const who = write === 'owner' ? 'the owner' : 'the owner and editors';
      throw new Failure('FORBIDDEN', { message: `Only ${who} may write this table.`, param: 'table' });
    }
  };
}

/** Dropping a table takes more than the right to write its rows. Throws FORBIDDEN. */
export function assertMayDrop(role: Role): void {
  if (role !== 'owner' && role !== 'editor') {
    throw new Failure('FORBIDDEN', { message: 'Only the owner and editors may drop a table.' });
  }
}

/** Reads one row, an array of rows, or `{rows: [...]}` without other members. Throws INVALID_REQUEST. */
export function rowsOfBody(body: unknown): { readonly rows: readonly RowFields[]; readonly isMany: boolean } {
  const list = Array.isArray(body) ? body : listOf(objectOf(body, ''));
  if (list === undefined) return { rows: [body as RowFields], isMany: false };
  if (list.length === 0) throw invalid('rows', 'must have at least one row');
  if (list.length > LIMITS.insertRowsMax) throw invalid('rows', `must have at most ${LIMITS.insertRowsMax} rows`);
  return { rows: list.map((row, index) => objectOf(row, `rows.${index}`)), isMany: true };
}

function listOf(body: RowFields): readonly unknown[] | undefined {
  const names = Object.keys(body);
  return names.length === 1 && names[0] === 'rows' && Array.isArray(body.rows) ? body.rows : undefined;
}

/** Throws INVALID_REQUEST naming `where`; an empty `where` stands for the body. */
export function objectOf(value: unknown, where: string): RowFields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RowFields;
  throw invalid(where, 'must be an object');
}

/** A deletion needs a filter with at least one member: an empty one would delete every row. Throws INVALID_REQUEST. */
export function deletionFilter(filter: unknown): unknown {
  if (filter !== undefined && Object.keys(objectOf(filter, 'filter')).length > 0) return filter;
  throw new Failure('INVALID_REQUEST', {
    message: 'filter: must say which rows to delete.',
    hint: 'Send {"filter": {...}}, or ?confirm=true to drop the whole table.',
    param: 'filter',
  });
}

export function invalid(param: string, problem: string): Failure {
  return new Failure('INVALID_REQUEST', {
    message: `${param === '' ? 'The body' : param}: ${problem}.`,
    ...(param === '' ? {} : { param }),
  });
}

/** The columns of `next` that need an index and have none under `current`, or one with values of another type. */
export function columnsToIndex(current: TableSchema | null, next: TableSchema): readonly TableColumn[] {
  return next.columns.filter((column) => isIndexed(column) && !wasIndexed(current, column));
}

function isIndexed(column: TableColumn): boolean {
  return column.unique || column.indexed;
}

function wasIndexed(schema: TableSchema | null, { name, type }: TableColumn): boolean {
  return schema?.columns.some((column) => column.name === name && column.type === type && isIndexed(column)) ?? false;
}

/** More issues than anyone corrects at once are not collected. */
const ISSUES_MAX = 20;

/** Checks stored rows against a schema, one by one, and collects what does not fit. */
export class SchemaCheck {
  readonly #schema: TableSchema;
  readonly #issues: Issue[] = [];
  /** For each unique column, the row that holds each value. */
  readonly #holders = new Map<string, Map<unknown, string>>();

  constructor(schema: TableSchema) {
    this.#schema = schema;
    for (const { name, unique } of schema.columns) if (unique) this.#holders.set(name, new Map());
  }

  /** Returns the values to index. Throws INVALID_REQUEST when enough issues are collected. */
  row(rowId: string, fields: RowFields): Indexed {
    const issues = schemaIssues(this.#schema, fields, rowId);
    for (const [column, holders] of this.#holders) {
      const value = fieldOf(fields, column);
      if (value === undefined || value === null) continue;
      const holder = holders.get(value);
      if (holder === undefined) holders.set(value, rowId);
      else issues.push({ path: `${rowId}.${column}`, message: `must be unique, but row ${holder} has the same value` });
    }
    this.#issues.push(...issues);
    if (this.#issues.length >= ISSUES_MAX) this.refuse();
    return issues.length > 0 ? [] : indexedValues(this.#schema, fields);
  }

  /** Throws INVALID_REQUEST if there were any issues. */
  refuse(): void {
    const [first] = this.#issues;
    if (first === undefined) return;
    throw new Failure('INVALID_REQUEST', {
      message: `Stored rows do not fit the schema. ${first.path}: ${first.message}.`,
      hint: 'Change or delete the rows named in issues, or relax the columns.',
      param: first.path,
      issues: this.#issues.slice(0, ISSUES_MAX),
    });
  }
}
