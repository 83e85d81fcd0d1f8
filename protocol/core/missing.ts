/** Error codes of missing resources by the schema of their ids, for path parameters that cannot be an id. */
import type { ErrorCode } from './errors.ts';

const codes = new WeakMap<object, ErrorCode>();

export function missingAs<S extends object>(schema: S, code: ErrorCode): S {
  codes.set(schema, code);
  return schema;
}

/** The code of a schema made by `missingAs`. Undefined for others, where a mismatch is an invalid request. */
export function missingCodeOf(schema: object): ErrorCode | undefined {
  return codes.get(schema);
}
