/**
 * The one way of every call of the table: authenticate, validate, admit, take the body, spend the limit, handle.
 * Each step answers at once where it can; a call whose every step does costs no promise.
 */
import type { ArtifactHead, Principal, Role } from '../../actors/access.ts';
import { holdsExact, jsonText } from '../../actors/json-text.ts';
import type { BodySpec } from '../../protocol/endpoint.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import type { Sql } from '../storage/sql.ts';
import type { Admission, Admitted } from './admission.ts';
import type { Answer } from './answer.ts';
import type { BodyIntake } from './body-intake.ts';
import type { Call } from './call.ts';
import { chain } from './chain.ts';
import { ownPageLines } from './cors.ts';
import type { Exchange } from './exchange.ts';
import type { Hosts } from './hosts.ts';
import { performOnce } from './idempotency.ts';
import { parseJsonDocument } from './json-document.ts';
import { type DataLimit, rateLines, SignupLimit, type Spent } from './limits.ts';
import { answerOf, type Operation } from './operation.ts';
import type { Routed } from './router.ts';

export interface PipelineDeps {
  readonly admission: Admission;
  readonly runtime: DataLimit;
  readonly bodies: BodyIntake;
  readonly hosts: Hosts;
  readonly sql: Sql;
}

/** What a call is read from: an exchange, or one request of a batch. */
export interface CallSource {
  readonly requestId: string;
  readonly address: string;
  readonly nowMs: number;
  readonly headers: { get(name: string): string; optional(name: string): string | undefined };
}

/** A request inside another whose caller is known and whose calls are spent. `body` is undefined where there is none; it may hold exact numbers. */
export interface InnerRequest extends CallSource {
  readonly principal: Principal;
  readonly query: string;
  readonly body: unknown;
}

interface TakenBody {
  readonly value: unknown;
  readonly text: string | undefined;
  readonly bytes: Uint8Array;
}

type Values = Readonly<Record<string, unknown>>;

const NO_VALUES: Values = Object.freeze({});
const NO_BYTES = new Uint8Array(0);
const NO_BODY: TakenBody = { value: undefined, text: undefined, bytes: NO_BYTES };
const EMPTY_BODY: TakenBody = { value: {}, text: '{}', bytes: NO_BYTES };
const DATA_WINDOW_S = 60;
const SIGNUP_WINDOW_S = 3600;

export class Pipeline {
  readonly #deps: PipelineDeps;
  readonly #admission: Admission;
  readonly #signups = new SignupLimit();

  constructor(deps: PipelineDeps) {
    this.#deps = deps;
    this.#admission = deps.admission;
  }

  run(exchange: Exchange, routed: Routed<Operation>): Answer | Promise<Answer> {
    const answer = this.#steps(exchange, routed);
    if (answer instanceof Promise) this.beginBody(exchange, routed.operation);
    return answer;
  }

  /**
   * Receives the body from this turn on, where the caller is still to be looked up and the body would else be lost.
   * One that is too large will be refused and is not received.
   */
  beginBody(exchange: Exchange, { endpoint }: Operation): void {
    const length = exchange.headers.contentLength;
    if (length === 0 || endpoint.body === undefined || length > endpoint.body.bytesMax) return;
    if (endpoint.body.kind === 'stream') this.#deps.bodies.beginStream(exchange);
    else this.#deps.bodies.begin(exchange);
  }

