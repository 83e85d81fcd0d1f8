/** Success responses. Replies that several operations share are components. */
import type { Endpoint, ReplySpec } from '../endpoint.ts';
import type { Example } from '../example.ts';
import { namesOf, type Use } from './names.ts';
import type { Json, Schemas } from './schemas.ts';

const ETAG: Json = { ETag: { $ref: '#/components/headers/ETag' } };
const NOT_MODIFIED: Json = { description: 'Unchanged.', headers: ETAG };

/** Finds the shared replies and refers to them. */
export class Replies {
  readonly #schemas: Schemas;
  /** The name of a shared reply, by its JSON. */
  readonly #shared: ReadonlyMap<string, string>;
  readonly #components: Record<string, Json>;

  constructor(endpoints: readonly Endpoint[], schemas: Schemas) {
    this.#schemas = schemas;
    const uses = endpoints.flatMap((endpoint) => this.#repliesOf(endpoint).map(([status, reply]) => useOf(endpoint, status, reply)));
    this.#shared = namesOf(uses, 2);
    this.#components = Object.fromEntries([...this.#shared].map(([json, name]) => [name, JSON.parse(json) as Json]));
  }

  /** The first reply shows the example. A shared reply shows that of the first endpoint with one. */
  of(endpoint: Endpoint, example: Example): Json {
    const replies = this.#repliesOf(endpoint).map(([status, reply], index) => {
      const shown = index === 0 && example.reply !== undefined ? withExample(reply, example.reply) : reply;
      const name = this.#shared.get(JSON.stringify(reply));
      if (name === undefined) return [status, shown];
      if (!JSON.stringify(this.#components[name]).includes('"example":')) this.#components[name] = shown;
      return [status, { $ref: `#/components/responses/${name}` }];
    });
    return Object.fromEntries(replies);
  }

  responses(): Json {
    return this.#components;
  }

  #repliesOf(endpoint: Endpoint): readonly (readonly [status: number, reply: Json])[] {
    if (endpoint.socket !== undefined) return [[101, { description: 'A WebSocket.' }]];
    const byStatus = new Map<number, ReplySpec[]>();
    for (const reply of Object.values(endpoint.replies)) byStatus.set(reply.status, [...(byStatus.get(reply.status) ?? []), reply]);
    const replies = [...byStatus].map(([status, specs]) => [status, this.#replyOf(endpoint, status, specs)] as const);
    return endpoint.conditional === true && endpoint.method === 'GET' ? [...replies, [304, NOT_MODIFIED]] : replies;
  }

  #replyOf(endpoint: Endpoint, status: number, specs: readonly ReplySpec[]): Json {
    const described = specs.map((reply) => reply.description).filter((text) => text !== undefined);
    const bodies = specs.flatMap((reply) => ('body' in reply ? [this.#schemas.of(reply.body)] : []));
    const media = specs.flatMap((reply) => ('media' in reply ? [reply.media] : []));
    return {
      description: described.join(' Or: ') || (status === 201 ? 'Created.' : status === 202 ? 'Accepted in part.' : 'Done.'),
      ...(endpoint.conditional === true && { headers: ETAG }),
      content: {
        ...(bodies.length > 0 && { 'application/json': { schema: bodies.length > 1 ? { anyOf: bodies } : bodies[0] } }),
        ...Object.fromEntries(media.map((type) => [type, { schema: type.startsWith('text/') ? { type: 'string' } : {} }])),
      },
    };
  }
}

/** Named after the model that it carries, else after the group of its first operation. */
function useOf({ group }: Endpoint, status: number, reply: Json): Use {
  const json = JSON.stringify(reply);
  const [, model] = /"(?:data|schema)":\{"\$ref":"#\/components\/schemas\/(\w+)"/.exec(json) ?? [];
  return { json, wanted: status === 304 ? 'NotModified' : (model ?? `${group}Reply`) };
}

function withExample(reply: Json, example: unknown): Json {
  const content = reply.content as Readonly<Record<string, Json>>;
  return { ...reply, content: { ...content, 'application/json': { ...content['application/json'], example } } };
}
