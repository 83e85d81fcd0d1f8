/** Calls of the interface that a page makes for its visitor: the same validation, handler and limits as for everybody else. */
import type { Endpoint } from '../../../../protocol/core/endpoint.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { readInput } from '../../../../protocol/core/issues.ts';
import { type EndpointId, endpoints } from '../../../../protocol/table.ts';
import { type ApiCall, asCall } from '../../../edge/api-call.ts';
import type { BaseCall, Call, Handlers, Reply } from '../../../edge/call.ts';
import { bodyReader } from '../../../edge/input.ts';

type Values = Readonly<Record<string, unknown>>;
type ReplyTo<I extends EndpointId> = Awaited<ReturnType<Handlers[I]>>;
type AnyHandler = (call: Call) => Reply | Promise<Reply>;

export interface Given {
  readonly params?: Values;
  readonly query?: Values;
  readonly body?: Values;
}

export class OwnCalls<Ids extends EndpointId> {
  readonly #handlers: Handlers<Ids>;

  constructor(handlers: Handlers<Ids>) {
    this.#handlers = handlers;
  }

  /** Throws the failures of the endpoint, UNAUTHORIZED where it needs an account and nobody is signed in, and INVALID_REQUEST. */
  async make<I extends Ids>(id: I, from: BaseCall, given: Given = {}): Promise<ReplyTo<I>> {
    const endpoint: Endpoint = endpoints[id];
    const { who } = endpoint.access;
    if (who !== 'anyone' && who !== 'account') throw new Error(`${id} needs more than an account; no page can call it`);
    if (who === 'account' && from.principal.kind !== 'user') throw new Failure('UNAUTHORIZED', { reason: 'missing' });
    const call = (from as unknown as ApiCall).as({
      params: read(endpoint.params, given.params ?? {}),
      query: read(endpoint.query, given.query ?? {}),
      body: endpoint.body === undefined ? undefined : (bodyReader(endpoint)?.(given.body ?? {}) ?? given.body),
    });
    // The table keeps each handler's exact type; the call was made for this endpoint.
    const handle = this.#handlers[id] as unknown as AnyHandler;
    return (await handle(asCall(call))) as ReplyTo<I>;
  }
}

function read(schema: Endpoint['params'], given: Values): Values {
  if (schema === undefined) return {};
  const { value, issues = [] } = readInput(schema, given);
  if (value !== undefined) return value as Values;
  const [first] = issues;
  throw new Failure('INVALID_REQUEST', { ...(first && { message: `${first.path}: ${first.message}.`, param: first.path }), issues });
}
