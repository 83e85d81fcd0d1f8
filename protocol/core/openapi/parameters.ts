/** Parameters of paths, queries and headers. Parameters that several operations share are components. */
import { type Endpoint, takesIdempotencyKey } from '../endpoint.ts';
import type { Example } from '../example.ts';
import { LIMITS } from '../limits.ts';
import { namesOf } from './names.ts';
import type { Json, Schemas } from './schemas.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Json;
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes the request safe to repeat. Without a token it needs at least 16 characters.',
  schema: { type: 'string', minLength: 1, maxLength: LIMITS.idempotencyKeyCharsMax },
} as const;
const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: 'ETags of cached answers; a current one is answered with 304.',
  schema: { type: 'string' },
} as const;
const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  description: 'The ETag or updatedAt that must still be current.',
  schema: { type: 'string' },
} as const;
const IF_NOTHING_THERE = {
  name: 'If-None-Match',
  in: 'header',
  description: 'With * the request only creates.',
  schema: { type: 'string', const: '*' },
} as const;

/** Finds the shared parameters and refers to them. */
export class Parameters {
  readonly #schemas: Schemas;
  /** The name of a shared parameter, by its JSON. */
  readonly #shared: ReadonlyMap<string, string>;
  readonly #components: Record<string, Json>;

  constructor(endpoints: readonly Endpoint[], schemas: Schemas) {
    this.#schemas = schemas;
    const parameters = endpoints.flatMap((endpoint) => this.#parametersOf(endpoint));
    this.#shared = namesOf(
      parameters.map((parameter) => ({ json: JSON.stringify(parameter), wanted: parameter.name })),
      2,
    );
    this.#components = Object.fromEntries([...this.#shared].map(([json, name]) => [name, JSON.parse(json) as Json]));
  }

  /** A shared parameter shows the example of the first endpoint that has one. */
  of(endpoint: Endpoint, example: Example): readonly Json[] {
    return this.#parametersOf(endpoint).map((parameter) => {
      const shown = { ...parameter, ...exampleOf(parameter, example) };
      const name = this.#shared.get(JSON.stringify(parameter));
      if (name === undefined) return shown;
      if (!Object.hasOwn(this.#components[name] ?? {}, 'example')) this.#components[name] = shown;
      return { $ref: `#/components/parameters/${name}` };
    });
  }

  components(): Json {
    return this.#components;
  }

  #parametersOf(endpoint: Endpoint): readonly Parameter[] {
    return [...this.#named(endpoint, 'path'), ...this.#named(endpoint, 'query'), ...headersOf(endpoint)];
  }

  #named({ params, query }: Endpoint, place: 'path' | 'query'): readonly Parameter[] {
    const object = place === 'path' ? params : query;
    if (object === undefined) return [];
    const { required = [], properties } = this.#schemas.inline(object) as {
      required?: readonly string[];
      properties: Readonly<Record<string, Json>>;
    };
    return Object.entries(properties).map(([name, { description, ...schema }]) => ({
      name,
      in: place,
      ...((place === 'path' || required.includes(name)) && { required: true }),
      ...(description !== undefined && { description }),
      schema,
    }));
  }
}

function exampleOf({ name, in: place, schema }: Parameter, { params, query }: Example): Json {
  const text = (place === 'path' ? params : place === 'query' ? query : undefined)?.[name];
  if (text === undefined) return {};
  return { example: schema.type === 'integer' || schema.type === 'boolean' ? JSON.parse(text) : text };
}

function headersOf(endpoint: Endpoint): readonly Parameter[] {
  const { method, conditional } = endpoint;
  if (method === 'GET') return conditional ? [IF_NONE_MATCH] : [];
  return [
    ...(takesIdempotencyKey(endpoint) ? [IDEMPOTENCY_KEY] : []),
    ...(conditional ? [IF_MATCH] : []),
    ...(conditional && method === 'PUT' ? [IF_NOTHING_THERE] : []),
  ];
}
