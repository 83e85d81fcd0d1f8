/** Compiles a filter to a condition over `r`, the `table_row`. A condition is never SQL null, so that `not` is its exact complement. */
import type { IndexedValue } from '../../../../../actors/tables/changes.ts';
import type { TableSchema } from '../../../../../protocol/data/tables.ts';
import { type FieldSql, fieldSql, shownTimeMs, timeColumn } from './field-sql.ts';
import { type Condition, conjuncts, type Filter } from './filter.ts';
import type { Statement } from './statement.ts';

/** The table whose rows are read. */
export interface TableScope {
  readonly artifactId: string;
  /** The name under which its rows are stored. */
  readonly table: string;
  readonly schema: TableSchema | null;
  /** How many rows it had when the scope was made, where that is known. */
  readonly rowCount?: number;
}

/** The condition for the matching rows of the table; conditions on indexed columns use the index. */
export function rowsWhere(scope: TableScope, filter: Filter, statement: Statement): string {
  const artifact = statement.param(scope.artifactId, 'text');
  const table = statement.param(scope.table, 'text');
  const own = `r.artifact_id = ${artifact} and r.table_name = ${table}`;
  const isThere = isThereSql(artifact, table);
  const conditions = conjuncts(filter).map((part) => indexSql(scope, part, statement) ?? filterSql(part, statement));
  return [own, isThere, ...conditions].join(' and ');
}

/** The table may have been dropped since the scope was made; then no row may be seen, even while a purge is removing them. */
export function isThereSql(artifact: string, table: string): string {
  return `not exists (select 1 from dropped_table d where d.artifact_id = ${artifact} and d.stored_as = ${table})`;
}

/** The condition without the index. */
export function filterSql(filter: Filter, statement: Statement): string {
  switch (filter.kind) {
    case 'and':
      return filter.of.length === 0 ? 'true' : `(${filter.of.map((part) => filterSql(part, statement)).join(' and ')})`;
    case 'or':
      return `(${filter.of.map((part) => filterSql(part, statement)).join(' or ')})`;
    case 'not':
      return `(not ${filterSql(filter.of, statement)})`;
    default:
      // The SQL would not use the parameters of the path, and Postgres rejects unused parameters.
      if (filter.kind === 'in' && filter.values.length === 0) return 'false';
      return `coalesce(${columnSql(filter, statement) ?? conditionSql(filter, fieldSql(filter.path, statement), statement)}, false)`;
  }
}

const OPERATORS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** SQL null if the value is missing, which `filterSql` turns into false. */
function conditionSql(condition: Condition, { json, text, type }: FieldSql, statement: Statement): string {
  switch (condition.kind) {
    case 'equal':
      return equalSql(json, [condition.value], statement);
    case 'in':
      return equalSql(json, condition.values, statement);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const operator = OPERATORS[condition.kind];
      if (typeof condition.value === 'number') return `(${type} = 'number' and ${json} ${operator} ${statement.json(condition.value)})`;
      return `(${type} = 'string' and ${text} collate "C" ${operator} ${statement.param(condition.value, 'text')})`;
    }
    case 'contains': {
      const among = `(${type} = 'array' and ${json} @> ${statement.json([condition.value])})`;
      if (typeof condition.value !== 'string') return among;
      return `(case ${type} when 'string' then strpos(${text}, ${statement.param(condition.value, 'text')}) > 0 else ${among} end)`;
    }
    case 'startsWith':
      return `(${type} = 'string' and starts_with(${text}, ${statement.param(condition.value, 'text')}))`;
    case 'endsWith': {
      const end = statement.param(condition.value, 'text');
      return `(${type} = 'string' and right(${text}, length(${end})) = ${end})`;
    }
    case 'exists':
      return `(${json} is not null)`;
    default:
      return condition satisfies never;
  }
}

/** A missing value equals null. */
function equalSql(json: string, values: readonly unknown[], statement: Statement): string {
  const others = values.filter((value) => value !== null);
  const isOther = others.length === 0 ? 'false' : `${json} in (${others.map((value) => statement.json(value)).join(', ')})`;
  return others.length === values.length ? isOther : `(${json} is null or ${json} = 'null'::jsonb or ${isOther})`;
}

/** Conditions on `id`, and on times in the format that rows show, compare the columns directly; undefined for any other. */
function columnSql(condition: Condition, statement: Statement): string | undefined {
  const { kind, path } = condition;
  if (path.length !== 1) return undefined;
  if (path[0] === 'id' && (kind === 'equal' || kind === 'in')) {
    const texts = (kind === 'in' ? condition.values : [condition.value]).filter((value) => typeof value === 'string');
    return texts.length === 0 ? 'false' : `r.row_id in (${texts.map((value) => statement.param(value, 'text')).join(', ')})`;
  }
  const column = timeColumn(path);
  if (column === undefined || kind === 'in' || kind === 'exists' || kind === 'contains') return undefined;
  const ms = shownTimeMs(condition.value);
  if (ms === undefined || kind === 'startsWith' || kind === 'endsWith') return undefined;
  return `${column} ${kind === 'equal' ? '=' : OPERATORS[kind]} ${statement.param(ms, 'bigint')}`;
}

/** The indexed column at the path, or undefined. */
export function indexedColumn(schema: TableSchema | null, path: readonly string[]) {
  if (path.length !== 1) return undefined;
  return schema?.columns.find(({ name, unique, indexed }) => name === path[0] && (unique || indexed));
}

/** The rows with a matching index entry; undefined if the index cannot decide the condition. */
function indexSql(scope: TableScope, filter: Filter, statement: Statement): string | undefined {
  if (!('path' in filter) || indexedColumn(scope.schema, filter.path) === undefined) return undefined;
  const condition = indexCondition(filter, 'i', statement);
  if (condition === undefined) return undefined;
  return `r.row_id in (select i.row_id from row_index i where ${indexRows(scope, filter.path[0] ?? '', 'i', statement)} and ${condition})`;
}

/** The condition for the index entries of one column. */
export function indexRows(scope: TableScope, column: string, i: string, statement: Statement): string {
  const artifact = statement.param(scope.artifactId, 'text');
  const table = statement.param(scope.table, 'text');
  return `${i}.artifact_id = ${artifact} and ${i}.table_name = ${table} and ${i}.column_name = ${statement.param(column, 'text')}`;
}

/** The condition over index entries `i` of its column; undefined if the index cannot decide it. */
export function indexCondition(condition: Condition, i: string, statement: Statement): string | undefined {
  switch (condition.kind) {
    case 'equal':
      return isIndexed(condition.value) ? entrySql(condition.value, '=', i, statement) : undefined;
    case 'in': {
      const { values } = condition;
      if (values.length === 0 || !values.every(isIndexed)) return undefined;
      return `(${values.map((value) => entrySql(value, '=', i, statement)).join(' or ')})`;
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return entrySql(condition.value, OPERATORS[condition.kind], i, statement);
    default:
      return undefined;
  }
}

// `kind` is a literal and no parameter: the indexes are partial, and the planner must see which one applies.
function entrySql(value: IndexedValue, operator: string, i: string, statement: Statement): string {
  if (typeof value === 'number') return `(${i}.kind = 'n' and ${i}.num ${operator} ${statement.param(value, 'double precision')})`;
  const kind = typeof value === 'string' ? 's' : 'b';
  return `(${i}.kind = '${kind}' and ${i}.txt ${operator} ${statement.param(String(value), 'text')})`;
}

function isIndexed(value: unknown): value is IndexedValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
