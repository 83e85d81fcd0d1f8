/** The typed client: every endpoint of the table but WebSockets, callable by its operation id. Runs in Node 20 and in browsers. */

import type { z } from 'zod';
import type { BodyIn, BodySpec, Endpoint, ParamsIn, QueryIn, QueryOf, ReplyBody, ReplyKey } from '../../protocol/endpoint.ts';
import { errorBody } from '../../protocol/schemas/common.ts';
import { type EndpointId, type Endpoints, endpoints, type SocketEndpointId } from '../../protocol/table.ts';
import { waitFor } from './wait.ts';

/** A WebSocket answers no call. */
type CallId = Exclude<EndpointId, SocketEndpointId>;

type NothingNeeded = Record<never, never>;

/** A query in the caller's types: `limit: 10`, `values: true`, or the string that would stand in the URL. */
type QueryValue<E extends Endpoint, K> = K extends keyof QueryOf<E> & keyof QueryIn<E>
  ? QueryOf<E>[K] | Extract<QueryIn<E>[K], string>
  : never;
type OptionalKeys<T> = { [K in keyof T]-?: NothingNeeded extends Pick<T, K> ? K : never }[keyof T];
type Query<E extends Endpoint> = { [K in Exclude<keyof QueryIn<E>, OptionalKeys<QueryIn<E>>>]: QueryValue<E, K> } & {
  [K in OptionalKeys<QueryIn<E>>]?: QueryValue<E, K> | undefined;
};

type ParamsPart<E extends Endpoint> = E extends { params: z.ZodObject }
  ? { readonly params: ParamsIn<E> }
  : { readonly params?: undefined };
type QueryPart<E extends Endpoint> = E extends { query: z.ZodObject }
  ? NothingNeeded extends Query<E>
    ? { readonly query?: Query<E> }
    : { readonly query: Query<E> }
  : { readonly query?: undefined };
type BodyPart<E extends Endpoint> = E extends { body: { optional: true } }
  ? { readonly body?: BodyIn<E> }
  : E extends { body: BodySpec }
    ? { readonly body: BodyIn<E> }
    : { readonly body?: undefined };

interface CallOptions {
  /** Media type of the body where it is not the first that the endpoint takes. */
  readonly mediaType?: string;
  /** ETag with its quotes, or a bare `updatedAt`: the write happens only on that state. */
  readonly ifMatch?: string | undefined;
  /** `*`: the write happens only where nothing is there yet. */
  readonly ifNoneMatch?: '*' | undefined;
  /** For a POST; a fresh one is made for every call that names none. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal | undefined;
}

type Input<I extends CallId> = ParamsPart<Endpoints[I]> & QueryPart<Endpoints[I]> & BodyPart<Endpoints[I]> & CallOptions;
type Arguments<I extends CallId> = NothingNeeded extends Input<I> ? [input?: Input<I>] : [input: Input<I>];

type ClientBody<E extends Endpoint, K extends ReplyKey<E>> = E['replies'][K] extends { media: string } ? Uint8Array : ReplyBody<E, K>;
type ClientReply<E extends Endpoint> = {
  [K in ReplyKey<E>]: { readonly status: E['replies'][K]['status']; readonly body: ClientBody<E, K>; readonly headers: Headers };
}[ReplyKey<E>];

/** What a call answers: one of the replies that the table declares. A `media` reply is bytes. */
type Reply<I extends CallId> = ClientReply<Endpoints[I]>;
interface NotModified {
  readonly status: 304;
  readonly body: undefined;
  readonly headers: Headers;
}

export interface Client {
  readonly baseUrl: string;
  /** Throws `ApiError` for an error answer, `NetworkError` where none came, `InvalidInput` where the input makes no URL. */
  call<I extends CallId>(id: I, ...input: Arguments<I>): Promise<Reply<I>>;
  /** A GET that answers 304 while the resource still carries `etag` (with its quotes). */
  callIfChanged<I extends CallId>(id: I, etag: string, ...input: Arguments<I>): Promise<Reply<I> | NotModified>;
}

export interface ClientOptions {
  /** For example `http://localhost:8787`. */
  readonly baseUrl: string;
  readonly token?: string | undefined;
  readonly fetch?: typeof fetch;
  /** Repetitions of one call after 429, 503 or a broken connection. Default 4. */
  readonly retriesMax?: number;
  /** A longer Retry-After is thrown, not waited for. Default 30 000. */
  readonly waitMsMax?: number;
  /** Resolves after `ms`; rejects when the signal fires. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Jitter, 0 up to 1. */
  readonly random?: () => number;
}

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly param?: string | undefined;
  readonly reason?: string | undefined;
  readonly issues?: readonly { readonly path: string; readonly message: string }[] | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterS?: number | undefined;
}

