/**
 * The one way of every call of the table: authenticate, validate, admit, take the body, spend the limit, handle.
 * Each step answers at once where it can; a call whose every step does costs no promise.
 */
import type { Principal } from '../../actors/access.ts';
import type { BodySpec } from '../../protocol/endpoint.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import type { Sql } from '../storage/sql.ts';
import { Admission, type Admitted, type Authenticator, type Heads } from './admission.ts';
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
  readonly tokens: Authenticator;
  readonly heads: Heads;
  readonly runtime: DataLimit;
  readonly bodies: BodyIntake;
  readonly hosts: Hosts;
  readonly sql: Sql;
}

interface TakenBody {
  readonly value: unknown;
  readonly text: string | undefined;
  readonly bytes: Uint8Array;
}

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
    this.#admission = new Admission(deps.tokens, deps.heads);
  }

  run(exchange: Exchange, { operation, values }: Routed<Operation>): Answer | Promise<Answer> {
    const { access } = operation.endpoint;
    return chain(this.#admission.principal(access, exchange.headers.authorization), (principal) => {
      const params = operation.readParams(values);
      const query = operation.readQuery(exchange.query);
      return chain(this.#admission.admit(access, principal, params), (admitted) => {
        if (admitted.head !== undefined && exchange.corsLines !== '') {
          exchange.corsLines = ownPageLines(this.#deps.hosts, exchange, admitted.head.slug) ?? exchange.corsLines;
        }
        const { body } = operation.endpoint;
        if (body === undefined) return this.#perform(operation, exchange, callOf(exchange, principal, params, query, admitted, NO_BODY));
        return chain(this.#takeBody(operation, exchange, body), (taken) =>
          this.#perform(operation, exchange, callOf(exchange, principal, params, query, admitted, taken)),
        );
      });
    });
  }

  #takeBody(operation: Operation, exchange: Exchange, spec: BodySpec): TakenBody | Promise<TakenBody> {
    const length = exchange.headers.contentLength;
    if (length > spec.bytesMax) {
      throw new Failure(spec.tooLarge ?? 'PAYLOAD_TOO_LARGE', { message: `The body is larger than ${spec.bytesMax} bytes.` });
    }
    checkMediaType(exchange.headers.get('content-type'), spec);
    if (spec.kind === 'bytes') {
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

  #perform(operation: Operation, exchange: Exchange, prepared: PreparedCall): Answer | Promise<Answer> {
    const key = operation.endpoint.method === 'POST' ? exchange.headers.get('idempotency-key') : '';
    if (key === '') return this.#limited(operation, exchange, prepared.call);
    const { method, path, query, address, nowMs } = exchange;
    const { principal } = prepared.call;
    const request = { principal, address, method, path, query, key, body: prepared.bytes, nowMs };
    return performOnce(this.#deps.sql, request, () => this.#limited(operation, exchange, prepared.call)).then((result) => {
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
    return chain(this.#deps.runtime.spend(id), (spent) => {
      accept(exchange, 'data', DATA_WINDOW_S, spent);
      return handled(operation, call);
    });
  }
}

function handled(operation: Operation, call: Call): Answer | Promise<Answer> {
  return chain(operation.handle(call), (reply) => answerOf(operation, reply, call.ifNoneMatch));
}

function accept(exchange: Exchange, name: string, windowS: number, spent: Spent): void {
  exchange.rateLines = rateLines(name, windowS, spent);
  if (!spent.accepted) throw new Failure('RATE_LIMITED', { retryAfterS: spent.retryAfterS });
}

interface PreparedCall {
  readonly call: Call;
  readonly bytes: Uint8Array;
}

function callOf(
  exchange: Exchange,
  principal: Principal,
  params: Readonly<Record<string, unknown>> | undefined,
  query: Readonly<Record<string, unknown>>,
  admitted: Admitted,
  body: TakenBody,
): PreparedCall {
  const { headers } = exchange;
  const call = {
    requestId: exchange.requestId,
    principal,
    params: params ?? {},
    query,
    body: body.value,
    bodyText: body.text,
    mediaType: body === NO_BODY ? undefined : headers.get('content-type').split(';')[0]?.trim().toLowerCase() || undefined,
    ifMatch: headers.optional('if-match'),
    ifNoneMatch: headers.optional('if-none-match'),
    head: admitted.head,
    role: admitted.role,
    get address() {
      return exchange.address;
    },
    nowMs: exchange.nowMs,
  };
  // Every field was read by the endpoint's own schemas; the table's handlers know their exact types.
  return { call: call as unknown as Call, bytes: body.bytes };
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
