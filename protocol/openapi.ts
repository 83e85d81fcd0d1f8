/** The interface as OpenAPI 3.1, derived from the endpoint table; nothing of it is written by hand. */
import { z } from 'zod';
import type { BodySpec, Endpoint, Need, ReplySpec } from './endpoint.ts';
import { ERRORS, type ErrorCode } from './errors.ts';
import { LIMITS } from './limits.ts';
import { errorBody } from './schemas/common.ts';
import { jsonKey } from './schemas/json-key.ts';
import { endpoints } from './table.ts';

type Json = Readonly<Record<string, unknown>>;

/** Every code that a call of this endpoint can be answered with: its own, and those that its rules imply. */
export function errorCodesOf(endpoint: Endpoint): ErrorCode[] {
  const { access, body, limit } = endpoint;
  const codes = new Set<ErrorCode>(['INVALID_REQUEST', 'LENGTH_REQUIRED', 'INTERNAL_ERROR', 'UNAVAILABLE', ...endpoint.errors]);
  if (access.who !== 'anyone') for (const code of ['UNAUTHORIZED', 'FORBIDDEN', 'INSUFFICIENT_SCOPE'] as const) codes.add(code);
  if (access.who === 'artifact') codes.add('ARTIFACT_NOT_FOUND');
  if (endpoint.params !== undefined && Object.values(endpoint.params.shape).includes(jsonKey)) codes.add('KEY_INVALID');
  if (body !== undefined) {
    codes.add(body.tooLarge ?? 'PAYLOAD_TOO_LARGE');
    codes.add('UNSUPPORTED_MEDIA_TYPE');
    if (body.kind === 'json') codes.add('INVALID_JSON');
  }
  if (limit !== 'none') codes.add('RATE_LIMITED');
  if (limit === 'data' || endpoint.socket !== undefined) codes.add('OWNER_MOVED');
  if (endpoint.socket !== undefined) for (const code of ['UPGRADE_REQUIRED', 'PAYLOAD_TOO_LARGE'] as const) codes.add(code);
  if (endpoint.method === 'POST') for (const code of ['IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_IN_PROGRESS'] as const) codes.add(code);
  return [...codes];
}

/** The whole document. `baseUrl` becomes its one server. */
export function openapiDocument(baseUrl: string): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, endpoint] of Object.entries(endpoints) as [string, Endpoint][]) {
    const path = endpoint.path.replace('*}', '}');
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operationOf(id, endpoint) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Easel',
      version: '1.0',
      summary: 'Publishes HTML artifacts and gives each one a living back end.',
      description: DESCRIPTION,
    },
    servers: [{ url: baseUrl }],
    tags: [...new Set(Object.values(endpoints).map((endpoint) => endpoint.group))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A personal token (so_…) or a workspace agent token (sot_…).' },
      },
      schemas: { Error: jsonSchema(errorBody) },
      headers: HEADERS,
    },
  };
}

const DESCRIPTION = `Publish a folder of files and it is live at its own address, with data of its own.

Every answer carries \`X-Request-Id\`. Every GET is also answered as HEAD. A POST takes an \`Idempotency-Key\`: the same key and body within a day replays the first answer with \`Idempotent-Replayed: true\`. A body needs a \`Content-Length\`.

## Errors
\`Accept: application/problem+json\` adds the members of RFC 9457. The codes:

| Code | Status | Meaning | What to do |
|---|---|---|---|
${Object.entries<{ status: number; message: string; hint?: string }>(ERRORS)
  .map(([code, { status, message, hint }]) => `| \`${code}\` | ${status} | ${message} | ${(hint ?? '').replace('<', '&lt;')} |`)
  .join('\n')}
