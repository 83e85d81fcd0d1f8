/** Requests of every endpoint under `/v1/data`, generated from its schemas: valid ones, and ones that are invalid in many ways. */
import fc from 'fast-check';
import { z } from 'zod';
import type { Endpoint } from '../../protocol/core/endpoint.ts';
import { type EndpointId, endpoints } from '../../protocol/table.ts';

export interface FuzzRequest {
  readonly id: EndpointId;
  readonly method: string;
  /** `{artifact}` stands for the artifact's id. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly asOwner: boolean;
}

type JsonSchema = Readonly<Record<string, unknown>>;

const FUZZED = (Object.entries(endpoints) as [EndpointId, Endpoint][]).filter(([, { path }]) => path.startsWith('/v1/data/'));

const WORDS = [
  ...['n', 'name', 'a', 'a.b', 'id', 'createdAt', 'rows', 'filter', 'changes', 'op', 'path', '__proto__', 'constructor', 'toString', ''],
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$contains', '$startsWith', '$endsWith', '$exists', '$and', '$or', '$not'],
  ...['$where', 'increment', 'append', 'remove', 'add', '/a', '/n/0', '$', '$.n', '$.a[0]'],
];
const STRINGS = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.constantFrom(
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udc00x',
    "'; drop table artifact; --",
    '%',
    '\\',
    '"',
    '\r\n',
    '\u2028',
    'x'.repeat(5000),
  ),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const NUMBERS = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, 0.1, 1e308, -1e308, 5e-324, 2 ** 53, 2 ** 31, -(2 ** 31) - 1, 1e21),
  fc.integer({ min: -5, max: 2000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const LEAVES = fc.oneof(STRINGS, NUMBERS, fc.boolean(), fc.constant(null));

const { anything: ANYTHING } = fc.letrec((tie) => ({
  anything: fc.oneof({ maxDepth: 4, withCrossShrink: true }, LEAVES, tie('list'), tie('object')),
  list: fc.array(tie('anything'), { maxLength: 4 }),
  object: fc
    .array(fc.tuple(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...WORDS) }, { weight: 1, arbitrary: STRINGS }), tie('anything')), {
      maxLength: 4,
    })
    // Object.fromEntries also creates a member named __proto__, which an assignment does not.
    .map((members) => Object.fromEntries(members)),
}));

/** Values that a schema accepts, as far as its JSON Schema states. */
function valid(schema: JsonSchema): fc.Arbitrary<unknown> {
  const options = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (options !== undefined) return fc.oneof(...options.map(valid));
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object':
      return validObject(schema);
    case 'array':
      return fc.array(valid((schema.items as JsonSchema | undefined) ?? {}), { minLength: Number(schema.minItems ?? 0), maxLength: 4 });
    case 'string':
      return validString(schema);
    case 'integer':
      return fc.integer({ min: Math.max(Number(schema.minimum ?? -5), -1e6), max: Math.min(Number(schema.maximum ?? 50), 1e6) });
    case 'number':
      return NUMBERS;
    case 'boolean':
      return fc.boolean();
    default:
      return ANYTHING;
  }
}

function validObject(schema: JsonSchema): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema.properties as Record<string, JsonSchema> | undefined) ?? {});
  if (properties.length === 0) return ANYTHING.filter((value) => typeof value === 'object' && value !== null && !Array.isArray(value));
  const required = new Set((schema.required as string[] | undefined) ?? []);
  const members = Object.fromEntries(properties.map(([name, one]) => [name, valid(one)]));
  return fc.record(members, { requiredKeys: [...required] });
}

function validString({ pattern, maxLength }: JsonSchema): fc.Arbitrary<string> {
  if (typeof pattern === 'string') {
    try {
      return fc.stringMatching(new RegExp(pattern));
    } catch {
      // fast-check cannot generate from this pattern (Unicode classes).
      return fc.constantFrom('a', 'name', 'file.txt');
    }
  }
  return fc.oneof(STRINGS, fc.string({ maxLength: Math.min(Number(maxLength ?? 20), 40) }));
}

function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

/** Replaces one part of a value by something else. */
function broken(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null) return ANYTHING;
  const names = Object.keys(value);
  if (names.length === 0) return ANYTHING;
  return fc.tuple(fc.constantFrom(...names), ANYTHING, fc.boolean()).map(([name, other, isMissing]) => {
    if (Array.isArray(value)) return value.map((one, index) => (String(index) === name ? other : one));
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, one]) => (key !== name ? [[key, one]] : isMissing ? [] : [[key, other]])),
    );
  });
}

