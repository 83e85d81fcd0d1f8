import { z } from 'zod';
import { CONNECTION_HEADERS } from '../core/connection-headers.ts';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema, pageQuery, pageReply, storedText, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull, changesTo } from '../core/round-trip.ts';
import { admin, member, params } from '../workspaces/access.ts';

export const connectionType = z.enum(['postgres', 'http', 's3']);
export type ConnectionType = z.infer<typeof connectionType>;
export const credentialScope = z.enum(['workspace', 'person']);
export const connectionAuth = z.enum(['none', 'password', 'bearer', 'basic', 'header', 'access_key']);
export type ConnectionAuth = z.infer<typeof connectionAuth>;

// Messages about settings and credentials have words of their own everywhere: the usual ones repeat what was sent, which may be a secret.
const hostName =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$|^\[[0-9a-fA-F:.]{2,45}\]$/;
const host = z
  .string({ error: 'must be a host name' })
  .max(253, { error: 'is longer than a host name can be' })
  .refine((text) => hostName.test(text), 'must be a host name or an address, without a scheme, a port or a user');

const address = z
  .string({ error: 'must be an address such as https://api.example.com/v2' })
  .max(LIMITS.connectionUrlCharsMax, { error: `may have ${LIMITS.connectionUrlCharsMax} characters` })
  .refine(isPlainAddress, 'must begin with http:// or https:// and have no user, password, query or fragment');

function isPlainAddress(text: string): boolean {
  if (!URL.canParse(text) || text.includes('\u0000')) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && username + password + search + hash === '';
}

const label = storedText(255).min(1);

export const postgresConfig = z.strictObject({
  host,
  port: z.number().int().min(1).max(65_535).default(5432),
  database: label,
  ssl: z.enum(['disable', 'require', 'verify-full']).default('require'),
});
export const httpConfig = z.strictObject({ url: address.meta({ description: 'paths of requests are below it' }) });
export const s3Config = z.strictObject({
  endpoint: address,
  bucket: label,
  region: label.default('us-east-1'),
  prefix: storedText(1024).default('').meta({ description: 'only objects whose keys begin with it' }),
});

export const CONNECTION_CONFIGS = { postgres: postgresConfig, http: httpConfig, s3: s3Config } as const satisfies Record<
  ConnectionType,
  z.ZodObject
>;

/** The ways in which each type signs in; the first is the default. */
export const CONNECTION_AUTHS = {
  postgres: ['password', 'none'],
  http: ['none', 'bearer', 'basic', 'header'],
  s3: ['access_key', 'none'],
} as const satisfies Record<ConnectionType, readonly [ConnectionAuth, ...ConnectionAuth[]]>;

const secret = z
  .string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a text') })
  .refine((text) => text.length > 0, 'must not be empty')
  .refine((text) => text.length <= LIMITS.credentialCharsMax, `may have ${LIMITS.credentialCharsMax} characters`);

/** What each way takes. */
export const CONNECTION_CREDENTIALS = {
  none: z.strictObject({}),
  password: z.strictObject({ username: secret, password: secret }),
  bearer: z.strictObject({ token: secret }),
  basic: z.strictObject({ username: secret, password: secret }),
  header: z.strictObject({
    header: secret
      .refine((name) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name), 'must be the name of a header')
      .refine(
        (name) => !CONNECTION_HEADERS.has(name.toLowerCase()),
        'must be a header that carries credentials, such as X-API-Key: those of the connection itself, such as Host and Content-Length, cannot be set',
      ),
    value: secret.refine((value) => /^[\t\x20-\x7e\x80-\xff]+$/.test(value), 'must be the value of a header, on one line'),
  }),
  access_key: z.strictObject({ access_key_id: secret, secret_access_key: secret, session_token: secret.optional() }),
} as const satisfies Record<ConnectionAuth, z.ZodObject>;

export const connection = z.object({
  id: idSchema('connection'),
  name: z.string(),
  type: connectionType,
  credentialScope: credentialScope.meta({
    description: 'workspace: one set of credentials for everybody; person: each member brings their own',
  }),
  authType: connectionAuth,
  config: z.union([postgresConfig, httpConfig, s3Config]),
  has_credentials: z.boolean().meta({ description: "with the scope person: whether the caller's own are stored" }),
  created_at: dateTime,
  updated_at: dateTime,
  last_used_at: dateTime.nullable(),
  last_error: z.string().nullable(),
});

