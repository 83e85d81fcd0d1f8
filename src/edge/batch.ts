/** Several requests to one artifact in one call. Each takes the path of a single request, from the parsing of its parameters on. */
import { setImmediate } from 'node:timers/promises';
import { parseJson } from '../../actors/json/json-text.ts';
import { inOneTurn, Undone } from '../../actors/runtime/atomic.ts';
import type { ActorRuntime } from '../../actors/runtime/runtime.ts';
import type { Endpoint } from '../../protocol/core/endpoint.ts';
import { Failure, type Issue } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { BATCH_HEADERS, type BatchRequest } from '../../protocol/data/batch.ts';
import type { EndpointId, Endpoints } from '../../protocol/table.ts';
import type { Answer } from './answer.ts';
import type { Call, Handlers } from './call.ts';
import { failureAnswer } from './failures.ts';
import { DATA_PREFIX, type Operation } from './operation.ts';
import type { InnerRequest, Pipeline } from './pipeline.ts';
import type { Routed, Router } from './router.ts';
import { type Asked, TurnCollector } from './turn-collector.ts';

/** Requests of a batch run for so long before other callers get their turn. */
const UNINTERRUPTED_MS = 10;

type BatchCall = Call<Endpoints['data.batch']>;

/** Handlers that do everything in one `ask`, on a runtime that the caller passes. Only these can be part of an atomic batch. */
export type AtomicHandlers = (runtime: Pick<ActorRuntime, 'ask'>) => Partial<Handlers>;

export interface BatchDeps {
  readonly find: Router<Operation>['find'];
  readonly within: Pipeline['within'];
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  readonly atomic: AtomicHandlers;
  /** Reports a bug in one request of a batch. */
  report(error: unknown, fields: object): void;
}

interface Found {
  readonly request: InnerRequest;
  readonly routed: Routed<Operation>;
}

export function batchHandlers(deps: BatchDeps): Handlers<'data.batch'> {
  return {
    'data.batch': async (call) => {
      const results = call.body.atomic ? await allOrNone(deps, call) : await oneByOne(deps, call);
      return {
        reply: 'ok',
        body: { success: true, data: { results: [] } },
        json: `{"success":true,"data":{"results":[${results.join(',')}]}}`,
        changedNothing: call.body.requests.every(({ method }) => method === 'GET'),
      };
    },
  };
}

/** The requests. Numbers in their bodies that JSON.parse would change are kept as they were sent. */
function exactRequests({ body, bodyText }: BatchCall): readonly BatchRequest[] {
  const sent = bodyText === undefined ? null : (parseJson(bodyText, null) as { readonly requests: readonly BatchRequest[] } | null);
  return sent === null ? body.requests : body.requests.map((request, index) => ({ ...request, body: sent.requests[index]?.body }));
}

/** Runs the requests one after the other, in their order. A failed request does not stop the others. */
async function oneByOne(deps: BatchDeps, call: BatchCall): Promise<string[]> {
  const results: string[] = [];
  const room = new Room();
  let startedMs = performance.now();
  for (const [index, request] of exactRequests(call).entries()) {
    results.push(resultOf(request, room.fit(request, await answered(deps, call, request, index))));
    // Requests that wait for nothing would keep all other callers waiting for the whole batch.
    if (performance.now() - startedMs < UNINTERRUPTED_MS) continue;
    await setImmediate();
    startedMs = performance.now();
  }
  return results;
}

async function answered(deps: BatchDeps, call: BatchCall, request: BatchRequest, index: number): Promise<Answer> {
  try {
    const { routed, request: inner } = found(deps.find, call, request, index);
    return jsonOnly(await deps.within(inner, routed), index);
  } catch (error) {
    if (!(error instanceof Failure)) deps.report(error, { requestId: call.requestId, method: request.method, path: request.path });
    const failure = error instanceof Failure ? error : new Failure('INTERNAL_ERROR');
    return failureAnswer(failure, { requestId: call.requestId, path: request.path, accept: '' });
  }
}

/** Throws the failure of the request that was refused, with its number; then nothing has changed. */
async function allOrNone(deps: BatchDeps, call: BatchCall): Promise<string[]> {
  const requests = exactRequests(call);
  const collector = new TurnCollector();
  const handlers = deps.atomic(collector);
  const answers: (Answer | Promise<Answer>)[] = [];
  /** The request that each collected turn belongs to. */
  const owners: number[] = [];
  for (const [index, request] of requests.entries()) {
    const before = collector.asked.length;
    try {
      const { routed, request: inner } = found(deps.find, call, request, index);
      const answer = deps.within(inner, { ...routed, operation: atomically(routed.operation, handlers, index) });
      answers.push(answer);
      // Each request must have asked for its turn before the next one starts, so that the turns keep the order of the requests.
      if (answer instanceof Promise) {
        answer.catch(() => undefined);
        await Promise.race([answer, collector.askedMoreThan(before)]);
      }
    } catch (error) {
      throw named(error, index);
    }
    while (owners.length < collector.asked.length) owners.push(index);
  }
  await inOneStep(deps.runtime, call, collector, owners);
  const whole = await Promise.all(answers);
  const room = new Room();
  return requests.map((request, index) => resultOf(request, room.fit(request, jsonOnly(whole[index] as Answer, index))));
}

async function inOneStep(
  runtime: BatchDeps['runtime'],
  call: BatchCall,
  collector: TurnCollector,
  owners: readonly number[],
): Promise<void> {
  const asked: readonly Asked[] = collector.close();
  const { turn, prepare } = inOneTurn(asked);
  try {
    const values = await runtime.ask(call.params.artifactId, turn, prepare, call);
    for (const [index, one] of asked.entries()) one.resolve(values[index]);
  } catch (error) {
    for (const one of asked) one.reject(error);
    throw error instanceof Undone ? named(error.failure, owners[error.index] ?? 0) : error;
  }
}