const RAW_BODIES = ['', '{', '{"a":1,"a":2}', '{"__proto__":{"n":1}}', 'NaN', '[1e999]', '{"a":1}{}', '\ufeff{}', '"\\ud800"', '-'].map(
  (text) => Buffer.from(text),
);
const DEEP_BODIES = [101, 5000, 200_000].flatMap((depth) => [
  Buffer.from('['.repeat(depth)),
  Buffer.from(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
]);
const BYTES = fc.oneof(
  fc.constantFrom(...RAW_BODIES, ...DEEP_BODIES, Buffer.from([0x22, 0xff, 0x22]), Buffer.from('{"a":1}', 'utf16le')),
  fc.uint8Array({ maxLength: 200 }),
);

function bodyOf({ body }: Endpoint): fc.Arbitrary<Uint8Array | undefined> {
  if (body === undefined) return fc.constant(undefined);
  if (body.kind !== 'json') return BYTES;
  const value = valid(jsonSchema(body.schema));
  const text = fc.oneof({ weight: 5, arbitrary: value }, { weight: 4, arbitrary: value.chain(broken) }, { weight: 1, arbitrary: ANYTHING });
  return fc.oneof({ weight: 9, arbitrary: text.map((one) => Buffer.from(JSON.stringify(one) ?? '')) }, { weight: 2, arbitrary: BYTES });
}

/** There are few names, so that requests meet each other's data and artifacts stay small. */
const POOLS: Readonly<Record<string, readonly string[]>> = {
  artifactId: ['{artifact}'],
  key: ['k1', 'k2', 'k3', '_kept', '..', 'a.b'],
  table: ['t1', 't2', 'T3'],
};

function pathOf(endpoint: Endpoint): fc.Arbitrary<string> {
  const shape = endpoint.params?.shape ?? {};
  const values = fc.record(
    Object.fromEntries(
      Object.entries(shape).map(([name, schema]) => {
        const right =
          POOLS[name] === undefined ? valid(jsonSchema(schema as z.ZodType)).map(String) : fc.constantFrom(...(POOLS[name] ?? []));
        return [name, fc.oneof({ weight: 15, arbitrary: right }, { weight: 1, arbitrary: STRINGS })];
      }),
    ),
  );
  return values.map((given) => endpoint.path.replace(/\{(\w+)\*?\}/g, (_all, name: string) => encoded(String(given[name]))));
}

function encoded(text: string): string {
  return text === '{artifact}' ? text : encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}

function queryOf(endpoint: Endpoint): fc.Arbitrary<string> {
  if (endpoint.query === undefined) return fc.constantFrom('', '?x=1', '?%ff=%');
  const value = valid(jsonSchema(endpoint.query)) as fc.Arbitrary<Record<string, unknown>>;
  const query = fc.oneof({ weight: 3, arbitrary: value }, { weight: 2, arbitrary: value.chain(broken) as typeof value });
  return query.map((given) => {
    const parts = Object.entries(Object(given)).map(
      ([name, one]) => `${encoded(name)}=${encoded(typeof one === 'string' ? one : (JSON.stringify(one) ?? ''))}`,
    );
    return parts.length === 0 ? '' : `?${parts.join('&')}`;
  });
}

function headersOf({ body }: Endpoint): fc.Arbitrary<Record<string, string>> {
  const right = body?.types?.[0] ?? (body?.kind === 'json' ? 'application/json' : 'application/octet-stream');
  const type = right === 'multipart/form-data' ? `${right}; boundary=edge` : right;
  return fc.record(
    {
      'content-type': fc.oneof(
        { weight: 12, arbitrary: fc.constant(type) },
        { weight: 1, arbitrary: fc.constantFrom('text/csv', 'application/json; charset=utf-16', ';', 'application/json-patch+json') },
      ),
      accept: fc.constantFrom(
        '*/*',
        'application/json',
        'text/event-stream',
        'text/csv',
        'application/x-ndjson',
        'application/problem+json',
        'x',
      ),
      'if-match': fc.constantFrom('*', '"1"', 'W/"1"', 'x', '2026-01-01T00:00:00.000Z'),
      'if-none-match': fc.constantFrom('*', '"1"', 'x'),
      'last-event-id': fc.constantFrom('0', '5', 'x', '99999999999999999999'),
      range: fc.constantFrom('bytes=0-', 'bytes=5-1', 'bytes=-0', 'lines=1-2'),
      origin: fc.constantFrom('https://elsewhere.example', 'null', 'x'),
    },
    { requiredKeys: ['content-type'] },
  );
}

function requestsOf(id: EndpointId, endpoint: Endpoint): fc.Arbitrary<FuzzRequest> {
  return fc
    .record({
      path: pathOf(endpoint),
      query: queryOf(endpoint),
      headers: headersOf(endpoint),
      body: bodyOf(endpoint),
      asOwner: fc.integer({ max: 9, min: 0 }).map((one) => one > 0),
    })
    .map(({ path, query, headers, body, asOwner }) => ({ id, method: endpoint.method, path: path + query, headers, body, asOwner }));
}

/** Generates requests that the seed repeats. */
export function* fuzzRequests(count: number, seed: number): Generator<FuzzRequest> {
  const all = fc.oneof(...FUZZED.map(([id, endpoint]) => requestsOf(id, endpoint)));
  const CHUNK = 200;
  for (let made = 0; made < count; made += CHUNK) {
    yield* fc.sample(all, { numRuns: Math.min(CHUNK, count - made), seed: seed + made });
  }
}
