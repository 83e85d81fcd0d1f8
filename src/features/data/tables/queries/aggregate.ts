/** Counts, distinct values and aggregates over the rows of a table. */
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { Metric } from '../../../../../protocol/data/table-queries.ts';
import type { Sql } from '../../../../storage/sql.ts';
import { fieldSql } from './field-sql.ts';
import { type Filter, parsePath } from './filter.ts';
import { rowsWhere, type TableScope } from './filter-sql.ts';
import { valueKeys } from './sort.ts';
import { Statement } from './statement.ts';

export const TOO_MANY_VALUES = `The field has more than ${LIMITS.distinctValuesMax} distinct values.`;
export const TOO_MANY_GROUPS = `There are more than ${LIMITS.aggregateGroupsMax} groups.`;

function onSql(sql: Sql) {
  return (statement: Statement, text: string) => statement.run<BoundedRow>(sql, text);
}

export async function countRows(sql: Sql, scope: TableScope, filter: Filter): Promise<number> {
  const statement = new Statement();
  const where = rowsWhere(scope, filter, statement);
  const [row] = await statement.run<{ count: number }>(sql, `select count(*) as count from table_row r where ${where}`);
  return row?.count ?? 0;
}

/** The distinct values of a field in sort order, including null if a row has it. Throws TOO_MANY_ROWS. */
export async function distinctValues(sql: Sql, scope: TableScope, filter: Filter, field: string): Promise<unknown[]> {
  const statement = new Statement();
  const { json } = fieldSql(parsePath(field, 'field', 'INVALID_REQUEST'), statement);
  const where = rowsWhere(scope, filter, statement);
  const inner = `
    select d.value::text as body from (select distinct ${json} as value from table_row r where ${where}) d
    where d.value is not null
    order by ${valueOrder()} limit ${statement.param(LIMITS.distinctValuesMax + 1, 'bigint')}`;
  return bounded(onSql(sql), statement, inner, LIMITS.distinctValuesMax, TOO_MANY_VALUES);
}

export interface Grouping {
  readonly groupBy: readonly string[];
  readonly metrics: readonly Metric[];
}

/**
 * Returns one object for each group, in the sort order of the fields it is grouped by; a missing field is grouped as null.
 * `count` counts rows, or rows with a value other than null in the field. `sum` and `avg` take numbers only; `sum` without numbers is 0.
 * `min` and `max` compare booleans, numbers and strings in sort order. A result without values is null.
 * Throws TOO_MANY_ROWS, and INVALID_REQUEST if two results have the same name.
 */
export async function aggregateRows(
  sql: Sql,
  scope: TableScope,
  filter: Filter,
  { groupBy, metrics }: Grouping,
): Promise<Record<string, unknown>[]> {
  const names = resultNames(groupBy, metrics);
  const statement = new Statement();
  const groups = groupBy.map(
    (field, at) => `coalesce(${fieldSql(parsePath(field, `groupBy.${at}`, 'INVALID_REQUEST'), statement).json}, 'null') as g${at}`,
  );
  const results = metrics.map((metric, at) => metricSql(metric, at, statement));
  const where = rowsWhere(scope, filter, statement);
  const keys = groupBy.map((_, at) => `g${at}`);
  const columns = [...groups, ...results.map(({ input }) => input)].join(', ');
  const inner = `
    select jsonb_build_array(${[...keys, ...results.map(({ output }) => output)].join(', ')})::text as body
    from (select ${columns} from table_row r where ${where}) v
    ${keys.length === 0 ? '' : `group by ${keys.join(', ')} order by ${groupOrder(keys)}`}
    limit ${statement.param(LIMITS.aggregateGroupsMax + 1, 'bigint')}`;
  const rows = await bounded(onSql(sql), statement, inner, LIMITS.aggregateGroupsMax, TOO_MANY_GROUPS);
  return rows.map((values) => objectOf(names, values as unknown[]));
}

