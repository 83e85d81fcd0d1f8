/**
 * The steps of every call of the endpoint table: authenticate, validate, admit, spend the limit, receive the body, handle.
 * Each step is synchronous where it can be; a call whose steps all are allocates no promise.
 */
import type { Principal } from '../../actors/access/access.ts';
import { holdsExact, jsonText } from '../../actors/json/json-text.ts';
import { type BodySpec, takesIdempotencyKey } from '../../protocol/core/endpoint.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type EdgeLimit, FREE_REVALIDATIONS, type RateLimit } from '../../protocol/core/rate-limits.ts';
import { loopTurns } from '../platform/loop-turns.ts';
import type { Sql } from '../storage/sql.ts';
import { networkOf } from './address.ts';
import type { Admission, Admitted } from './admission.ts';
import type { Answer } from './answer.ts';
import type { AnswersInFlight } from './answers-in-flight.ts';
import { ApiCall, asCall, type CallSource, type TakenBody } from './api-call.ts';
import type { BodyIntake } from './body-intake.ts';
import type { ArtifactCall, Call } from './call.ts';
import { chain } from './chain.ts';
import type { Connections } from './connections.ts';
import type { Exchange } from './exchange.ts';
import { Idempotency, ReplayedFailure } from './idempotency.ts';
import { Missing } from './input.ts';
import { parseJsonDocument } from './json-document.ts';
import { JsonReader, refusalOfBeginning } from './json-reader.ts';
import { type Limiters, rateLines, type Spent } from './limits.ts';
import type { Admittance } from './open-access.ts';
import { answerOf, type Operation } from './operation.ts';
import { isWriting } from './pending-calls.ts';
import type { Routed } from './router.ts';

export interface PipelineDeps {
  readonly admission: Admission;
  readonly limiters: Limiters;
  readonly bodies: BodyIntake;
  readonly answers: Pick<AnswersInFlight, 'requireRoom'>;
  readonly connections: Pick<Connections, 'vouch'>;
  readonly sql: Sql;
}

/** A request inside a batch, whose caller is known and whose limit is spent. `body` is undefined where absent; it may hold exact numbers. */
export interface InnerRequest extends CallSource {
  readonly principal: Principal;
  readonly query: string;
  readonly body: unknown;
}

/** What a call has spent of the limit of its endpoint. */
interface Limited {
  readonly rate: EdgeLimit;
  readonly subject: string;
  readonly spent: Spent;
  /** What a body with several requests has spent beyond one call. */
  readonly more?: { readonly spent: Spent; readonly calls: number };
}

/** A larger JSON body is read in slices. A smaller one costs at most about 20 ms, whatever is in it. */
const WHOLE_JSON_BYTES_MAX = LIMITS.bodyBytesMax;
/** Handlers get the text of a body up to this size: that of the largest value which is stored as it was sent. */
const TEXT_BYTES_MAX = LIMITS.jsonValueBytesMax;

const NO_BYTES = new Uint8Array(0);
const NO_BODY: TakenBody = { value: undefined, text: undefined, bytes: NO_BYTES };
const EMPTY_BODY: TakenBody = { value: {}, text: '{}', bytes: NO_BYTES };

export class Pipeline {
  readonly #deps: PipelineDeps;
  readonly #admission: Admission;
  readonly #idempotency: Idempotency;

  constructor(deps: PipelineDeps) {
    this.#deps = deps;
    this.#idempotency = new Idempotency(deps.sql);
    this.#admission = deps.admission;
  }

  run(exchange: Exchange, routed: Routed<Operation>): Answer | Promise<Answer> {
    const answer = this.#steps(exchange, routed);
    if (answer instanceof Promise) this.beginBody(exchange, routed.operation);
    return answer;
  }

