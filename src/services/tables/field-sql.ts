/** The value at a path of a row as SQL, over `r`, the `table_row`. */
import type { FieldPath } from './filter.ts';
import type { Statement } from './statement.ts';

/** Expressions: the value as jsonb, as text (of a text the text itself), and the name of its type. All are SQL nulls where nothing is there. */
export interface FieldSql {
  readonly json: string;
  readonly text: string;
  readonly type: string;
}

export function fieldSql(path: FieldPath, statement: Statement): FieldSql {
  const [name = ''] = path;
  const kept = KEPT.get(name);
  // A step into a text finds nothing.
  if (kept !== undefined) return path.length === 1 ? kept : NOTHING;
  if (path.length === 1) {
    const step = statement.param(name, 'text');
    return { json: `(r.data -> ${step})`, text: `(r.data ->> ${step})`, type: `jsonb_typeof(r.data -> ${step})` };
  }
  const steps = `array[${path.map((step) => statement.param(step, 'text')).join(', ')}]`;
  return { json: `(r.data #> ${steps})`, text: `(r.data #>> ${steps})`, type: `jsonb_typeof(r.data #> ${steps})` };
}

const NOTHING: FieldSql = { json: 'null::jsonb', text: 'null::text', type: 'null::text' };

/** What the server keeps of a row beside its own fields. */
const KEPT: ReadonlyMap<string, FieldSql> = new Map([
  ['id', keptText('r.row_id')],
  ['createdAt', keptText(timeSql('r.created_at_ms'))],
  ['updatedAt', keptText(timeSql('r.updated_at_ms'))],
]);

function keptText(text: string): FieldSql {
  return { json: `to_jsonb(${text})`, text: `(${text})`, type: `'string'::text` };
}

/** As `Date.toISOString` writes it. */
function timeSql(ms: string): string {
  return `to_char(timestamp 'epoch' + ${ms} * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** The column behind a time that is filtered by a time written as rows show it; undefined where texts must be compared. */
export function timeColumn(path: FieldPath): string | undefined {
  if (path.length !== 1) return undefined;
  if (path[0] === 'createdAt') return 'r.created_at_ms';
  return path[0] === 'updatedAt' ? 'r.updated_at_ms' : undefined;
}

/** Unix ms of a text that is exactly how rows show that time. */
export function shownTimeMs(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) || new Date(ms).toISOString() !== value ? undefined : ms;
}
