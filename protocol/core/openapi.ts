/** The OpenAPI 3.1 document, derived from the endpoint table. */

import { jsonKey } from '../data/json-keys.ts';
import { EXAMPLES } from '../examples.ts';
import { type EndpointId, endpoints } from '../table.ts';
import { type Access, type AgentRule, type BodySpec, type Endpoint, type Need, takesIdempotencyKey } from './endpoint.ts';
import { ERRORS, type ErrorCode, wireCodeOf } from './errors.ts';
import type { Example } from './example.ts';
import { errorBody } from './fields.ts';
import { LIMITS } from './limits.ts';
import { ErrorResponses } from './openapi/errors.ts';
import { Parameters } from './openapi/parameters.ts';
import { Replies } from './openapi/replies.ts';
import { type Json, Schemas } from './openapi/schemas.ts';
import { tagsOf } from './openapi/tags.ts';

const ACCOUNT_CODES = ['UNAUTHORIZED', 'FORBIDDEN', 'INSUFFICIENT_SCOPE'] as const;
const ACCESS_CODES: Readonly<Record<Access['who'], readonly ErrorCode[]>> = {
  anyone: [],
  visitor: ['UNAUTHORIZED', 'ORIGIN_REFUSED'],
  account: ACCOUNT_CODES,
  artifact: [...ACCOUNT_CODES, 'ARTIFACT_NOT_FOUND', 'ARTIFACT_SUSPENDED'],
  everybody: ['UNAUTHORIZED', 'INSUFFICIENT_SCOPE'],
  workspace: [...ACCOUNT_CODES, 'WORKSPACE_NOT_FOUND', 'WORKSPACE_SUSPENDED'],
  folder: [...ACCOUNT_CODES, 'FOLDER_NOT_FOUND'],
  instanceAdmin: ['UNAUTHORIZED', 'ADMIN_REQUIRED'],
  instanceStaff: ['UNAUTHORIZED', 'STAFF_REQUIRED'],
};

const IDEMPOTENCY_CODES = ['IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_ANSWER_NOT_KEPT'] as const;

/** Every error code of an endpoint: its own, and those that follow from its rules. */
export function errorCodesOf(endpoint: Endpoint): ErrorCode[] {
  const { access, body, limit } = endpoint;
  const codes = new Set<ErrorCode>(['INVALID_REQUEST', 'LENGTH_REQUIRED', 'INTERNAL_ERROR', 'UNAVAILABLE', ...endpoint.errors]);
  for (const code of ACCESS_CODES[access.who]) codes.add(code);
  if (endpoint.params !== undefined && Object.values(endpoint.params.shape).includes(jsonKey)) codes.add('KEY_INVALID');
  if (body !== undefined) {
    codes.add(body.tooLarge ?? 'PAYLOAD_TOO_LARGE');
    codes.add('UNSUPPORTED_MEDIA_TYPE');
    if (body.kind === 'json') codes.add('INVALID_JSON');
  }
  if (takesCookies(endpoint)) codes.add('ORIGIN_REFUSED');
  if (limit !== 'none') codes.add('RATE_LIMITED');
  if (limit === 'data' || endpoint.socket !== undefined) codes.add('OWNER_MOVED');
  if (endpoint.socket !== undefined) for (const code of ['UPGRADE_REQUIRED', 'PAYLOAD_TOO_LARGE'] as const) codes.add(code);
  if (takesIdempotencyKey(endpoint)) for (const code of IDEMPOTENCY_CODES) codes.add(code);
  return [...codes];
}

/** A write that a cookie may authorise, or that sets one: it must come from a page of this host. */
function takesCookies({ method, access, socket }: Endpoint): boolean {
  if (socket !== undefined) return true;
  return method !== 'GET' && (access.who !== 'anyone' || access.browser === true);
}

/** The shared components, which are collected while the operations are described. */
interface Components {
  readonly schemas: Schemas;
  readonly parameters: Parameters;
  readonly replies: Replies;
  readonly errors: ErrorResponses;
}

