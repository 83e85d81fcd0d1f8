/** The typed client: one method per endpoint, named by its operation id, except for WebSockets. Runs in Node 20 and in browsers. */
import type { z } from 'zod';
import type { BodyIn, BodySpec, Endpoint, ParamsIn, QueryIn, QueryOf, ReplyBody, ReplyKey } from '../../../protocol/core/endpoint.ts';
import { errorBody } from '../../../protocol/core/fields.ts';
import { type EndpointId, type Endpoints, endpoints, type SocketEndpointId } from '../../../protocol/table.ts';
import { isReplyOf } from './reply-shape.ts';
import { waitFor } from './wait.ts';

/** WebSocket endpoints are not calls. */
type CallId = Exclude<EndpointId, SocketEndpointId>;

type NothingNeeded = Record<never, never>;

/** Query parameters as typed values, such as `limit: 10` or `values: true`, or as the strings of the URL. */
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
  /** Media type of the body. Default: the first that the endpoint accepts. */
  readonly mediaType?: string;
  /** An ETag with its quotes, or a plain `updatedAt`: the write succeeds only if the resource has not changed since. */
  readonly ifMatch?: string | undefined;
  /** `*`: the write succeeds only if the resource does not exist yet. */
  readonly ifNoneMatch?: '*' | undefined;
  /** Idempotency-Key of a POST. Default: a new one for each call. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal | undefined;
}

type Input<E extends Endpoint> = ParamsPart<E> & QueryPart<E> & BodyPart<E> & CallOptions;
type Arguments<E extends Endpoint> = NothingNeeded extends Input<E> ? [input?: Input<E>] : [input: Input<E>];

type ClientBody<E extends Endpoint, K extends ReplyKey<E>> = E['replies'][K] extends { media: string } ? Uint8Array : ReplyBody<E, K>;
/** The reply of a call, one of those that the table declares. The body of a `media` reply is bytes. */
type ClientReply<E extends Endpoint> = {
  [K in ReplyKey<E>]: {
    readonly status: E['replies'][K] extends { anyStatus: true } ? number : E['replies'][K]['status'];
    readonly body: ClientBody<E, K>;
    readonly headers: Headers;
  };
}[ReplyKey<E>];
interface NotModified {
  readonly status: 304;
  readonly body: undefined;
  readonly headers: Headers;
}

/** Throws `ApiError` for an error reply, `NetworkError` if no reply arrived, `InvalidInput` if the input cannot be put into a URL. */
type Call<E extends Endpoint> = (...input: Arguments<E>) => Promise<ClientReply<E>>;
interface ConditionalCall<E extends Endpoint> {
  (...input: Arguments<E>): Promise<ClientReply<E>>;
  /** Resolves with status 304 if the resource still has this `etag` (with its quotes). */
  ifChanged(etag: string, ...input: Arguments<E>): Promise<ClientReply<E> | NotModified>;
}
type MethodOf<E extends Endpoint> = E extends { method: 'GET'; conditional: NonNullable<unknown> } ? ConditionalCall<E> : Call<E>;

type GroupName<Id extends string> = Id extends `${infer Group}.${string}` ? Group : never;
/** The method of one endpoint. A client of some endpoints is made of these: to pick them out of `Client` resolves all of its groups. */
export type ClientMethod<I extends CallId> = MethodOf<Endpoints[I]>;
type GroupOf<Group extends string> = {
  readonly [I in CallId as I extends `${Group}.${infer Name}` ? Name : never]: ClientMethod<I>;
};
/**
 * The endpoint `artifacts.get` is `client.artifacts.get(…)`. These are mapped types and not one method that is generic over the ids, so that the
 * compiler checks only the called endpoint and not the union of all of them.
 */
type Groups = { readonly [Group in GroupName<CallId>]: GroupOf<Group> };

export interface Client extends Groups {
  readonly baseUrl: string;
}

export interface ClientOptions {
  /** For example `http://localhost:8787`. */
  readonly baseUrl: string;
  readonly token?: string | undefined;
  readonly fetch?: typeof fetch;
  /** Maximum number of repetitions of a call after 429, 503 or a broken connection. Default 4. */
  readonly retriesMax?: number;
  /** With a longer Retry-After the error is thrown instead. Default 30 000. */
  readonly waitMsMax?: number;
  /** Resolves after `ms`; rejects when the signal fires. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Random number from 0 to 1, for jitter. */
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
  /** On a merge: the text with both sides of the conflict marked. */
  readonly conflict?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterS?: number | undefined;
}