  /**
   * Receives the body from this turn on, because the lookup of the caller may await and uWebSockets discards what nobody receives.
   * A body that is too large is not received, because it will be refused.
   */
  beginBody(exchange: Exchange, { endpoint }: Operation): void {
    const length = exchange.headers.contentLength;
    if (length === 0 || endpoint.body === undefined || length > endpoint.body.bytesMax) return;
    if (endpoint.body.kind === 'stream') this.#deps.bodies.beginStream(exchange);
    else this.#deps.bodies.begin(exchange);
  }

  #steps(exchange: Exchange, routed: Routed<Operation>): Answer | Promise<Answer> {
    const { operation } = routed;
    const { access, body } = operation.endpoint;
    return chain(this.#admission.principal(access, exchange), (principal) => {
      const named = operation.readParams(routed.values);
      const params = named instanceof Missing ? named.values : named;
      const query = operation.readQuery(exchange.query);
      return chain(this.#admission.admit(access, principal, exchange.isForeign ? undefined : params), (admitted) => {
        if (named instanceof Missing) throw named.failure;
        if (access.who !== 'anyone') {
          exchange.admittance = admittanceOf(operation, principal, admitted);
          exchange.caller = principal.kind === 'anonymous' ? undefined : principal.tokenId;
          exchange.artifact = admitted.head?.id;
          this.#deps.connections.vouch(exchange);
          this.#deps.answers.requireRoom(exchange);
        }
        if (body !== undefined) checkHead(exchange, body);
        return this.#limited(operation, exchange, new ApiCall(exchange, principal, params, query, admitted, NO_BODY));
      });
    });
  }

  /** Spends the limit before the body is received or anything is computed, so that refused calls cost nothing. */
  #limited(operation: Operation, exchange: Exchange, call: ApiCall): Answer | Promise<Answer> {
    const { rate } = operation;
    if (rate === undefined) return this.#received(operation, exchange, call, undefined);
    const subject = subjectOf(rate, call);
    return chain(this.#deps.limiters[rate.kept].spend(rate, subject), (spent) => {
      accept(exchange, rate, spent);
      return this.#received(operation, exchange, call, { rate, subject, spent });
    });
  }

  #received(operation: Operation, exchange: Exchange, call: ApiCall, limited: Limited | undefined): Answer | Promise<Answer> {
    const { body, method } = operation.endpoint;
    if (body === undefined && method !== 'POST') return this.#read(operation, exchange, call, limited);
    return chain(body === undefined ? NO_BODY : this.#takeBody(operation, exchange, body), (taken) => {
      call.take(taken);
      // Before an Idempotency-Key is claimed, so that a refusal writes nothing.
      return chain(this.#spendMore(operation, exchange, call, limited), (all) => this.#once(operation, exchange, call, taken.bytes, all));
    });
  }

  /** Spends what a body with several requests costs beyond one call. */
  #spendMore(
    operation: Operation,
    exchange: Exchange,
    call: ApiCall,
    limited: Limited | undefined,
  ): Limited | undefined | Promise<Limited> {
    const calls = callsOf(operation, call) - 1;
    if (limited === undefined || calls <= 0) return limited;
    const { rate, subject } = limited;
    return chain(this.#deps.limiters[rate.kept].spend(rate, subject, calls), (spent): Limited => {
      accept(exchange, rate, spent);
      return { ...limited, more: { spent, calls } };
    });
  }

  #read(operation: Operation, exchange: Exchange, call: ApiCall, limited: Limited | undefined): Answer | Promise<Answer> {
    const answer = handled(operation, asCall(call));
    if (limited === undefined || call.ifNoneMatch === undefined || !operation.isConditionalGet) return answer;
    return chain(answer, (known) => {
      if (known.status !== 304) return known;
      // A 304 spends no limit, as long as there are not too many of them.
      const { rate, subject } = limited;
      return chain(this.#deps.limiters[rate.kept].spend(FREE_REVALIDATIONS, subject), ({ accepted }) =>
        accepted ? chain(this.#giveBack(exchange, limited), () => known) : known,
      );
    });
  }

  /** For a call that turns out to cost nothing. */
  #giveBack(exchange: Exchange, { rate, subject, spent, more }: Limited): void | Promise<void> {
    exchange.rateLines = '';
    const limiter = this.#deps.limiters[rate.kept];
    return chain(limiter.giveBack(rate, subject, spent), () =>
      more === undefined ? undefined : limiter.giveBack(rate, subject, more.spent, more.calls),
    );
  }

  /** The same steps for a request of a batch, from its parameters on. */
  within(request: InnerRequest, { operation, values }: Routed<Operation>): Answer | Promise<Answer> {
    const { access } = operation.endpoint;
    const named = operation.readParams(values);
    const params = named instanceof Missing ? named.values : named;
    const query = operation.readQuery(request.query);
    return chain(this.#admission.admit(access, request.principal, params), (admitted) => {
      if (named instanceof Missing) throw named.failure;
      const body = bodyAtHand(operation, request);
      return handled(operation, asCall(new ApiCall(request, request.principal, params, query, admitted, body)));
    });
  }

  #takeBody(operation: Operation, exchange: Exchange, spec: BodySpec): TakenBody | Promise<TakenBody> {
    const length = exchange.headers.contentLength;
    if (spec.kind === 'stream') return { value: this.#deps.bodies.stream(exchange), text: undefined, bytes: fingerprintOf(exchange) };
    if (length === 0) {
      if (spec.kind === 'bytes') return { value: NO_BYTES, text: undefined, bytes: NO_BYTES };
      return operation.readBody === null ? EMPTY_BODY : { ...EMPTY_BODY, value: operation.readBody({}) };
    }
    const { jsonBounds } = operation;
    const check = spec.kind === 'json' ? (beginning: Buffer) => refusalOfBeginning(beginning, jsonBounds) : undefined;
    return this.#deps.bodies.read(exchange, check).then((bytes) => {
      if (spec.kind === 'bytes') return { value: bytes, text: undefined, bytes };
      if (length > WHOLE_JSON_BYTES_MAX) return this.#readInSlices(operation, bytes, networkOf(exchange.address));
      const document = parseJsonDocument(bytes);
      return { value: operation.readBody === null ? document.value : operation.readBody(document.value), text: document.text, bytes };
    });
  }

  async #readInSlices(operation: Operation, bytes: Buffer, network: string): Promise<TakenBody> {
    const reader = new JsonReader(bytes, operation.jsonBounds);
    do await loopTurns.next(network);
    while (!reader.advance());
    const { value } = reader;
    const text = bytes.length > TEXT_BYTES_MAX ? undefined : bytes.toString('utf8');
    return { value: operation.readBody === null ? value : operation.readBody(value), text, bytes };
  }

  #once(operation: Operation, exchange: Exchange, call: ApiCall, body: Uint8Array, limited: Limited | undefined): Answer | Promise<Answer> {
    const { endpoint } = operation;
    const key = takesIdempotencyKey(endpoint) ? exchange.headers.get('idempotency-key') : '';
    if (key === '') return handled(operation, asCall(call));
    const { method, path, query, address, nowMs } = exchange;
    const request = { principal: call.principal, address, method, path, query, key, body, nowMs };
    // A replay spends nothing, because the first call has spent for both.
    const giveBack = () => (limited === undefined ? undefined : this.#giveBack(exchange, limited));
    return this.#idempotency
      .perform(request, () => handled(operation, asCall(call)))
      .then(
        async (result) => {
          exchange.replayed = result.replayed;
          if (result.replayed) await giveBack();
          return result.answer;
        },
        async (error) => {
          if (error instanceof ReplayedFailure) await giveBack();
          throw error;
        },
      );
  }
}

