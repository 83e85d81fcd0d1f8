/** Bodies of changes to which the answer of the GET can be sent back unchanged. Source: contract.md §0. */
import { z } from 'zod';

/** A read-only field of an answer, which may be sent back. Refusals do not list it among the known fields. */
const ignored = z.unknown().optional().meta({ readOnly: true });

/** A field that may be left out; null is the same as absent. */
export function absentOrNull<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/**
 * The body that changes some fields of `answer`. Its other fields are accepted and ignored. A field that can be null in the answer can be null
 * in the body, which means absent unless its schema in `fields` accepts null.
 */
export function changesTo<F extends z.core.$ZodLooseShape>(
  answer: z.ZodObject,
  fields: F,
): z.ZodType<z.output<z.ZodObject<F, z.core.$strict>>, z.input<z.ZodObject<F, z.core.$strict>>> {
  const shape: Record<string, z.core.$ZodType> = {};
  for (const name of Object.keys(answer.shape)) shape[name] = ignored;
  const written: Record<string, z.core.$ZodType> = fields;
  for (const [name, field] of Object.entries(written)) {
    const isNullInAnswer = answer.shape[name] !== undefined && takesNull(answer.shape[name]);
    shape[name] = isNullInAnswer && !takesNull(field) ? absentOrNull(field as z.ZodType) : field;
  }
  // After the transform only `fields` remain, with their declared types.
  const body = z.strictObject(shape) as unknown as z.ZodObject<F, z.core.$strict>;
  return body.transform((given) => {
    const changes = Object.entries(given).filter(([name, value]) => Object.hasOwn(fields, name) && value !== undefined);
    return Object.fromEntries(changes) as z.output<z.ZodObject<F, z.core.$strict>>;
  });
}

function takesNull(schema: z.core.$ZodType): boolean {
  return z.safeParse(schema, null).success;
}