function atomically(operation: Operation, handlers: Partial<Handlers>, index: number): Operation {
  const handle = handlers[operation.id] as unknown as Operation['handle'] | undefined;
  if (handle !== undefined) return { ...operation, handle };
  const why = 'it reads or changes more than one step of the artifact can';
  throw new Unfit(index, `cannot be part of an atomic batch: ${why}.`, 'Send it by itself, or leave out atomic.');
}

/** A request that no batch of this kind takes, whatever its position. */
class Unfit extends Failure {
  constructor(index: number, problem: string, hint: string) {
    const param = `requests[${index}]`;
    super('INVALID_REQUEST', { message: `${param}: ${problem}`, param, hint });
  }
}

/** The failure with the number of its request in `param`, so that the caller knows which one it was. */
function named(error: unknown, index: number): unknown {
  if (!(error instanceof Failure) || error instanceof Unfit) return error;
  const { details } = error;
  const at = (path: string | undefined) => (path === undefined || path === '' ? `requests.${index}` : `requests.${index}.${path}`);
  const issues = details.issues?.map((issue): Issue => ({ ...issue, path: at(issue.path) }));
  return new Failure(error.code, {
    ...details,
    message: `${error.message} Nothing of the batch was done.`,
    param: at(details.param ?? details.issues?.[0]?.path),
    ...(issues && { issues }),
  });
}

/** Throws the failure of the same request sent by itself, or INVALID_REQUEST for a request that cannot be in a batch. */
function found(find: BatchDeps['find'], call: BatchCall, request: BatchRequest, index: number): Found {
  const [path = '', ...queries] = request.path.split('?');
  const result = find(request.method, `${DATA_PREFIX}${call.params.artifactId}/${path.replace(/^\//, '')}`);
  if (result.kind === 'unknown') throw new Failure('NOT_FOUND', { param: 'path' });
  if (result.kind === 'wrong_method') {
    throw new Failure('METHOD_NOT_ALLOWED', { message: `This path takes ${result.allow}.`, param: 'method' });
  }
  const id: EndpointId = result.operation.id;
  if (id === 'data.batch') throw new Unfit(index, 'a batch cannot contain a batch.', 'Put its requests into this one.');
  if (!isJsonBothWays(result.operation.endpoint)) throw new Unfit(index, NOT_JSON, BY_ITSELF);
  return {
    routed: result,
    request: {
      requestId: call.requestId,
      address: call.address,
      // The caller of a batch is known; its requests sign nobody in.
      cookies: '',
      nowMs: call.nowMs,
      principal: call.principal,
      get refusal() {
        return call.refusal;
      },
      get ended() {
        return call.ended;
      },
      headers: new InnerHeaders(request.headers ?? {}, id === 'data.changes' ? 'application/json' : ''),
      query: queries.join('?'),
      body: request.body,
    },
  };
}

class InnerHeaders {
  readonly #values: ReadonlyMap<string, string>;

  constructor(given: Readonly<Record<string, string>>, accept: string) {
    const values = new Map([['accept', accept]]);
    for (const [name, value] of Object.entries(given)) {
      const known = BATCH_HEADERS.find((one) => one === name.toLowerCase());
      if (known === undefined) {
        throw new Failure('INVALID_REQUEST', { message: `The header ${name} cannot be used inside a batch.`, param: `headers.${name}` });
      }
      values.set(known, value);
    }
    this.#values = values;
  }

  get(name: string): string {
    return this.#values.get(name) ?? '';
  }

  optional(name: string): string | undefined {
    return this.get(name) || undefined;
  }
}

const NOT_JSON = 'is not a request and an answer in JSON.';
const BY_ITSELF = 'Send it by itself.';

function isJsonBothWays({ socket, body, replies }: Endpoint): boolean {
  return socket === undefined && (body === undefined || body.kind === 'json') && Object.values(replies).some((reply) => 'body' in reply);
}

/** A batch is one JSON document, so streams are refused before they begin. */
function jsonOnly(answer: Answer, index: number): Answer {
  const isJson = answer.type === undefined || answer.type.startsWith('application/json');
  if (answer.stream === undefined && isJson) return answer;
  throw new Unfit(index, NOT_JSON, BY_ITSELF);
}

/** Bytes that the answer of one batch may still have. */
class Room {
  #leftBytes: number = LIMITS.batchReplyBytesMax;

  fit(request: BatchRequest, answer: Answer): Answer {
    const bytes = answer.payload?.length ?? 0;
    if (bytes <= this.#leftBytes) {
      this.#leftBytes -= bytes;
      return answer;
    }
    // The caller must learn that its write was done; it can read the stored value afterwards.
    if (request.method !== 'GET') return { ...answer, payload: '{"success":true,"data":null,"truncated":true}' };
    const failure = new Failure('PAYLOAD_TOO_LARGE', { message: 'The answer of the batch has no room for this reply.', hint: BY_ITSELF });
    return failureAnswer(failure, { requestId: '', path: request.path, accept: '' });
  }
}

/** The members of the answer itself, unchanged, after those that identify the request. */
function resultOf(request: BatchRequest, answer: Answer): string {
  const head = `"path":${JSON.stringify(request.path)},"method":"${request.method}","status":${answer.status}`;
  const etag = answer.etag === undefined ? '' : `,"etag":${JSON.stringify(answer.etag)}`;
  const payload = answer.payload === null ? '{"success":true}' : answer.payload.toString();
  return `{${head}${etag},${payload.slice(1)}`;
}
