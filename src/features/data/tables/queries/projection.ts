/** Selects which fields of a row are returned. */
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
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

/** Only the named fields, in the order in which they are named; a path returns its objects with only the named members. */
export function project(row: Readonly<Record<string, unknown>>, projection: Projection): Readonly<Record<string, unknown>> {
  const picked = bare();
  for (const path of projection) {
    const value = memberAt(row, path);
    if (value !== undefined) place(picked, path, value);
  }
  return picked;
}

/** The value at a path through objects; a path does not enter arrays. */
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
    // Copied, because an object that was picked whole still belongs to the row, which must not change.
    const next = isObject(there) ? Object.assign(bare(), there) : bare();
    at[step] = next;
    at = next;
  }
  at[path.at(-1) ?? ''] = value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object without a prototype, so that a field may be named __proto__. */
function bare(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}