/** The whole document. `baseUrl` becomes its one server. */
export function openapiDocument(baseUrl: string): Json {
  const table = Object.entries<Endpoint>(endpoints) as [EndpointId, Endpoint][];
  const all = table.map(([, endpoint]) => endpoint);
  const schemas = new Schemas();
  const components = {
    schemas,
    parameters: new Parameters(all, schemas),
    replies: new Replies(all, schemas),
    errors: new ErrorResponses(all.map((endpoint) => ({ group: endpoint.group, codes: errorCodesOf(endpoint) }))),
  };
  schemas.of(errorBody);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, endpoint] of table) {
    const path = endpoint.path.replace('*}', '}');
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operationOf(id, endpoint, components) };
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
    security: [{ token: [] }, { session: [] }, { access: [] }],
    tags: tagsOf(all.map(({ group }) => group)),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A personal token (so_…) or a workspace agent token (sot_…).' },
        session: { type: 'apiKey', in: 'cookie', name: 'service_session', description: `Signed in at an identity provider.${COOKIE_NOTE}` },
        access: {
          type: 'apiKey',
          in: 'cookie',
          name: 'service_access',
          description: `Signed in with a password, a code or a passkey.${COOKIE_NOTE}`,
        },
      },
      schemas: { ...schemas.models(), ...components.errors.schemas() },
      parameters: components.parameters.components(),
      responses: { ...components.replies.responses(), ...components.errors.responses() },
      headers: HEADERS,
    },
  };
}

const DESCRIPTION = `Publish a folder of files and it is live at its own address, with data of its own.

Begin with \`POST /v1/auth/create-account\`, then call \`POST /v1/publish\` with the token in its answer.

Every answer carries \`X-Request-Id\`, which identifies the call to support; a request may bring its own. Every GET is also answered as HEAD. A POST takes an \`Idempotency-Key\`: the same key and body within a day replays the first answer with \`Idempotent-Replayed: true\`. A body needs a \`Content-Length\`. Read-only members may be sent back and are ignored. Times are RFC 3339 in UTC.

## Limits
A JSON body has at most ${LIMITS.bodyBytesMax} bytes where its operation says nothing else. An artifact takes ${LIMITS.dataPerMinute} calls in any minute of those below \`/v1/data/{artifactId}\` that can answer \`RATE_LIMITED\`. Answers to calls that spend a limit carry \`RateLimit\` (what is left, \`r\`, and for how many seconds, \`t\`) and \`RateLimit-Policy\` (the limit, \`q\`, and its window in seconds, \`w\`); a refusal says in \`Retry-After\` after how many seconds to try again.

## Errors
An error says in \`hint\` what to do. The \`default\` response of an operation lists the codes that it can answer. \`Accept: application/problem+json\` adds the members of RFC 9457.

<details><summary>All codes</summary>

| Code | Status | Meaning |
|---|---|---|
${(Object.keys(ERRORS) as ErrorCode[])
  .map((code): [string, { status: number; message: string }] => [wireCodeOf(code), ERRORS[code]])
  .map(([code, { status, message }]) => `| \`${code}\` | ${status} | ${message.replace('<', '&lt;')} |`)
  .join('\n')}

