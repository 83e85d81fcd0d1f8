/** Names that callers may not choose, because the endpoint table has a literal segment in their place. */
import type { z } from 'zod';
import type { Endpoint } from './endpoint.ts';

type Table = Readonly<Record<string, Endpoint>>;

/**
 * The names that `schema` accepts but no path can reach: where one path has a parameter with this schema, another path of the same method has
 * them as a literal, which the router prefers. Empty for ids, because no literal looks like one. Handlers that take such a name from a body
 * (a slug) refuse these; the edge refuses them in paths.
 */
export function reservedNames(table: Table, schema: z.ZodType): ReadonlySet<string> {
  const names = new Set<string>();
  const all = pathsOf(table);
  for (const { method, params, segments } of all) {
    for (const [at, { parameter }] of segments.entries()) {
      if (parameter === undefined || params?.shape[parameter] !== schema) continue;
      for (const other of all) {
        const literal = other.segments[at];
        if (other.method !== method || literal === undefined || literal.parameter !== undefined || names.has(literal.text)) continue;
        if (meet(segments, other.segments) && schema.safeParse(literal.text).success) names.add(literal.text);
      }
    }
  }
  return names;
}

interface Segment {
  readonly text: string;
  /** The name, where it is a parameter. */
  readonly parameter: string | undefined;
  /** It takes the rest of the path. */
  readonly isRest: boolean;
}

interface Path extends Pick<Endpoint, 'method' | 'params'> {
  readonly segments: readonly Segment[];
}

/** Kept with the table, because a start asks for the names of a hundred schemas. */
const known = new WeakMap<Table, readonly Path[]>();

function pathsOf(table: Table): readonly Path[] {
  let paths = known.get(table);
  if (paths === undefined) {
    paths = Object.values(table).map(({ method, path, params }) => ({ method, params, segments: path.split('/').map(segmentOf) }));
    known.set(table, paths);
  }
  return paths;
}

function segmentOf(text: string): Segment {
  return { text, parameter: /^\{(\w+)\*?\}$/.exec(text)?.[1], isRest: text.endsWith('*}') };
}

/** Whether a path exists that both patterns match. */
function meet(one: readonly Segment[], other: readonly Segment[]): boolean {
  for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
    const [a, b] = [one[at], other[at]];
    if (a?.isRest || b?.isRest) return true;
    if (a === undefined || b === undefined) return false;
    if (a.text !== b.text && a.parameter === undefined && b.parameter === undefined) return false;
  }
  return true;
}
