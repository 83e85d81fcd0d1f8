/** Compiles the path of a field to SQL over `r`, the `table_row`. */
import type { FieldPath } from './filter.ts';
import type { Statement } from './statement.ts';

/** Expressions for the value as jsonb, as text (a string without its quotes), and the name of its JSON type. All are SQL null if it is missing. */
export interface FieldSql {
  readonly json: string;
  readonly text: string;
  readonly type: string;
}

export function fieldSql(path: FieldPath, statement: Statement): FieldSql {
  const [name = ''] = path;
  const own = SERVER_FIELDS.get(name);
  // Server fields are strings, so a longer path finds nothing.
  if (own !== undefined) return path.length === 1 ? own : NOTHING;
  if (path.length === 1) {
    const step = statement.param(name, 'text');
    return { json: `(r.data -> ${step})`, text: `(r.data ->> ${step})`, type: `jsonb_typeof(r.data -> ${step})` };
  }
  const steps = `array[${path.map((step) => statement.param(step, 'text')).join(', ')}]`;
  return { json: `(r.data #> ${steps})`, text: `(r.data #>> ${steps})`, type: `jsonb_typeof(r.data #> ${steps})` };
}

const NOTHING: FieldSql = { json: 'null::jsonb', text: 'null::text', type: 'null::text' };

/** Fields that the server sets on every row. */
const SERVER_FIELDS: ReadonlyMap<string, FieldSql> = new Map([
  ['id', serverText('r.row_id')],
  ['createdAt', serverText(timeSql('r.created_at_ms'))],
  ['updatedAt', serverText(timeSql('r.updated_at_ms'))],
]);

function serverText(text: string): FieldSql {
  return { json: `to_jsonb(${text})`, text: `(${text})`, type: `'string'::text` };
}

/** The same format as `Date.toISOString`. */
function timeSql(ms: string): string {
  return `to_char(timestamp 'epoch' + ${ms} * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** The column of `createdAt` or `updatedAt`, in Unix ms; undefined for any other field. */
export function timeColumn(path: FieldPath): string | undefined {
  if (path.length !== 1) return undefined;
  if (path[0] === 'createdAt') return 'r.created_at_ms';
  return path[0] === 'updatedAt' ? 'r.updated_at_ms' : undefined;
}

/** The Unix ms of a time in exactly the format that rows show; undefined for any other value. */
export function shownTimeMs(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) || new Date(ms).toISOString() !== value ? undefined : ms;
}