const config = z.record(z.string(), z.unknown()).meta({ description: 'PostgresConfig, HttpConfig or S3Config, by the type' });
const credentials = z.record(z.string(), z.unknown()).meta({
  description:
    'write only, by authType: {username, password} for password and basic, {token} for bearer, {header, value} for header, {access_key_id, secret_access_key, session_token?} for access_key',
});

export const newConnection = z.strictObject({
  name: nameSchema,
  type: connectionType,
  credentialScope: credentialScope.default('workspace'),
  authType: absentOrNull(connectionAuth).meta({ description: 'default: password, none or access_key, by the type' }),
  config,
  credentials: absentOrNull(credentials),
});
export type NewConnection = z.output<typeof newConnection>;

export const connectionUpdate = changesTo(connection, {
  name: nameSchema.optional(),
  authType: connectionAuth.optional(),
  config: config.optional(),
  credentials: credentials.nullable().optional(),
}).refine((body) => Object.keys(body).length > 0, 'must change at least one field');
export type ConnectionUpdate = z.output<typeof connectionUpdate>;

/** What a connection that is not stored would be, or one that is. */
export const connectionTest = z
  .strictObject({
    connection_id: absentOrNull(idSchema('connection')),
    type: absentOrNull(connectionType),
    authType: absentOrNull(connectionAuth),
    config: absentOrNull(config),
    credentials: absentOrNull(credentials),
  })
  .refine(
    ({ connection_id, type, authType, config: given, credentials: secrets }) =>
      connection_id === undefined ? type !== undefined && given !== undefined : !(type ?? authType ?? given ?? secrets),
    'must have either connection_id, or type and config with what belongs to them',
  );

export const connectionTested = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  detail: z.string().optional().meta({ description: 'what the host answered' }),
});

const one = params.extend({ connectionId: idSchema('connection') });

export const connections = {
  'connections.list': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/connections',
    group: 'connections',
    summary: 'The connections of a workspace, newest first, without their credentials.',
    access: member,
    limit: 'none',
    params,
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ connections: z.array(connection), ...pageReply }) } },
    errors: [],
  }),
  'connections.create': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/connections',
    group: 'connections',
    summary: 'Stores how to reach a system outside. Credentials are sealed and never shown again.',
    access: admin,
    limit: 'none',
    params,
    body: { kind: 'json', schema: newConnection, bytesMax: LIMITS.connectionBodyBytesMax },
    replies: { created: { status: 201, body: connection } },
    errors: ['CONNECTION_NAME_TAKEN', 'CONNECTION_LIMIT_EXCEEDED', 'SECRETS_NOT_CONFIGURED'],
  }),
  'connections.test': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/connections/test',
    group: 'connections',
    summary:
      'Tries a connection, stored or not, and says what is wrong: http calls its URL, postgres signs in, s3 lists the bucket. Of a stored one last_used_at and last_error tell how it went.',
    access: member,
    limit: 'connectionTests',
    params,
    body: { kind: 'json', schema: connectionTest, bytesMax: LIMITS.connectionBodyBytesMax },
    replies: { ok: { status: 200, body: connectionTested } },
    errors: ['CONNECTION_NOT_FOUND', 'UNAVAILABLE'],
  }),
  'connections.get': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/connections/{connectionId}',
    group: 'connections',
    summary: 'One connection, without its credentials.',
    access: member,
    limit: 'none',
    params: one,
    conditional: true,
    replies: { ok: { status: 200, body: connection } },
    errors: ['CONNECTION_NOT_FOUND'],
  }),
  'connections.update': endpoint({
    method: 'PATCH',
    path: '/v1/workspaces/{workspaceId}/connections/{connectionId}',
    group: 'connections',
    summary:
      'Changes a connection; config is replaced as a whole. What changes where credentials are sent needs them again. With the scope person each member stores their own credentials.',
    access: member,
    limit: 'none',
    params: one,
    conditional: true,
    resource: 'connections.get',
    body: { kind: 'json', schema: connectionUpdate, bytesMax: LIMITS.connectionBodyBytesMax },
    replies: { ok: { status: 200, body: connection } },
    errors: ['CONNECTION_NOT_FOUND', 'CONNECTION_NAME_TAKEN', 'SECRETS_NOT_CONFIGURED', 'VERSION_CONFLICT'],
  }),
  'connections.delete': endpoint({
    method: 'DELETE',
    path: '/v1/workspaces/{workspaceId}/connections/{connectionId}',
    group: 'connections',
    summary: 'Deletes a connection and every credential of it.',
    access: admin,
    limit: 'none',
    params: one,
    conditional: true,
    resource: 'connections.get',
    replies: { ok: { status: 200, body: success } },
    errors: ['CONNECTION_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
} as const;