/** The subject whose quota a call spends. */
function subjectOf({ by }: EdgeLimit, call: ApiCall): string {
  switch (by) {
    case 'artifact':
      // The route table has checked that the endpoint names an artifact.
      return (call as unknown as ArtifactCall).head.id;
    case 'user':
      // Marked, because the text that a proxy names as an address may be spelled like the id of a person.
      if (call.principal.kind === 'anonymous') return `network ${networkOf(call.address)}`;
      // All linked accounts of a person together.
      return call.principal.kind === 'user' ? call.principal.person.id : call.principal.tokenId;
    case 'address':
      return networkOf(call.address);
    default:
      return by satisfies never;
  }
}

/** The identity of a streamed body for an Idempotency-Key. The multipart boundary is left out, because it differs in every repetition. */
function fingerprintOf({ headers }: Exchange): Uint8Array {
  return Buffer.from(`${headers.contentLength} ${headers.get('content-type').split(';')[0]}`);
}

/** How many calls of the limit a request spends. */
function callsOf({ endpoint }: Operation, call: ApiCall): number {
  if (endpoint.limitPer === undefined) return 1;
  const counted = (call.body as Readonly<Record<string, unknown>> | undefined)?.[endpoint.limitPer];
  return Array.isArray(counted) ? counted.length : 1;
}

