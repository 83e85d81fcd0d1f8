/** Which schemas are nothing but a pattern, so that the edge can test a path's parameter without asking zod. */
import type { z } from 'zod';

const patterns = new WeakMap<object, RegExp>();

/** Says that `schema` takes exactly the strings that match `pattern`, and answers them as they are. */
export function patterned<S extends z.ZodType>(schema: S, pattern: RegExp): S {
  patterns.set(schema, pattern);
  return schema;
}

/** The pattern of a schema made by `patterned`, else undefined. */
export function patternOf(schema: object): RegExp | undefined {
  return patterns.get(schema);
}
