/** What is asked of many rows at once: how many, which values, what sums. */
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Metric } from '../../../protocol/schemas/table-query.ts';
import type { Sql } from '../../storage/sql.ts';
import { fieldSql } from './field-sql.ts';
import { type Filter, parsePath } from './filter.ts';
import { rowsWhere, type TableScope } from './filter-sql.ts';
import { valueKeys } from './sort.ts';
import { Statement } from './statement.ts';

export async function countRows(sql: Sql, scope: TableScope, filter: Filter): Promise<number> {
  const statement = new Statement();
  const where = rowsWhere(scope, filter, statement);
  const [row] = await statement.run<{ count: number }>(sql, `select count(*) as count from table_row r where ${where}`);
  return row?.count ?? 0;
}

/** The different values of a field in the order of values, null among them where a row holds it. Throws TOO_MANY_ROWS. */
export async function distinctValues(sql: Sql, scope: TableScope, filter: Filter, field: string): Promise<unknown[]> {
  const statement = new Statement();
  const { json } = fieldSql(parsePath(field, 'field', 'INVALID_REQUEST'), statement);
  const where = rowsWhere(scope, filter, statement);
  const order = valueKeys({ json: 'd.value', text: "(d.value #>> '{}')", type: 'jsonb_typeof(d.value)' });
  const inner = `
    select d.value::text as body from (select distinct ${json} as value from table_row r where ${where}) d
    where d.value is not null
    order by ${order.map((key) => key.sql).join(', ')}, d.value limit ${statement.param(LIMITS.distinctValuesMax + 1, 'bigint')}`;
  return bounded(sql, statement, inner, LIMITS.distinctValuesMax, `The field has more than ${LIMITS.distinctValuesMax} different values.`);
}

export interface Grouping {
  readonly groupBy: readonly string[];
  readonly metrics: readonly Metric[];
}

/**
 * One object a group, in the order of the values it was grouped by; what is missing counts as null there.
 * `count` counts rows, or those that have something but null in the field. `sum` and `avg` take numbers only, `sum` of none is 0.
 * `min` and `max` go by the order of values among booleans, numbers and texts. What there is none of is null.
 * Throws TOO_MANY_ROWS, and INVALID_REQUEST where two results would have one name.
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
  const order = keys.flatMap((g) => [
    ...valueKeys({ json: g, text: `(${g} #>> '{}')`, type: `jsonb_typeof(${g})` }).map((key) => key.sql),
    g,
  ]);
  const columns = [...groups, ...results.map(({ input }) => input)].join(', ');
  const inner = `
    select jsonb_build_array(${[...keys, ...results.map(({ output }) => output)].join(', ')})::text as body
    from (select ${columns} from table_row r where ${where}) v
    ${keys.length === 0 ? '' : `group by ${keys.join(', ')} order by ${order.join(', ')}`}
    limit ${statement.param(LIMITS.aggregateGroupsMax + 1, 'bigint')}`;
  const message = `There are more than ${LIMITS.aggregateGroupsMax} groups.`;
  const rows = await bounded(sql, statement, inner, LIMITS.aggregateGroupsMax, message);
  return rows.map((values) => objectOf(names, values as unknown[]));
}

/** A column of the rows, and the aggregate over it. */
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

function resultNames(groupBy: readonly string[], metrics: readonly Metric[]): string[] {
  const names = [...groupBy, ...metrics.map(({ fn, field, as }) => as ?? (field === undefined ? fn : `${fn}_${field}`))];
  const twice = names.findIndex((name, at) => names.indexOf(name) !== at);
  if (twice < 0) return names;
  const param = twice < groupBy.length ? `groupBy.${twice}` : `metrics.${twice - groupBy.length}.as`;
  throw new Failure('INVALID_REQUEST', { message: `${param}: is the name of another field of the answer.`, param });
}

function objectOf(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const object = Object.create(null) as Record<string, unknown>;
  // A sum may be larger than a number can be.
  for (const [at, name] of names.entries())
    object[name] = typeof values[at] === 'number' && !Number.isFinite(values[at]) ? null : values[at];
  return object;
}

/** The JSON of each row's `body`. Throws TOO_MANY_ROWS where there are more than `rowsMax`, or they have too many bytes together. */
async function bounded(sql: Sql, statement: Statement, inner: string, rowsMax: number, message: string): Promise<unknown[]> {
  const rows = await statement.run<{ body: string; found: number }>(
    sql,
    `select b.body, b.found from (
      select a.body, (count(*) over ())::integer as found,
        sum(octet_length(a.body)) over (rows unbounded preceding) as bytes
      from (${inner}) a
    ) b where b.bytes <= ${statement.param(LIMITS.rowsPageBytesMax, 'bigint')}`,
  );
  const found = rows[0]?.found ?? 0;
  if (found > rowsMax) throw new Failure('TOO_MANY_ROWS', { message });
  if (found > rows.length)
    throw new Failure('TOO_MANY_ROWS', { message: `The answer would have more than ${LIMITS.rowsPageBytesMax} bytes.` });
  return rows.map(({ body }) => JSON.parse(body));
}
