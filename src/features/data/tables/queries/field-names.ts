/** The names of the fields that the rows of a table have. */
import type { Sql } from '../../../../storage/sql.ts';
import { EVERYTHING } from './filter.ts';
import { rowsWhere, type TableScope } from './filter-sql.ts';
import { Statement } from './statement.ts';

/** The names of the fields of all rows, at most `max`. */
export async function fieldNames(sql: Sql, scope: TableScope, max: number): Promise<readonly string[]> {
  const statement = new Statement();
  const where = rowsWhere(scope, EVERYTHING, statement);
  const limit = statement.param(max, 'bigint');
  const text = `select distinct f.name from table_row r cross join lateral jsonb_object_keys(r.data) f (name) where ${where} limit ${limit}`;
  return (await statement.run<{ name: string }>(sql, text)).map(({ name }) => name);
}
