/** How many values a JSON body can have by its endpoint's schema, so that more is refused before the rest is parsed. */
import { z } from 'zod';
import { LIMITS } from '../../protocol/core/limits.ts';

type Shape = z.core.JSONSchema.JSONSchema;

/** The values that a body of this schema can hold, itself included; `LIMITS.bodyValuesMax` where the schema sets no bound. */
export function valuesMaxOf(schema: z.ZodType): number {
  return Math.min(LIMITS.bodyValuesMax, valuesOf(shapeOf(schema)));
}

/**
 * The most items of the lists that a body of this schema can be or have as members: under '' and under their names. What a schema leaves to the
 * handler is told by its metadata.
 */
export function listsMaxOf(schema: z.ZodType): ReadonlyMap<string, number> {
  const bounds = new Map<string, number>();
  const told = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape;
  for (const shape of alternativesOf(told)) {
    noteList(bounds, '', shape);
    for (const [name, member] of Object.entries(shape.properties ?? {})) {
      for (const one of typeof member === 'object' ? alternativesOf(member as Shape) : []) noteList(bounds, name, one);
    }
  }
  return new Map([...bounds].filter(([, itemsMax]) => Number.isFinite(itemsMax)));
}

function alternativesOf(shape: Shape): readonly Shape[] {
  const some = shape.anyOf ?? shape.oneOf;
  return some === undefined ? [shape] : some.flatMap((one) => alternativesOf(one as Shape));
}

function noteList(bounds: Map<string, number>, name: string, { type, maxItems = Number.POSITIVE_INFINITY }: Shape): void {
  if (type === 'array') bounds.set(name, Math.max(bounds.get(name) ?? 0, maxItems));
}

function shapeOf(schema: z.ZodType): Shape {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', metadata: z.registry() }) as Shape;
}

function valuesOf(shape: Shape | boolean): number {
  // A reference is a recursive schema.
  if (typeof shape === 'boolean' || shape.$ref !== undefined) return shape === false ? 0 : Number.POSITIVE_INFINITY;
  const alternatives = shape.anyOf ?? shape.oneOf;
  if (alternatives !== undefined) return Math.max(...alternatives.map(valuesOf));
  if (Array.isArray(shape.type)) return Math.max(...shape.type.map((type) => valuesOf({ ...shape, type })));
  switch (shape.type) {
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return 1;
    case 'array':
      return 1 + (shape.maxItems ?? Number.POSITIVE_INFINITY) * valuesOf((shape.items ?? true) as Shape | boolean);
    case 'object':
      if (shape.additionalProperties !== false) return Number.POSITIVE_INFINITY;
      return Object.values(shape.properties ?? {}).reduce<number>((sum, member) => sum + valuesOf(member), 1);
    default:
      return shape.const !== undefined || shape.enum !== undefined ? 1 : Number.POSITIVE_INFINITY;
  }
}