/** The service answered with an error. `code` is of the catalogue, or UNREADABLE_REPLY where the answer is not Easel's. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly param: string | undefined;
  readonly reason: string | undefined;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
  readonly requestId: string | undefined;
  readonly retryAfterS: number | undefined;

  constructor(problem: Problem) {
    super(problem.message);
    this.name = 'ApiError';
    this.status = problem.status;
    this.code = problem.code;
    this.hint = problem.hint;
    this.param = problem.param;
    this.reason = problem.reason;
    this.issues = problem.issues ?? [];
    this.requestId = problem.requestId;
    this.retryAfterS = problem.retryAfterS;
  }
}

/** No answer came: the service is unreachable or the connection broke. `cause` says how. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
}

/** The input cannot be put into a URL. */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput';
}

interface LooseInput extends CallOptions {
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}
interface Exchange {
  readonly spec: Endpoint;
  readonly url: string;
  readonly init: RequestInit;
  /** Repeating it after an unknown outcome cannot change what happens. */
  readonly repeatable: boolean;
}
interface LooseReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

const RETRIES_MAX = 4;
// A broken connection is more often a service that is not running than a hiccup: say so soon.
const NETWORK_RETRIES_MAX = 2;
const WAIT_MS_FIRST = 250;
const WAIT_MS_MAX = 30_000;

function fillPath(template: string, params: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\*?\}/g, (_, name: string) => {
    const value = String(params[name] ?? '');
    // URLs resolve these two before they are sent, percent-encoded or not: the call would reach another path.
    if (value === '' || value === '.' || value === '..') throw new InvalidInput(`"${value}" cannot be sent as ${name}.`);
    return encodeURIComponent(value);
  });
}

function fillQuery(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, String(value));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

function freshKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function encodeBody(spec: BodySpec | undefined, body: unknown): BodyInit | undefined {
  if (spec === undefined || (body === undefined && spec.kind === 'json' && spec.optional)) return undefined;
  // Nobody hands over shared memory, which is all that the wider type would add.
  return spec.kind === 'json' ? JSON.stringify(body) : (body as Uint8Array<ArrayBuffer>);
}