/** The sort order of groups by their fields. */
export function groupOrder(keys: readonly string[]): string {
  const order = keys.flatMap((g) => [
    ...valueKeys({ json: g, text: `(${g} #>> '{}')`, type: `jsonb_typeof(${g})` }).map((key) => key.sql),
    g,
  ]);
  return order.join(', ');
}

/** Distinct values in sort order, of `d.value`. */
export function valueOrder(): string {
  const order = valueKeys({ json: 'd.value', text: "(d.value #>> '{}')", type: 'jsonb_typeof(d.value)' });
  return `${order.map((key) => key.sql).join(', ')}, d.value`;
}

/** A column of the inner select, and the aggregate over it. */
function metricSql({ fn, field }: Metric, at: number, statement: Statement): { readonly input: string; readonly output: string } {
  if (field === undefined) return { input: `null as m${at}`, output: 'to_jsonb(count(*))' };
  const { json } = fieldSql(parsePath(field, `metrics.${at}.field`, 'INVALID_REQUEST'), statement);
  const value = `m${at}`;
  const type = `jsonb_typeof(${value})`;
  const number = `(case ${type} when 'number' then ${value}::numeric end)`;
  const text = `((case ${type} when 'string' then ${value} #>> '{}' end) collate "C")`;
  const boolean = `(case ${type} when 'boolean' then ${value}::boolean end)`;
  return { input: `${json} as m${at}`, output: outputs()[fn] };

  function outputs(): Record<Metric['fn'], string> {
    return {
      count: `to_jsonb(count(nullif(${value}, 'null'::jsonb)))`,
      sum: `to_jsonb(coalesce(sum(${number}), 0))`,
      avg: `to_jsonb(avg(${number}))`,
      min: `coalesce(to_jsonb(bool_and(${boolean})), to_jsonb(min(${number})), to_jsonb(min(${text})))`,
      max: `coalesce(to_jsonb(max(${text})), to_jsonb(max(${number})), to_jsonb(bool_or(${boolean})))`,
    };
  }
}

export function resultNames(groupBy: readonly string[], metrics: readonly Metric[]): string[] {
  const names = [...groupBy, ...metrics.map(({ fn, field, as }) => as ?? (field === undefined ? fn : `${fn}_${field}`))];
  const twice = names.findIndex((name, at) => names.indexOf(name) !== at);
  if (twice < 0) return names;
  const param = twice < groupBy.length ? `groupBy.${twice}` : `metrics.${twice - groupBy.length}.as`;
  throw new Failure('INVALID_REQUEST', { message: `${param}: is already the name of another result.`, param });
}

export function objectOf(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const object = Object.create(null) as Record<string, unknown>;
  // A sum of doubles may overflow to infinity, which JSON cannot hold.
  for (const [at, name] of names.entries())
    object[name] = typeof values[at] === 'number' && !Number.isFinite(values[at]) ? null : values[at];
  return object;
}

export interface BoundedRow {
  readonly body: string;
  readonly found: number;
}

/** The parsed `body` of each row. Throws TOO_MANY_ROWS if there are more than `rowsMax`, or if they have too many bytes in total. */
export async function bounded(
  run: (statement: Statement, text: string) => Promise<readonly BoundedRow[]>,
  statement: Statement,
  inner: string,
  rowsMax: number,
  message: string,
): Promise<unknown[]> {
  const rows = await run(
    statement,
    `select b.body, b.found from (
      select a.body, (count(*) over ())::integer as found,
        sum(octet_length(a.body)) over (rows unbounded preceding) as bytes
      from (${inner}) a
    ) b where b.bytes <= ${statement.param(LIMITS.rowsPageBytesMax, 'bigint')}`,
  );
  const found = rows[0]?.found ?? 0;
  if (found > rowsMax) throw new Failure('TOO_MANY_ROWS', { message });
  if (found > rows.length) throw new Failure('TOO_MANY_ROWS', { message: `The result has more than ${LIMITS.rowsPageBytesMax} bytes.` });
  return rows.map(({ body }) => JSON.parse(body));
}
