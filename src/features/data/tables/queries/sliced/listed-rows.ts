/** Finds the rows that an index narrows a filter down to, where they are few. */
import { conjuncts, type Filter } from '../filter.ts';
import { indexCondition, indexedColumn, indexRows, type TableScope } from '../filter-sql.ts';
import { Statement } from '../statement.ts';
import type { Slices } from './slices.ts';

/** Index entries are read in some milliseconds; beyond it the rows are walked through. */
const LISTED_MAX = 4000;
/** Conditions that are tried, each at the cost of so many entries. */
const TRIED_MAX = 4;

/** The insertion orders of all rows that can match; undefined where no index tells them, or where they are many. */
export async function listedRows(slices: Slices, scope: TableScope, filter: Filter): Promise<readonly number[] | undefined> {
  let tried = 0;
  for (const part of conjuncts(filter)) {
    if (tried === TRIED_MAX) break;
    const statement = new Statement();
    const entries = entriesSql(scope, part, statement);
    if (entries === undefined) continue;
    tried += 1;
    const limited = `select e.created_seq as seq from (${entries}) e limit ${statement.param(LISTED_MAX + 1, 'bigint')}`;
    const rows = await slices.once<{ readonly seq: number }>(statement, limited);
    if (rows.length <= LISTED_MAX) return rows.map(({ seq }) => seq);
  }
  return undefined;
}

function entriesSql(scope: TableScope, part: Filter, statement: Statement): string | undefined {
  if (!('path' in part) || part.path.length !== 1) return undefined;
  const [name = ''] = part.path;
  if (name === 'id' && (part.kind === 'equal' || part.kind === 'in')) {
    const ids = (part.kind === 'in' ? part.values : [part.value]).filter((value) => typeof value === 'string');
    if (ids.length === 0) return 'select 0::bigint as created_seq where false';
    // Said so that the rows are found by their ids.
    const found = `r.row_id in (${ids.map((id) => statement.param(id, 'text')).join(', ')}) and r.table_name || '' = ${statement.param(scope.table, 'text')}`;
    return `select r.created_seq from table_row r where r.artifact_id = ${statement.param(scope.artifactId, 'text')} and ${found}`;
  }
  if (indexedColumn(scope.schema, part.path) === undefined) return undefined;
  const trial = new Statement();
  if (indexCondition(part, 'i', trial) === undefined) return undefined;
  return `select i.created_seq from row_index i where ${indexRows(scope, name, 'i', statement)} and ${indexCondition(part, 'i', statement)}`;
}