/** An error reply. `code` is in the catalogue, or UNREADABLE_REPLY if the reply is not from Easel. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly param: string | undefined;
  readonly reason: string | undefined;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
  readonly conflict: string | undefined;
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
    this.conflict = problem.conflict;
    this.requestId = problem.requestId;
    this.retryAfterS = problem.retryAfterS;
  }
}

/** No reply arrived: the service is unreachable or the connection broke. `cause` has the details. */
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
  /** True if a repetition after an unknown outcome is safe. */
  readonly repeatable: boolean;
}
interface LooseReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

const RETRIES_MAX = 4;
// Fewer attempts if the connection fails: the service is probably not running, and the caller should learn it soon.
const NETWORK_RETRIES_MAX = 2;
const WAIT_MS_FIRST = 250;
const WAIT_MS_MAX = 30_000;
const PASSED_ON = 'x-proxy-cache';

function fillPath(template: string, params: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\*?\}/g, (_, name: string) => {
    const value = String(params[name] ?? '');
    // The URL parser resolves "." and ".." even when percent-encoded, so the call would reach another path.
    if (value === '' || value === '.' || value === '..') throw new InvalidInput(`"${value}" is not a valid value of ${name}.`);
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
  // The wider type only adds shared memory, which callers do not pass.
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
    message: `The answer of ${new URL(url).origin} (status ${response.status}) is not from Easel.`,
    hint: 'Check that the address is that of an Easel server.',
    requestId: response.headers.get('x-request-id') ?? undefined,
  });
}

function errorOf(response: Response, text: string, url: string): ApiError {
  const parsed = errorBody.safeParse(parseJson(text));
  const retryAfter = response.headers.get('retry-after');
  const retryAfterS = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  if (!parsed.success) {
    // A proxy may answer with a body of its own; its status and Retry-After still count.
    const { status, code, message, hint, requestId } = unreadable(response, url);
    return new ApiError({ status, code, message, hint, requestId, retryAfterS });
  }
  const { code, error: message, hint, param, reason, issues, conflict, request_id: requestId } = parsed.data;
  return new ApiError({ status: response.status, code, message, hint, param, reason, issues, conflict, requestId, retryAfterS });
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
  // The answer of somebody else, whatever its status: our own errors do not have this header.
  if (headers.has(PASSED_ON) && spec.replies.ok !== undefined && 'anyStatus' in spec.replies.ok) return { status, body: bytes, headers };
  const declared = Object.values(spec.replies).find((reply) => reply.status === status);
  if (declared === undefined) throw status >= 400 ? errorOf(response, new TextDecoder().decode(bytes), url) : unreadable(response, url);
  if ('media' in declared) return { status, body: bytes, headers };
  const body = parseJson(new TextDecoder().decode(bytes));
  if (body === undefined || !isReplyOf(spec, status, body)) throw unreadable(response, url);
  return { status, body, headers };
}

/** The wait before attempt number `attempt + 2`; undefined if a repetition is useless or unsafe. */
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

  async function run(endpoint: Endpoint, input: LooseInput, etag?: string): Promise<LooseReply> {
    const prepared = prepare(baseUrl, options.token, endpoint, input, etag);
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

  const groups: Record<string, Record<string, unknown>> = {};
  for (const [id, endpoint] of Object.entries<Endpoint>(endpoints)) {
    if (endpoint.socket !== undefined) continue;
    const dot = id.indexOf('.');
    const method = (input: LooseInput = {}) => run(endpoint, input);
    const ifChanged = (etag: string, input: LooseInput = {}) => run(endpoint, input, etag);
    const group = groups[id.slice(0, dot)] ?? {};
    groups[id.slice(0, dot)] = group;
    group[id.slice(dot + 1)] = Object.assign(method, endpoint.conditional ? { ifChanged } : {});
  }
  // Callers see the types of the table; the implementation uses one loose type for all endpoints.
  return { ...groups, baseUrl } as unknown as Client;
}
