/** Patterns of schemas that only match a pattern, so that the edge can check path parameters without zod. */
import type { z } from 'zod';

const patterns = new WeakMap<object, RegExp>();

/** Records that `schema` accepts exactly the strings that match `pattern` and returns them unchanged. */
export function patterned<S extends z.ZodType>(schema: S, pattern: RegExp): S {
  patterns.set(schema, pattern);
  return schema;
}

/** The pattern of a schema made by `patterned`, else undefined. */
export function patternOf(schema: object): RegExp | undefined {
  return patterns.get(schema);
}