</details>
`;

const COOKIE_NOTE = ' Over TLS its name begins with `__Host-`. A write needs the Origin of this host.';

const HEADERS: Json = { ETag: { description: 'For If-None-Match and If-Match.', schema: { type: 'string' } } };

const LIMIT_NOTES = {
  none: undefined,
  data: undefined,
  proxy: `Limited to ${LIMITS.proxyPerMinute} in any minute of the artifact.`,
  adminCalls: `Limited to ${LIMITS.adminCallsPerMinute} in any minute of a person.`,
  personExports: `Limited to ${LIMITS.personExportsPerDay} in any 24 hours of a person.`,
  connectionTests: `Limited to ${LIMITS.connectionTestsPerMinute} in any minute of a person.`,
  catalogReads: `Limited to ${LIMITS.catalogReadsPerMinute} in any minute of a person.`,
  webhooks: `Limited to ${LIMITS.webhookCallsPerMinute} in any minute of a person.`,
  billing: `Limited to ${LIMITS.billingWritesPerHour} in any hour of a person.`,
  billingEvents: `Limited to ${LIMITS.billingEventsPerMinute} in any minute of an address.`,
  publish: `Limited to ${LIMITS.publishPerHour} in any hour of a user.`,
  agentTokens: `Limited to ${LIMITS.agentTokensPerHour} in any hour of a person.`,
  signup: `Limited to ${LIMITS.accountsPerHourPerAddress} in any hour of an address.`,
  deviceStarts: `Limited to ${LIMITS.deviceStartsPerHourPerAddress} in any hour of an address.`,
  devicePolls: `Limited to ${LIMITS.devicePollsPerMinutePerAddress} in any minute of an address.`,
  deviceCodes: `Limited to ${LIMITS.deviceCodesPerTenMinutes} in any ten minutes of an address.`,
  signInStarts: `Limited to ${LIMITS.signInAttemptsPerNetworkPerHour} in any hour of an address.`,
  workspaces: `Limited to ${LIMITS.workspacesPerHour} in any hour of a person.`,
  invites: `Limited to ${LIMITS.invitesPerHour} addresses in any hour of a person.`,
  inviteClaims: `Limited to ${LIMITS.inviteClaimsPerHour} in any hour of a person.`,
  assets: `Limited to ${LIMITS.assetsPerMinute} in any minute of a caller.`,
  fileReads: `Limited to ${LIMITS.fileReadsPerMinute} in any minute of an address.`,
  shareLinks: `Limited to ${LIMITS.shareLinksPerMinute} in any minute of an address.`,
  collaborators: `Limited to ${LIMITS.collaboratorsPerHour} addresses in any hour of a person.`,
  email: `Limited to ${LIMITS.mailsPerDay} recipients in any day of a person, and ${LIMITS.mailsOfArtifactPerDay} of an artifact.`,
  shareMails: `Limited to ${LIMITS.shareMailsPerDay} addresses in any day of a person.`,
  transfers: `Limited to ${LIMITS.transfersPerHour} in any hour of a person.`,
  accessRequests: `Limited to ${LIMITS.accessRequestsPerHour} in any hour of a person.`,
  pageTickets: `Limited to ${LIMITS.pageTicketsPerMinute} in any minute of a person.`,
  pageEntries: `Limited to ${LIMITS.pageEntriesPerMinutePerNetwork} in any minute of an address.`,
  shares: `Limited to ${LIMITS.sharesPerHour} in any hour of a person.`,
  skillChanges: `Limited to ${LIMITS.skillChangesPerHour} in any hour of a person.`,
  ask: `Limited to ${LIMITS.asksPerHour} in any hour of a person.`,
  explains: `Limited to ${LIMITS.explainsPerHour} in any hour of a person.`,
  notifications: `Limited to ${LIMITS.noticesPerMinute} in any minute of a person.`,
  alerts: `Limited to ${LIMITS.alertsPerMinute} in any minute of a caller.`,
  alertRuns: `Limited to ${LIMITS.alertRunsPerHour} in any hour of a person.`,
  search: `Limited to ${LIMITS.searchesPerMinute} in any minute of a caller.`,
  inbox: `Limited to ${LIMITS.inboxPerMinute} in any minute of a person.`,
  jobWrites: `Limited to ${LIMITS.jobWritesPerHour} in any hour of a person.`,
  jobStarts: `Limited to ${LIMITS.jobStartsPerHour} in any hour of a person.`,
  importConnects: `Limited to ${LIMITS.importConnectsPerHour} in any hour of a person.`,
  importBrowses: `Limited to ${LIMITS.importBrowsesPerHour} in any hour of a person.`,
  importSyncs: `Limited to ${LIMITS.importSyncsPerHour} in any hour of a person.`,
  guestCode: `Limited to ${LIMITS.guestCodesPerHourPerAddress} in any hour of an address.`,
  ticketReads: `Limited to ${LIMITS.ticketReadsPerMinute} in any minute of a person.`,
  ticketWrites: `Limited to ${LIMITS.ticketWritesPerHour} in any hour of a person.`,
  ticketUploads: `Limited to ${LIMITS.ticketUploadsPerDay} in any day of a person.`,
  supportFiles: `Limited to ${LIMITS.ticketReadsPerMinute} in any minute of an address.`,
  supportInbound: `Limited to ${LIMITS.inboundPerMinutePerAddress} in any minute of an address.`,
} as const;

function operationOf(id: EndpointId, endpoint: Endpoint, components: Components): Json {
  const notes = [accessNote(endpoint), LIMIT_NOTES[endpoint.limit]].filter((note) => note !== undefined);
  const security = securityOf(endpoint);
  const example: Example = EXAMPLES[id];
  const parameters = components.parameters.of(endpoint, example);
  return {
    operationId: id,
    tags: [endpoint.group],
    summary: endpoint.summary,
    ...(notes.length > 0 && { description: notes.join(' ') }),
    ...(security !== undefined && { security }),
    ...(parameters.length > 0 && { parameters }),
    ...(endpoint.body !== undefined && { requestBody: requestBodyOf(endpoint.body, example, components) }),
    responses: { ...components.replies.of(endpoint, example), ...components.errors.of(errorCodesOf(endpoint)) },
  };
}

/** Undefined where a token is needed, which is the default of the document. */
function securityOf({ access }: Endpoint): readonly Json[] | undefined {
  if (access.who === 'anyone') return [];
  const isForVisitors =
    access.who === 'visitor' || access.who === 'everybody' || (access.who === 'artifact' && NEEDS_OF_VISITORS.has(access.need));
  return isForVisitors ? [{ token: [] }, { session: [] }, { access: [] }, {}] : undefined;
}

/** Needs that a caller without a credential may have. */
const NEEDS_OF_VISITORS: ReadonlySet<Need> = new Set(['view', 'data:read', 'collab:read', 'comment', 'comment:write']);

const RIGHTS: Readonly<Record<Need, string>> = {
  view: 'see',
  edit: 'edit',
  own: 'own',
  manage: 'manage',
  export: 'export',
  oversee: 'own, or run the workspace of,',
  'data:read': 'read the data of',
  'data:write': 'write the data of',
  'collab:read': 'join the collaboration of',
  'collab:write': 'work in the collaboration of',
  comment: 'read the comments of',
  'comment:write': 'comment on',
};

function agentNote({ scope }: AgentRule): string {
  return scope === undefined ? 'not for agents.' : `agents with ${scope}.`;
}

function accessNote({ access }: Endpoint): string | undefined {
  switch (access.who) {
    case 'anyone':
    case 'visitor':
      return undefined;
    case 'account':
      return access.scope === undefined ? 'Not for agents.' : `Agents need the scope ${access.scope}.`;
    case 'artifact':
      return `Who may ${RIGHTS[access.need]} the artifact; ${agentNote(access)}`;
    case 'everybody':
      return `Agents need the scope ${access.scope}.`;
    case 'workspace':
      return `The caller must be ${access.role} of the workspace, or above; ${agentNote(access)}`;
    case 'folder':
      return `The caller must be allowed to ${access.need} the folder; ${agentNote(access)}`;
    case 'instanceAdmin':
      return 'For administrators of the installation.';
    case 'instanceStaff':
      return 'For the staff of the installation: its administrators and who answers tickets.';
    default:
      return access satisfies never;
  }
}

function requestBodyOf(body: BodySpec, example: Example, { schemas }: Components): Json {
  const types = body.types ?? [body.kind === 'json' ? 'application/json' : 'application/octet-stream'];
  const schema = body.kind === 'json' ? schemas.of(body.schema) : { type: 'string', format: 'binary' };
  const optional = body.kind === 'json' && body.optional === true;
  return {
    ...(!optional && { required: true }),
    ...(body.bytesMax !== LIMITS.bodyBytesMax && { description: `At most ${body.bytesMax} bytes.` }),
    content: Object.fromEntries(
      types.map((type, index) => [type, { schema, ...(index === 0 && example.body !== undefined && { example: example.body }) }]),
    ),
  };
}
