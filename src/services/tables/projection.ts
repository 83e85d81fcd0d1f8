/** Which fields of a row are answered. */
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { type FieldPath, parsePath } from './filter.ts';

export type Projection = readonly FieldPath[];

/** Throws INVALID_REQUEST. */
export function parseFields(fields: string | readonly string[] | undefined, param: string): Projection | undefined {
  if (fields === undefined) return undefined;
  const texts = typeof fields === 'string' ? fields.split(',') : fields;
  if (texts.length > LIMITS.fieldsMax) {
    throw new Failure('INVALID_REQUEST', { message: `${param}: must name at most ${LIMITS.fieldsMax} fields.`, param });
  }
  return [['id'], ...texts.map((text) => parsePath(text, param, 'INVALID_REQUEST'))];
}

/** The named fields alone, in the order in which they are named; members of objects in objects of their own. */
export function project(row: Readonly<Record<string, unknown>>, projection: Projection): Readonly<Record<string, unknown>> {
  const picked = bare();
  for (const path of projection) {
    const value = memberAt(row, path);
    if (value !== undefined) place(picked, path, value);
  }
  return picked;
}

/** What stands at a path of objects; arrays are taken whole. */
export function memberAt(row: unknown, path: FieldPath): unknown {
  let value = row;
  for (const step of path) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

function place(into: Record<string, unknown>, path: FieldPath, value: unknown): void {
  let at = into;
  for (const step of path.slice(0, -1)) {
    const there = at[step];
    // A copy, where the whole object was picked before: the row itself must stay as it is.
    const next = isObject(there) ? Object.assign(bare(), there) : bare();
    at[step] = next;
    at = next;
  }
  at[path.at(-1) ?? ''] = value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Without a prototype, so that a field may be called __proto__. */
function bare(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}
