/** Reads the calls of a script as the API reads requests: by the endpoint table, with the same refusals. */
import type { Role } from '../../../../../actors/access/access.ts';
import type { Endpoint } from '../../../../../protocol/core/endpoint.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { newId } from '../../../../../protocol/core/ids.ts';
import { endpoints } from '../../../../../protocol/table.ts';
import { bodyReader, Missing, paramsReader, queryReader } from '../../../../edge/input.ts';
import { bodyTextOf, type WorldCall, type WorldReply } from '../world.ts';
import type { PrivateArtifact } from './private-artifact.ts';

/** What a script can call. The first route that fits counts. */
const ROUTES = [
  ['json.list', 'GET', /^\/json$/],
  ['json.get', 'GET', /^\/json\/([^/]+)$/],
  ['json.put', 'PUT', /^\/json\/([^/]+)$/],
  ['json.patch', 'PATCH', /^\/json\/([^/]+)$/],
  ['json.delete', 'DELETE', /^\/json\/([^/]+)$/],
  ['tables.query', 'POST', /^\/tables\/([^/]+)\/query$/],
  ['tables.count', 'POST', /^\/tables\/([^/]+)\/count$/],
  ['tables.aggregate', 'POST', /^\/tables\/([^/]+)\/aggregate$/],
  ['tables.insert', 'POST', /^\/tables\/([^/]+)$/],
  ['tables.getRow', 'GET', /^\/tables\/([^/]+)\/([^/]+)$/],
  ['tables.patchRow', 'PATCH', /^\/tables\/([^/]+)\/([^/]+)$/],
  ['tables.deleteRow', 'DELETE', /^\/tables\/([^/]+)\/([^/]+)$/],
] as const;

type RequestId = (typeof ROUTES)[number][0];
type Values = Readonly<Record<string, unknown>>;

export interface DataRequest {
  readonly id: RequestId;
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: Values;
  readonly body: Values;
  readonly ifMatch: string | undefined;
  answerBy(handlers: PrivateArtifact['handlers'], role: Role): Promise<WorldReply>;
}

/** The parts of a call that the handlers of JSON keys and rows read. */
interface GivenCall {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly bodyText: string | undefined;
  readonly mediaType: string | undefined;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly role: Role;
}

interface GivenReply {
  readonly reply: string;
  readonly body: unknown;
  readonly json?: string | Uint8Array;
}

const readers = new Map(
  ROUTES.map(([id]) => {
    const endpoint: Endpoint = endpoints[id];
    return [id, { endpoint, params: paramsReader(endpoint), query: queryReader(endpoint), body: bodyReader(endpoint) }] as const;
  }),
);

/** Undefined where no route fits. Throws what the API answers to a request that is not valid. */
export function readRequest(call: WorldCall): DataRequest | undefined {
  const { method, path, headers = {} } = call;
  const [beforeQuery = '', queryText = ''] = path.split('?');
  const route = ROUTES.find(([, wanted, pattern]) => wanted === method && pattern.test(beforeQuery));
  const reader = route && readers.get(route[0]);
  if (route === undefined || reader === undefined) return undefined;
  const [id, , pattern] = route;
  const params = reader.params([newId('artifact'), ...(pattern.exec(beforeQuery)?.slice(1) ?? [])]);
  if (params instanceof Missing) throw params.failure;
  const query = reader.query(queryText);
  const bodyText = bodyTextOf(call);
  checkSize(reader.endpoint, bodyText);
  // What the API would parse: plain objects that belong to nobody else.
  const sent: unknown = bodyText === undefined ? undefined : JSON.parse(bodyText);
  const body = reader.body === null ? sent : reader.body(sent);
  const ifMatch = headers['if-match'];
  const rest = { params, query, body, bodyText, ifMatch, ifNoneMatch: headers['if-none-match'] };
  return {
    id,
    params: params as DataRequest['params'],
    query,
    body: (body ?? {}) as Values,
    ifMatch,
    async answerBy(handlers, role) {
      const handler = (handlers as Partial<Record<RequestId, unknown>>)[id] as (call: GivenCall) => GivenReply | Promise<GivenReply>;
      const reply = await handler({ ...rest, mediaType: headers['content-type'] ?? 'application/json', role });
      const { status } = reader.endpoint.replies[reply.reply] ?? { status: 200 };
      return { status, body: reply.json === undefined ? reply.body : JSON.parse(reply.json.toString()) };
    },
  };
}

function checkSize({ body }: Endpoint, text: string | undefined): void {
  if (body?.kind !== 'json' || text === undefined || Buffer.byteLength(text) <= body.bytesMax) return;
  throw new Failure(body.tooLarge ?? 'PAYLOAD_TOO_LARGE');
}