function prepare(baseUrl: string, token: string | undefined, spec: Endpoint, input: LooseInput, etag: string | undefined): Exchange {
  const headers = new Headers({ accept: 'application/json, */*;q=0.5' });
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const body = encodeBody(spec.body, input.body);
  const fallbackType = spec.body?.kind === 'json' ? 'application/json' : 'application/octet-stream';
  if (body !== undefined) headers.set('content-type', input.mediaType ?? spec.body?.types?.[0] ?? fallbackType);
  if (input.ifMatch !== undefined) headers.set('if-match', input.ifMatch);
  const ifNoneMatch = etag ?? input.ifNoneMatch;
  if (ifNoneMatch !== undefined) headers.set('if-none-match', ifNoneMatch);
  if (spec.method === 'POST') headers.set('idempotency-key', input.idempotencyKey ?? freshKey());
  const conditionalWrite = spec.method === 'PUT' && (input.ifMatch !== undefined || input.ifNoneMatch !== undefined);
  const init: RequestInit = { method: spec.method, headers };
  if (body !== undefined) init.body = body;
  if (input.signal) init.signal = input.signal;
  return {
    spec,
    url: baseUrl + fillPath(spec.path, input.params ?? {}) + fillQuery(input.query ?? {}),
    init,
    repeatable: spec.method === 'GET' || spec.method === 'POST' || (spec.method === 'PUT' && !conditionalWrite),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreadable(response: Response, url: string): ApiError {
  return new ApiError({
    status: response.status,
    code: 'UNREADABLE_REPLY',
    message: `The answer of ${new URL(url).origin} (status ${response.status}) is not one of Easel's.`,
    hint: 'Check that the address is that of an Easel server.',
    requestId: response.headers.get('x-request-id') ?? undefined,
  });
}

function errorOf(response: Response, text: string, url: string): ApiError {
  const parsed = errorBody.safeParse(parseJson(text));
  const retryAfter = response.headers.get('retry-after');
  const retryAfterS = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  if (!parsed.success) {
    // A proxy in front may refuse in its own words; its status and Retry-After still count.
    const { status, code, message, hint, requestId } = unreadable(response, url);
    return new ApiError({ status, code, message, hint, requestId, retryAfterS });
  }
  const { code, error, hint, param, reason, issues, request_id } = parsed.data;
  return new ApiError({ status: response.status, code, message: error, hint, param, reason, issues, requestId: request_id, retryAfterS });
}

async function exchange(send: typeof fetch, { spec, url, init }: Exchange): Promise<LooseReply> {
  let response: Response;
  let bytes: Uint8Array;
  try {
    response = await send(url, init);
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (init.signal?.aborted) throw init.signal.reason;
    throw new NetworkError(`No answer from ${new URL(url).origin}.`, { cause: error });
  }
  const { status, headers } = response;
  if (status === 304) return { status, body: undefined, headers };
  const declared = Object.values(spec.replies).find((reply) => reply.status === status);
  if (declared === undefined) throw status >= 400 ? errorOf(response, new TextDecoder().decode(bytes), url) : unreadable(response, url);
  if ('media' in declared) return { status, body: bytes, headers };
  const body = parseJson(new TextDecoder().decode(bytes));
  if (body === undefined) throw unreadable(response, url);
  return { status, body, headers };
}

/** How long to wait before call number `attempt + 2`, or undefined where repeating is useless or unsafe. */
function waitMsBefore(error: unknown, attempt: number, repeatable: boolean, random: number): number | undefined {
  const waitMs = WAIT_MS_FIRST * 2 ** attempt * (0.5 + random / 2);
  if (error instanceof NetworkError) return repeatable && attempt < NETWORK_RETRIES_MAX ? waitMs : undefined;
  if (!(error instanceof ApiError)) return undefined;
  const refused = error.status === 429 || error.code === 'OWNER_MOVED' || error.code === 'IDEMPOTENCY_IN_PROGRESS';
  if (!refused && !(repeatable && error.status === 503)) return undefined;
  return error.retryAfterS === undefined ? waitMs : error.retryAfterS * 1000;
}

export function createClient(options: ClientOptions): Client {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const { fetch: send = fetch, retriesMax = RETRIES_MAX, waitMsMax = WAIT_MS_MAX, wait = waitFor, random = Math.random } = options;

  async function run(id: CallId, input: LooseInput, etag?: string): Promise<LooseReply> {
    const prepared = prepare(baseUrl, options.token, endpoints[id], input, etag);
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await exchange(send, prepared);
      } catch (error) {
        const waitMs = attempt < retriesMax ? waitMsBefore(error, attempt, prepared.repeatable, random()) : undefined;
        if (waitMs === undefined || waitMs > waitMsMax) throw error;
        await wait(waitMs, input.signal);
      }
    }
  }

  // The table gives the types outside; inside, one loose shape serves every endpoint.
  return {
    baseUrl,
    call: ((id: CallId, input: LooseInput = {}) => run(id, input)) as Client['call'],
    callIfChanged: ((id: CallId, etag: string, input: LooseInput = {}) => run(id, input, etag)) as Client['callIfChanged'],
  };
}