`;

const HEADERS: Json = {
  'X-Request-Id': { description: 'Quote it to support. A caller’s own is kept.', schema: { type: 'string' } },
  ETag: { description: 'For If-None-Match and If-Match.', schema: { type: 'string' } },
  RateLimit: { description: 'What is left (r) and for how many seconds (t).', schema: { type: 'string' } },
  'RateLimit-Policy': { description: 'The limit (q) and its window in seconds (w).', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds after which trying again makes sense.', schema: { type: 'integer' } },
};

const LIMIT_NOTES = {
  none: undefined,
  data: `Limited to ${LIMITS.dataPerMinute} calls in any minute of an artifact.`,
  publish: `Limited to ${LIMITS.publishPerHour} in any hour of a user.`,
  signup: `Limited to ${LIMITS.accountsPerHourPerAddress} in any hour of an address.`,
} as const;

function operationOf(id: string, endpoint: Endpoint): Json {
  const { access } = endpoint;
  const notes = [accessNote(endpoint), LIMIT_NOTES[endpoint.limit]].filter((note) => note !== undefined);
  const isPublicRead = access.who === 'artifact' && NEEDS_OF_VISITORS.has(access.need);
  return {
    operationId: id,
    tags: [endpoint.group],
    summary: endpoint.summary,
    ...(notes.length > 0 && { description: notes.join(' ') }),
    security: access.who === 'anyone' ? [] : isPublicRead ? [{ token: [] }, {}] : [{ token: [] }],
    parameters: [...parametersOf(endpoint.params, 'path'), ...parametersOf(endpoint.query, 'query'), ...headerParameters(endpoint)],
    ...(endpoint.body !== undefined && { requestBody: requestBodyOf(endpoint.body) }),
    responses: { ...repliesOf(endpoint), ...errorsOf(endpoint) },
  };
}

/** Needs that a caller without a credential may have. */
const NEEDS_OF_VISITORS: ReadonlySet<Need> = new Set(['view', 'data:read', 'collab:read', 'comment']);

const RIGHTS: Readonly<Record<Need, string>> = {
  view: 'see',
  edit: 'edit',
  own: 'own',
  'data:read': 'read the data of',
  'data:write': 'write the data of',
  'collab:read': 'join the collaboration of',
  'collab:write': 'work in the collaboration of',
  comment: 'comment on',
};

function accessNote({ access }: Endpoint): string | undefined {
  switch (access.who) {
    case 'anyone':
      return undefined;
    case 'account':
      return access.scope === undefined ? 'Not for workspace agents.' : `Agents need the scope ${access.scope}.`;
    case 'artifact': {
      return `The caller must be allowed to ${RIGHTS[access.need]} the artifact. Agents need the scope ${access.scope}.`;
    }
    default:
      return access satisfies never;
  }
}

function parametersOf(schema: z.ZodObject | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return [];
  const object = jsonSchema(schema);
  const required = new Set((object.required as string[] | undefined) ?? []);
  return Object.entries(object.properties as Record<string, Json>).map(([name, property]) => {
    const { description, ...rest } = property;
    return {
      name,
      in: place,
      required: place === 'path' || required.has(name),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}

function headerParameters(endpoint: Endpoint): Json[] {
  const header = (name: string, description: string, schema: Json = { type: 'string' }) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema,
  });
  const parameters: Json[] = [];
  if (endpoint.method === 'POST') {
    const schema = { type: 'string', minLength: 1, maxLength: LIMITS.idempotencyKeyCharsMax };
    parameters.push(header('Idempotency-Key', 'Makes a repetition safe. Without a token it needs at least 16 characters.', schema));
  }
  if (endpoint.conditional === true && endpoint.method === 'GET')
    parameters.push(header('If-None-Match', 'ETags that the caller has: 304.'));
  if (endpoint.conditional === true && endpoint.method !== 'GET') {
    parameters.push(header('If-Match', 'The ETag, or the updatedAt, that must still be current.'));
    if (endpoint.method === 'PUT') parameters.push(header('If-None-Match', 'With * nothing may be there yet.'));
  }
  return parameters;
}

function requestBodyOf(body: BodySpec): Json {
  const types = body.types ?? [body.kind === 'json' ? 'application/json' : 'application/octet-stream'];
  const schema = body.kind === 'json' ? jsonSchema(body.schema) : { type: 'string', format: 'binary' };
  const optional = body.kind === 'json' && body.optional === true;
  return {
    required: !optional,
    description: `At most ${body.bytesMax} bytes.`,
    content: Object.fromEntries(types.map((type) => [type, { schema }])),
  };
}

function repliesOf(endpoint: Endpoint): Json {
  if (endpoint.socket !== undefined) return { 101: { description: 'A WebSocket.', headers: headersOf(endpoint, ['X-Request-Id']) } };
  const byStatus = new Map<number, ReplySpec[]>();
  for (const reply of Object.values(endpoint.replies)) byStatus.set(reply.status, [...(byStatus.get(reply.status) ?? []), reply]);
  const answers = Object.fromEntries([...byStatus].map(([status, replies]) => [status, replyOf(endpoint, status, replies)]));
  const isConditionalGet = endpoint.conditional === true && endpoint.method === 'GET';
  return isConditionalGet
    ? { ...answers, 304: { description: 'Unchanged.', headers: headersOf(endpoint, ['X-Request-Id', 'ETag']) } }
    : answers;
}

function replyOf(endpoint: Endpoint, status: number, replies: readonly ReplySpec[]): Json {
  const described = replies.map((reply) => reply.description).filter((text) => text !== undefined);
  const schemas = replies.flatMap((reply) => ('body' in reply ? [jsonSchema(reply.body)] : []));
  const [media] = replies.flatMap((reply) => ('media' in reply ? [reply.media] : []));
  const [schema] = schemas;
  const json = schemas.length === 0 ? {} : { 'application/json': { schema: schemas.length > 1 ? { anyOf: schemas } : schema } };
  return {
    description: described.join(' Or: ') || (status === 201 ? 'Created.' : status === 202 ? 'Accepted in part.' : 'Done.'),
    headers: headersOf(endpoint, ['X-Request-Id', ...(endpoint.conditional === true ? ['ETag'] : [])]),
    content: media === undefined ? json : { ...json, [media]: { schema: media.startsWith('text/') ? { type: 'string' } : {} } },
  };
}

function errorsOf(endpoint: Endpoint): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(endpoint)) byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const schema = { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { enum: codes } } }] };
      const names = ['X-Request-Id', ...(status === 429 || status === 503 ? ['Retry-After'] : [])];
      return [
        status,
        {
          description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join(' '),
          headers: headersOf(endpoint, names),
          content: { 'application/json': { schema }, 'application/problem+json': { schema } },
        },
      ];
    }),
  );
}

function headersOf(endpoint: Endpoint, names: readonly string[]): Json {
  const all = endpoint.limit === 'data' || endpoint.limit === 'signup' ? [...names, 'RateLimit', 'RateLimit-Policy'] : names;
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** As it travels: what a caller sends and reads, before any schema transforms it. */
function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