/** The body of a request of a batch, under the rules of a single request. */
function bodyAtHand(operation: Operation, request: InnerRequest): TakenBody {
  const spec = operation.endpoint.body;
  if (spec === undefined) return NO_BODY;
  if (spec.kind !== 'json') throw new Error(`a batch admitted ${operation.id}, which takes bytes`);
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

function admittanceOf({ endpoint: { access, method, reads } }: Operation, principal: Principal, admitted: Admitted): Admittance {
  // What is in the trash has no head among the live ones, and its owner is decided anew by each call.
  const head = access.who === 'artifact' && access.trashed ? undefined : admitted.head;
  return {
    principal,
    artifactId: head?.id,
    head,
    access,
    role: admitted.role,
    seat: admitted.seat,
    reads: !isWriting(method, access, reads === true),
  };
}

function handled(operation: Operation, call: Call): Answer | Promise<Answer> {
  // The access may have ended while the body arrived or the limit was spent.
  if (call.refusal !== undefined) throw call.refusal;
  return chain(operation.handle(call), (reply) => answerOf(operation, reply, call.ifNoneMatch));
}

function accept(exchange: Exchange, { name, windowS }: RateLimit, spent: Spent): void {
  exchange.rateLines = rateLines(name, windowS, spent);
  if (!spent.accepted) throw new Failure('RATE_LIMITED', { retryAfterS: spent.retryAfterS });
}

const JSON_TYPES = ['application/json'] as const;

/** The media types of a body, for the Accept header of a 415. */
export function typesOf(spec: BodySpec): readonly string[] | undefined {
  return spec.types ?? (spec.kind === 'json' ? JSON_TYPES : undefined);
}

/** Refuses what the head says about the body, before any of it is received. */
function checkHead({ headers }: Exchange, spec: BodySpec): void {
  const length = headers.contentLength;
  if (length > spec.bytesMax) {
    throw new Failure(spec.tooLarge ?? 'PAYLOAD_TOO_LARGE', { message: `The body is larger than ${spec.bytesMax} bytes.` });
  }
  checkMediaType(headers.get('content-type'), spec);
  if (length === 0 && spec.kind === 'json' && spec.optional !== true) throw new Failure('INVALID_JSON', { message: 'The body is empty.' });
}

/** A body without a type is read as the type that the endpoint expects. */
function checkMediaType(contentType: string, spec: BodySpec): void {
  const types = typesOf(spec);
  if (contentType === '' || types === undefined || contentType === types[0]) return;
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (!types.includes(type.trim())) {
    throw new Failure('UNSUPPORTED_MEDIA_TYPE', { message: `The body must be ${types.join(' or ')}.`, param: 'Content-Type' });
  }
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  if (spec.kind === 'json' && charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new Failure('UNSUPPORTED_MEDIA_TYPE', { message: 'The charset of JSON must be UTF-8.', param: 'Content-Type' });
  }
}