  #steps(exchange: Exchange, routed: Routed<Operation>): Answer | Promise<Answer> {
    const { operation } = routed;
    const { access } = operation.endpoint;
    return chain(this.#admission.principal(access, exchange.headers.authorization, exchange.pass), (principal) => {
      const params = operation.readParams(routed.values);
      const query = operation.readQuery(exchange.query);
      return chain(this.#admission.admit(access, principal, params), (admitted) => {
        if (admitted.head !== undefined && exchange.corsLines !== '') {
          exchange.corsLines = ownPageLines(this.#deps.hosts, exchange, admitted.head.slug) ?? exchange.corsLines;
        }
        const { body } = operation.endpoint;
        if (body === undefined && operation.endpoint.method !== 'POST') {
          return this.#limited(operation, exchange, asCall(new ApiCall(exchange, principal, params, query, admitted, NO_BODY)));
        }
        return chain(body === undefined ? NO_BODY : this.#takeBody(operation, exchange, body), (taken) =>
          this.#once(operation, exchange, asCall(new ApiCall(exchange, principal, params, query, admitted, taken)), taken.bytes),
        );
      });
    });
  }

  /** The same way for a request of a batch, from its parameters on. */
  within(request: InnerRequest, { operation, values }: Routed<Operation>): Answer | Promise<Answer> {
    const { access } = operation.endpoint;
    const params = operation.readParams(values);
    const query = operation.readQuery(request.query);
    return chain(this.#admission.admit(access, request.principal, params), (admitted) => {
      const body = bodyAtHand(operation, request);
      return handled(operation, asCall(new ApiCall(request, request.principal, params, query, admitted, body)));
    });
  }

  #takeBody(operation: Operation, exchange: Exchange, spec: BodySpec): TakenBody | Promise<TakenBody> {
    const length = exchange.headers.contentLength;
    if (length > spec.bytesMax) {
      throw new Failure(spec.tooLarge ?? 'PAYLOAD_TOO_LARGE', { message: `The body is larger than ${spec.bytesMax} bytes.` });
    }
    checkMediaType(exchange.headers.get('content-type'), spec);
    if (spec.kind !== 'json') {
      if (spec.kind === 'stream') return { value: this.#deps.bodies.stream(exchange), text: undefined, bytes: fingerprintOf(exchange) };
      if (length === 0) return { value: NO_BYTES, text: undefined, bytes: NO_BYTES };
      return this.#deps.bodies.read(exchange).then((bytes) => ({ value: bytes, text: undefined, bytes }));
    }
    if (length === 0) {
      if (spec.optional) return operation.readBody === null ? EMPTY_BODY : { ...EMPTY_BODY, value: operation.readBody({}) };
      throw new Failure('INVALID_JSON', { message: 'The body is empty.' });
    }
    return this.#deps.bodies.read(exchange).then((bytes) => {
      const document = parseJsonDocument(bytes);
      return { value: operation.readBody === null ? document.value : operation.readBody(document.value), text: document.text, bytes };
    });
  }

  #once(operation: Operation, exchange: Exchange, call: Call, body: Uint8Array): Answer | Promise<Answer> {
    const key = operation.endpoint.method === 'POST' ? exchange.headers.get('idempotency-key') : '';
    if (key === '') return this.#limited(operation, exchange, call);
    const { method, path, query, address, nowMs } = exchange;
    const request = { principal: call.principal, address, method, path, query, key, body, nowMs };
    return performOnce(this.#deps.sql, request, () => this.#limited(operation, exchange, call)).then((result) => {
      exchange.replayed = result.replayed;
      return result.answer;
    });
  }

  #limited(operation: Operation, exchange: Exchange, call: Call): Answer | Promise<Answer> {
    switch (operation.endpoint.limit) {
      case 'none':
      case 'publish':
        return handled(operation, call);
      case 'signup':
        accept(exchange, 'signup', SIGNUP_WINDOW_S, this.#signups.spend(exchange.address, exchange.nowMs));
        return handled(operation, call);
      case 'data':
        return this.#dataLimited(operation, exchange, call);
      default:
        return operation.endpoint.limit satisfies never;
    }
  }

  #dataLimited(operation: Operation, exchange: Exchange, call: Call): Answer | Promise<Answer> {
    const id = (call.head as { id: ArtifactId }).id;
    // 304 is free, and only the handler knows whether it is one.
    if (operation.isConditionalGet && call.ifNoneMatch !== undefined) {
      return chain(handled(operation, call), (answer) => {
        if (answer.status === 304) return answer;
        return chain(this.#deps.runtime.spend(id), (spent) => {
          accept(exchange, 'data', DATA_WINDOW_S, spent);
          return answer;
        });
      });
    }
    return chain(this.#deps.runtime.spend(id, callsOf(operation, call)), (spent) => {
      accept(exchange, 'data', DATA_WINDOW_S, spent);
      return handled(operation, call);
    });
  }
}

/** What stands for a streamed body where an Idempotency-Key asks whether it is the same again. A boundary differs each time it is sent. */
function fingerprintOf({ headers }: Exchange): Uint8Array {
  return Buffer.from(`${headers.contentLength} ${headers.get('content-type').split(';')[0]}`);
}

/** How many calls of the limit a request spends. */
function callsOf({ endpoint }: Operation, call: Call): number {
  if (endpoint.limitPer === undefined) return 1;
  const counted = (call.body as Readonly<Record<string, unknown>> | undefined)?.[endpoint.limitPer];
  return Array.isArray(counted) ? counted.length : 1;
}

