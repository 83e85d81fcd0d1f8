/** Many requests of one artifact in one. Each goes the way of a request that comes by itself, from its parameters on. */

import { inOneTurn, Undone } from '../../actors/atomic.ts';
import { parseJson } from '../../actors/json-text.ts';
import type { ActorRuntime } from '../../actors/runtime.ts';
import { Failure, type Issue } from '../../protocol/errors.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { BATCH_HEADERS, type BatchRequest } from '../../protocol/schemas/batch.ts';
import type { EndpointId, Endpoints } from '../../protocol/table.ts';
import type { Answer } from './answer.ts';
import type { Call, Handlers } from './call.ts';
import { failureAnswer } from './failures.ts';
import { DATA_PREFIX, type Operation } from './operation.ts';
import type { InnerRequest, Pipeline } from './pipeline.ts';
import type { Routed, Router } from './router.ts';
import { type Asked, TurnCollector } from './turn-collector.ts';

type BatchCall = Call<Endpoints['data.batch']>;

/** Handlers that do everything in one `ask`, on a runtime of the caller's. Only these can be part of an atomic batch. */
export type AtomicHandlers = (runtime: Pick<ActorRuntime, 'ask'>) => Partial<Handlers>;

export interface BatchDeps {
  readonly find: Router<Operation>['find'];
  readonly within: Pipeline['within'];
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  readonly atomic: AtomicHandlers;
  /** Of a bug in a request of a batch. */
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
      };
    },
  };
}

/** The requests, in their bodies the numbers that JSON.parse would have changed as they were sent. */
function exactRequests({ body, bodyText }: BatchCall): readonly BatchRequest[] {
  const sent = bodyText === undefined ? null : (parseJson(bodyText, null) as { readonly requests: readonly BatchRequest[] } | null);
  return sent === null ? body.requests : body.requests.map((request, index) => ({ ...request, body: sent.requests[index]?.body }));
}

/** In their order, each after the one before it has been answered. One that fails does not stop the others. */
async function oneByOne(deps: BatchDeps, call: BatchCall): Promise<string[]> {
  const results: string[] = [];
  const room = new Room();
  for (const request of exactRequests(call)) {
    results.push(resultOf(request, room.fit(request, await answered(deps, call, request))));
  }
  return results;
}

async function answered(deps: BatchDeps, call: BatchCall, request: BatchRequest): Promise<Answer> {
  try {
    const { routed, request: inner } = found(deps.find, call, request);
    return jsonOnly(await deps.within(inner, routed));
  } catch (error) {
    if (!(error instanceof Failure)) deps.report(error, { requestId: call.requestId, method: request.method, path: request.path });
    const failure = error instanceof Failure ? error : new Failure('INTERNAL_ERROR');
    return failureAnswer(failure, { requestId: call.requestId, path: request.path, accept: '' });
  }
}

/** Throws the failure of the request that refused, which names it; then nothing has changed. */
async function allOrNone(deps: BatchDeps, call: BatchCall): Promise<string[]> {
  const requests = exactRequests(call);
  const collector = new TurnCollector();
  const handlers = deps.atomic(collector);
  const answers: (Answer | Promise<Answer>)[] = [];
  /** Which request each collected turn belongs to. */
  const owners: number[] = [];
  for (const [index, request] of requests.entries()) {
    const before = collector.asked.length;
    try {
      const { routed, request: inner } = found(deps.find, call, request);
      const answer = deps.within(inner, { ...routed, operation: atomically(routed.operation, handlers) });
      answers.push(answer);
      // Only the first turns are collected while others are still on their way to theirs: one after the other keeps their order.
      if (answer instanceof Promise) {
        answer.catch(() => undefined);
        await Promise.race([answer, collector.askedMoreThan(before)]);
      }
    } catch (error) {
      throw named(error, index);
    }
    while (owners.length < collector.asked.length) owners.push(index);
  }
  await inOneStep(deps.runtime, call.params.artifactId, collector, owners);
  const whole = await Promise.all(answers);
  const room = new Room();
  return requests.map((request, index) => resultOf(request, room.fit(request, jsonOnly(whole[index] as Answer))));
}

