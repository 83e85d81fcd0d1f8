/** An endpoint made ready to serve: its readers compiled, its handler and meter beside it. */
import { createHash } from 'node:crypto';
import type { Endpoint } from '../../protocol/endpoint.ts';
import { type EndpointId, endpoints } from '../../protocol/table.ts';
import type { Metrics, RequestMeter } from '../metrics.ts';
import { type Answer, etagMatches, headerLines, NOSNIFF, safeValue } from './answer.ts';
import type { Call, Handlers, Reply } from './call.ts';
import { bodyReader, type ParamsReader, paramsReader, type QueryReader, queryReader } from './input.ts';
import { Router } from './router.ts';

export interface Operation {
  readonly id: EndpointId;
  readonly endpoint: Endpoint;
  readonly handle: (call: Call) => Reply | Promise<Reply>;
  readonly meter: RequestMeter;
  readonly readParams: ParamsReader;
  readonly readQuery: QueryReader;
  readonly readBody: ((value: unknown) => unknown) | null;
  /** Under `/v1/data`: called by pages of other origins, and on the page's own origin. */
  readonly isData: boolean;
  /** A GET that answers 304. */
  readonly isConditionalGet: boolean;
}

export const DATA_PREFIX = '/v1/data/';

/** The routes of the whole table. Throws where an endpoint has no handler: a route that cannot answer must not start. */
export function routeTable(handlers: Handlers, metrics: Metrics): Router<Operation> {
  const router = new Router<Operation>();
  for (const [id, endpoint] of Object.entries(endpoints) as [EndpointId, Endpoint][]) {
    // The table keeps each handler's exact type; past this point all are called alike.
    const handle = handlers[id] as unknown as Operation['handle'] | undefined;
    if (handle === undefined) throw new Error(`No handler for ${id}`);
    router.add(endpoint.method, endpoint.path, {
      id,
      endpoint,
      handle,
      meter: metrics.requests(id),
      readParams: paramsReader(endpoint),
      readQuery: queryReader(endpoint),
      readBody: bodyReader(endpoint),
      isData: endpoint.path.startsWith(DATA_PREFIX),
      isConditionalGet: endpoint.method === 'GET' && endpoint.conditional === true,
    });
  }
  return router;
}

const NO_STORE = `${NOSNIFF}\r\nCache-Control: no-store`;
const NO_HEADERS = Object.freeze({});
const REVALIDATE = `${NOSNIFF}\r\nCache-Control: private, no-cache`;

/** Turns a handler's reply into an answer; a conditional GET whose ETag the caller has into 304. */
export function answerOf(operation: Operation, reply: Reply, ifNoneMatch: string | undefined): Answer {
  const spec = operation.endpoint.replies[reply.reply];
  if (spec === undefined) throw new Error(`${operation.id} has no reply ${reply.reply}`);
  const isMedia = 'media' in spec;
  if (reply.stream !== undefined) {
    if (!isMedia) throw new Error(`${operation.id} streams a reply that is not media`);
    return streamedAnswer(operation, reply, spec, ifNoneMatch);
  }
  const payload = isMedia ? (reply.body as string | Uint8Array) : (reply.json ?? JSON.stringify(reply.body));
  let etag = reply.etag;
  if (operation.isConditionalGet) etag ??= `"${createHash('sha256').update(payload).digest('base64url').slice(0, 22)}"`;
  const caching = etag !== undefined && operation.isConditionalGet ? REVALIDATE : NO_STORE;
  const lines = reply.headers === undefined ? caching : linesOf(reply.headers, caching);
  if (etag !== undefined && ifNoneMatch !== undefined && operation.isConditionalGet && etagMatches(ifNoneMatch, etag)) {
    return { status: 304, type: undefined, payload: null, etag, lines };
  }
  const type = isMedia ? safeValue(reply.type ?? spec.media) : 'application/json';
  return { status: spec.status, type, payload, etag, lines };
}

function streamedAnswer(
  operation: Operation,
  reply: Reply,
  spec: { readonly status: number; readonly media: string },
  ifNoneMatch: string | undefined,
): Answer {
  const { etag, stream } = reply;
  const lines = linesOf(reply.headers ?? NO_HEADERS, etag === undefined ? NO_STORE : REVALIDATE);
  if (etag !== undefined && ifNoneMatch !== undefined && operation.isConditionalGet && etagMatches(ifNoneMatch, etag)) {
    return { status: 304, type: undefined, payload: null, etag, lines };
  }
  return { status: spec.status, type: safeValue(reply.type ?? spec.media), payload: null, ...(stream && { stream }), etag, lines };
}

function linesOf(headers: Readonly<Record<string, string>>, caching: string): string {
  const own = headerLines(headers);
  return /\r\ncache-control:/i.test(own) ? NOSNIFF + own : caching + own;
}