/** The body of a request of a batch, under the rules for one that comes by itself. */
function bodyAtHand(operation: Operation, request: InnerRequest): TakenBody {
  const spec = operation.endpoint.body;
  if (spec === undefined) return NO_BODY;
  if (spec.kind !== 'json')
    throw new Failure('INVALID_REQUEST', { message: 'This takes bytes, not JSON: send it by itself.', param: 'path' });
  checkMediaType(request.headers.get('content-type'), spec);
  if (request.body === undefined) {
    if (!spec.optional) throw new Failure('INVALID_JSON', { message: 'The body is missing.', param: 'body' });
    return operation.readBody === null ? EMPTY_BODY : { ...EMPTY_BODY, value: operation.readBody({}) };
  }
  const text = jsonText(request.body);
  if (Buffer.byteLength(text) > spec.bytesMax) {
    throw new Failure(spec.tooLarge ?? 'PAYLOAD_TOO_LARGE', { message: `The body is larger than ${spec.bytesMax} bytes.` });
  }
  const value = holdsExact(request.body) ? JSON.parse(text) : request.body;
  return { value: operation.readBody === null ? value : operation.readBody(value), text, bytes: NO_BYTES };
}

function handled(operation: Operation, call: Call): Answer | Promise<Answer> {
  return chain(operation.handle(call), (reply) => answerOf(operation, reply, call.ifNoneMatch));
}

function accept(exchange: Exchange, name: string, windowS: number, spent: Spent): void {
  exchange.rateLines = rateLines(name, windowS, spent);
  if (!spent.accepted) throw new Failure('RATE_LIMITED', { retryAfterS: spent.retryAfterS });
}

/** A call as handlers see it. A class, so that what only few handlers ask for is worked out when they ask. */
class ApiCall {
  readonly principal: Principal;
  readonly params: Values;
  readonly query: Values;
  readonly body: unknown;
  readonly bodyText: string | undefined;
  readonly head: ArtifactHead | undefined;
  readonly role: Role;
  readonly ifNoneMatch: string | undefined;
  readonly #source: CallSource;

  constructor(source: CallSource, principal: Principal, params: Values | undefined, query: Values, admitted: Admitted, body: TakenBody) {
    this.principal = principal;
    this.params = params ?? NO_VALUES;
    this.query = query;
    this.body = body.value;
    this.bodyText = body.text;
    this.head = admitted.head;
    this.role = admitted.role;
    this.ifNoneMatch = source.headers.optional('if-none-match');
    this.#source = source;
  }

  get requestId(): string {
    return this.#source.requestId;
  }

  get ifMatch(): string | undefined {
    return this.#source.headers.optional('if-match');
  }

  get accept(): string {
    return this.#source.headers.get('accept');
  }

  get lastEventId(): string | undefined {
    return this.#source.headers.optional('last-event-id');
  }

  get range(): string | undefined {
    return this.#source.headers.optional('range');
  }

  get ifRange(): string | undefined {
    return this.#source.headers.optional('if-range');
  }

  get host(): string {
    return this.#source.headers.get('host');
  }

  get isFromPage(): boolean {
    const { headers } = this.#source;
    // Not Sec-Fetch-Mode, which Node's fetch sends as well.
    return headers.get('origin') !== '' || headers.get('sec-fetch-site') !== '';
  }

  get contentType(): string {
    return this.#source.headers.get('content-type');
  }

  get mediaType(): string | undefined {
    return this.#source.headers.get('content-type').split(';')[0]?.trim().toLowerCase() || undefined;
  }

  get address(): string {
    return this.#source.address;
  }

  get nowMs(): number {
    return this.#source.nowMs;
  }
}

/** Every field was read by the endpoint's own schemas; the table's handlers know their exact types. */
function asCall(call: ApiCall): Call {
  return call as unknown as Call;
}

const JSON_TYPES = ['application/json'] as const;

/** What a body may be, for the Accept header of a 415. */
export function typesOf(spec: BodySpec): readonly string[] | undefined {
  return spec.types ?? (spec.kind === 'json' ? JSON_TYPES : undefined);
}

/** A body without a type is taken for what the endpoint expects. */
function checkMediaType(contentType: string, spec: BodySpec): void {
  const types = typesOf(spec);
  if (contentType === '' || types === undefined || contentType === types[0]) return;
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (!types.includes(type.trim())) {
    throw new Failure('UNSUPPORTED_MEDIA_TYPE', { message: `This takes ${types.join(' or ')}.`, param: 'Content-Type' });
  }
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  if (spec.kind === 'json' && charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new Failure('UNSUPPORTED_MEDIA_TYPE', { message: 'JSON is taken in UTF-8.', param: 'Content-Type' });
  }
}
