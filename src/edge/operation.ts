/** An endpoint with its compiled readers, its handler and its meter. */
import type { Endpoint, ReplySpec } from '../../protocol/core/endpoint.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { type EdgeLimit, rateLimitOf } from '../../protocol/core/rate-limits.ts';
import { type EndpointId, endpoints } from '../../protocol/table.ts';
import type { Metrics, RequestMeter } from '../platform/metrics.ts';
import { type Answer, contentEtag, etagMatches, headerLines, NOSNIFF, safeValue } from './answer.ts';
import { isArtifactId } from './artifact-path.ts';
import { listsMaxOf, valuesMaxOf } from './body-bounds.ts';
import type { Call, Handlers, Reply } from './call.ts';
import { bodyReader, Missing, type ParamsReader, paramsReader, type QueryReader, queryReader } from './input.ts';
import type { JsonBounds } from './json-reader.ts';
import { parameterNames, Router } from './router.ts';

export interface Operation {
  readonly id: EndpointId;
  readonly endpoint: Endpoint;
  readonly handle: (call: Call) => Reply | Promise<Reply>;
  readonly meter: RequestMeter;
  readonly readParams: ParamsReader;
  readonly readQuery: QueryReader;
  readonly readBody: ((value: unknown) => unknown) | null;
  /** How a large JSON body is read. */
  readonly jsonBounds: JsonBounds;
  /** Under `/v1/data`, where pages of other origins may call, and the page on its own origin. */
  readonly isData: boolean;
  /** A GET that answers 304. */
  readonly isConditionalGet: boolean;
  /** The limit that the edge spends before it runs the handler. */
  readonly rate: EdgeLimit | undefined;
  /** Which of its path's parameters names the artifact whose live state it touches. */
  readonly actorAt: number | undefined;
}

export const DATA_PREFIX = '/v1/data/';

/** The routes of the whole table. Throws where an endpoint has no handler, so that the process does not start with it. */
export function routeTable(handlers: Handlers, metrics: Metrics): Router<Operation> {
  const router = new Router<Operation>(takes);
  for (const [id, endpoint] of Object.entries(endpoints) as [EndpointId, Endpoint][]) {
    // The table keeps each handler's exact type; from here on all have the same one.
    const handle = handlers[id] as unknown as Operation['handle'] | undefined;
    if (handle === undefined) throw new Error(`No handler for ${id}`);
    const rate = rateLimitOf(endpoint.limit);
    if (rate?.by === 'artifact' && endpoint.access.who !== 'artifact') throw new Error(`${id} has a limit by artifact and names none`);
    router.add(endpoint.method, endpoint.path, {
      id,
      endpoint,
      handle,
      meter: metrics.requests(id),
      readParams: paramsReader(endpoint),
      readQuery: queryReader(endpoint),
      readBody: bodyReader(endpoint),
      jsonBounds: boundsOf(endpoint),
      isData: endpoint.path.startsWith(DATA_PREFIX),
      isConditionalGet: endpoint.method === 'GET' && endpoint.conditional === true,
      rate: rate?.spentBy === 'edge' ? rate : undefined,
      actorAt: endpoint.actor === undefined ? undefined : parameterNames(endpoint.path).indexOf(endpoint.actor),
    });
  }
  return router;
}

/** Whether its calls change nothing. */
export function isRead({ endpoint }: Operation): boolean {
  return endpoint.method === 'GET' || endpoint.reads === true;
}

/** The artifact whose live state a request touches; undefined where there is none. */
export function actorOf(
  router: Router<Operation>,
  { method, path }: { readonly method: string; readonly path: string },
): ArtifactId | undefined {
  const found = router.find(method, path);
  if (found.kind !== 'routed' || found.operation.actorAt === undefined) return undefined;
  const id = found.values[found.operation.actorAt];
  return id !== undefined && isArtifactId(id) ? id : undefined;
}

function boundsOf({ body }: Endpoint): JsonBounds {
  if (body?.kind !== 'json') return { valuesMax: 0, isExact: false };
  return { valuesMax: valuesMaxOf(body.schema), listsMax: listsMaxOf(body.schema), isExact: body.exact === true };
}

function takes({ readParams }: Operation, values: readonly string[]): boolean {
  try {
    const params = readParams(values);
    return params !== undefined && !(params instanceof Missing);
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

const NO_STORE = `${NOSNIFF}\r\nCache-Control: no-store`;
const NO_HEADERS = Object.freeze({});
const REVALIDATE = `${NOSNIFF}\r\nCache-Control: private, no-cache`;

/** Turns a handler's reply into an answer: 304 for a conditional GET whose ETag the caller has. */
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
  if (operation.isConditionalGet) etag ??= contentEtag(payload);
  const caching = etag !== undefined && operation.isConditionalGet ? REVALIDATE : NO_STORE;
  const lines = reply.headers === undefined ? caching : linesOf(reply.headers, caching);
  if (etag !== undefined && ifNoneMatch !== undefined && operation.isConditionalGet && etagMatches(ifNoneMatch, etag)) {
    return { status: 304, type: undefined, payload: null, etag, lines };
  }
  const type = isMedia ? safeValue(reply.type ?? spec.media) : 'application/json';
  const status = statusOf(spec, reply);
  const answer: Answer = status === 204 ? { status, type: undefined, payload: null, etag, lines } : { status, type, payload, etag, lines };
  return reply.changedNothing === true ? { ...answer, changedNothing: true } : answer;
}

function statusOf(spec: ReplySpec, { status }: Reply): number {
  return 'anyStatus' in spec && spec.anyStatus === true ? (status ?? spec.status) : spec.status;
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

function linesOf(headers: Readonly<Record<string, string | readonly string[]>>, caching: string): string {
  const own = headerLines(headers);
  return /\r\ncache-control:/i.test(own) ? NOSNIFF + own : caching + own;
}