async function inOneStep(
  runtime: BatchDeps['runtime'],
  artifactId: ArtifactId,
  collector: TurnCollector,
  owners: readonly number[],
): Promise<void> {
  const asked: readonly Asked[] = collector.close();
  const { turn, prepare } = inOneTurn(asked);
  try {
    const values = await runtime.ask(artifactId, turn, prepare);
    for (const [index, one] of asked.entries()) one.resolve(values[index]);
  } catch (error) {
    for (const one of asked) one.reject(error);
    throw error instanceof Undone ? named(error.failure, owners[error.index] ?? 0) : error;
  }
}

function atomically(operation: Operation, handlers: Partial<Handlers>): Operation {
  const handle = handlers[operation.id] as unknown as Operation['handle'] | undefined;
  if (handle !== undefined) return { ...operation, handle };
  throw new Failure('INVALID_REQUEST', {
    message: 'This cannot be part of an atomic batch: it reads or changes more than one step of the artifact can.',
    param: 'path',
    hint: 'Send it by itself, or leave out atomic.',
  });
}

/** The failure with the number of its request in `param`, so that the caller knows which one it was. */
function named(error: unknown, index: number): unknown {
  if (!(error instanceof Failure)) return error;
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

/** Throws what a request of its own would be refused with, or INVALID_REQUEST for what cannot be in a batch. */
function found(find: BatchDeps['find'], call: BatchCall, request: BatchRequest): Found {
  const [path = '', ...queries] = request.path.split('?');
  const result = find(request.method, `${DATA_PREFIX}${call.params.artifactId}/${path.replace(/^\//, '')}`);
  if (result.kind === 'unknown') throw new Failure('NOT_FOUND', { param: 'path' });
  if (result.kind === 'wrong_method') {
    throw new Failure('METHOD_NOT_ALLOWED', { message: `This path takes ${result.allow}.`, param: 'method' });
  }
  const id: EndpointId = result.operation.id;
  if (id === 'data.batch') throw new Failure('INVALID_REQUEST', { message: 'A batch cannot hold a batch.', param: 'path' });
  return {
    routed: result,
    request: {
      requestId: call.requestId,
      address: call.address,
      nowMs: call.nowMs,
      principal: call.principal,
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
        throw new Failure('INVALID_REQUEST', { message: `${name} means nothing inside a batch.`, param: `headers.${name}` });
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

/** Streams are never begun: a batch is one JSON document. */
function jsonOnly(answer: Answer): Answer {
  const isJson = answer.type === undefined || answer.type.startsWith('application/json');
  if (answer.stream === undefined && isJson) return answer;
  throw new Failure('INVALID_REQUEST', { message: 'This answers with something else than JSON: send it by itself.', param: 'path' });
}

/** What is left of the bytes that one batch may answer with. */
class Room {
  #leftBytes: number = LIMITS.batchReplyBytesMax;

  fit(request: BatchRequest, answer: Answer): Answer {
    const bytes = answer.payload?.length ?? 0;
    if (bytes <= this.#leftBytes) {
      this.#leftBytes -= bytes;
      return answer;
    }
    // A write has been done, which is what its caller must learn; what was stored can be read.
    if (request.method !== 'GET') return { ...answer, payload: '{"success":true,"data":null,"truncated":true}' };
    const failure = new Failure('PAYLOAD_TOO_LARGE', { message: 'The answer of the batch is full: send this request by itself.' });
    return failureAnswer(failure, { requestId: '', path: request.path, accept: '' });
  }
}

/** The answer's own members, as they are, after those that say whose answer it is. */
function resultOf(request: BatchRequest, answer: Answer): string {
  const head = `"path":${JSON.stringify(request.path)},"method":"${request.method}","status":${answer.status}`;
  const etag = answer.etag === undefined ? '' : `,"etag":${JSON.stringify(answer.etag)}`;
  const payload = answer.payload === null ? '{"success":true}' : answer.payload.toString();
  return `{${head}${etag},${payload.slice(1)}`;
}
