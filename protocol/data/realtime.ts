/** Realtime endpoints, and the JSON frames of …/channels in both directions. Source: design.md "Channels", contract.md §6. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { CHANGE_TYPES, changeEvent } from './changes.ts';
import { listedDataset } from './datasets.ts';
import { documentName } from './documents.ts';

/** Channels that resume by the seq of the artifact's changes. */
export const DURABLE_CHANNELS = CHANGE_TYPES;
export const CHANNELS = [...DURABLE_CHANNELS, 'datasets', 'versions', 'presence', 'broadcast'] as const;
export type DurableChannel = (typeof DURABLE_CHANNELS)[number];
export type ChannelName = (typeof CHANNELS)[number];

/** The answer or the error repeats it. */
const id = z.string().max(64).optional();
const channel = z.enum(CHANNELS, `must be one of ${CHANNELS.join(', ')}`);

export const clientFrame = z.discriminatedUnion(
  'type',
  [
    z.object({
      type: z.literal('subscribe'),
      channel,
      /** The seq of the last event or `reset` that the client has seen on this channel. Absent: only new events. */
      since: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
      id,
    }),
    z.object({ type: z.literal('unsubscribe'), channel, id }),
    /** State of this connection that others see beside the person: a cursor, a selection. Null removes it. */
    z.object({ type: z.literal('presence'), state: z.record(z.string(), z.unknown()).nullable(), id }),
    /** Goes to all other subscribers of `broadcast`; not stored. */
    z.object({ type: z.literal('broadcast'), event: z.string().min(1).max(LIMITS.broadcastEventCharsMax), data: z.unknown(), id }),
    /** Goes to all other subscribers of `comments`. */
    z.object({
      type: z.literal('typing'),
      contextId: z.string().max(LIMITS.commentContextIdCharsMax).optional(),
      parentId: z.string().max(64).optional(),
      isTyping: z.boolean().default(true),
      id,
    }),
    z.object({ type: z.literal('ping'), id }),
    z.object({ type: z.literal('pong') }),
  ],
  'must be subscribe, unsubscribe, presence, broadcast, typing, ping or pong',
);
export type ClientFrame = z.output<typeof clientFrame>;

/** The server derives it from the token, so no client can impersonate somebody else. */
export const person = z.object({
  id: z.string().meta({ description: 'id of the account, guest or agent; `anonymous:…` identifies one connection' }),
  name: z.string(),
  kind: z.enum(['human', 'agent', 'guest', 'anonymous']),
  color: z.string().meta({ description: '#rrggbb, derived from the id' }),
});
export type Person = z.output<typeof person>;

const state = z.record(z.string(), z.unknown()).nullable();
/** One connection; a person may have several. */
export const presentPerson = person.extend({ connectionId: z.string(), state });
const sender = person.extend({ connectionId: z.string() });

const versionEvent = z.object({
  type: z.literal('event'),
  channel: z.literal('versions'),
  /** The number of the newest version that this client has received. */
  seq: z.number().int(),
});

const presenceEvent = z.discriminatedUnion('kind', [
  /** Everybody who is here, including the client itself. Replaces what the client knew. */
  z.object({
    type: z.literal('event'),
    channel: z.literal('presence'),
    kind: z.literal('people'),
    data: z.object({ people: z.array(presentPerson) }),
  }),
  /** Changes since the last event. `joined` may repeat a known connection, `left` may name an unknown one. */
  z.object({
    type: z.literal('event'),
    channel: z.literal('presence'),
    kind: z.literal('update'),
    data: z.object({
      joined: z.array(presentPerson),
      updated: z.array(z.object({ connectionId: z.string(), state })),
      left: z.array(z.string()),
    }),
  }),
]);

export const serverFrame = z.union([
  /** `canWrite`: the client may send `broadcast` and, where it may comment, `typing`. */
  z.object({ type: z.literal('hello'), connectionId: z.string(), you: person, canWrite: z.boolean() }),
  z.object({ type: z.literal('access'), canWrite: z.boolean() }),
  /** Events that follow on the channel come after `seq`, which is 0 on presence and broadcast: they do not resume. */
  z.object({ type: z.literal('subscribed'), channel, seq: z.number().int(), id }),
  /** The journal no longer has the missed events: the client reads the whole channel again. Later events come after `seq`. */
  z.object({ type: z.literal('reset'), channel, seq: z.number().int() }),
  /** Answers `unsubscribe`, or with `code` tells that the client may no longer read the channel. */
  z.object({ type: z.literal('unsubscribed'), channel, code: z.string().optional(), id }),
  changeEvent.extend({ type: z.literal('event'), channel: z.enum(DURABLE_CHANNELS) }),
  versionEvent.extend({
    kind: z.literal('version.published'),
    data: z.object({
      versionId: z.string(),
      versionNo: z.number().int(),
      label: z.string().nullable(),
      note: z.string().nullable(),
      isDraft: z.boolean(),
      createdAt: dateTime,
    }),
  }),
  versionEvent.extend({
    kind: z.literal('version.live'),
    data: z.object({ versionId: z.string().nullable(), versionNo: z.number().int().nullable() }),
  }),
  /** A new version of a dataset. A deletion is told as `reset`. */
  z.object({
    type: z.literal('event'),
    channel: z.literal('datasets'),
    seq: z.number().int(),
    kind: z.literal('dataset.version'),
    data: listedDataset,
  }),
  presenceEvent,
  /** `kind` is the `event` of the sender's frame. */
  z.object({ type: z.literal('event'), channel: z.literal('broadcast'), kind: z.string(), from: sender, data: z.unknown() }),
  z.object({
    type: z.literal('event'),
    channel: z.literal('comments'),
    kind: z.literal('typing'),
    from: sender,
    data: z.object({ contextId: z.string().nullable(), parentId: z.string().nullable(), isTyping: z.boolean() }),
  }),
  z.object({ type: z.literal('error'), code: z.string(), error: z.string(), hint: z.string().optional(), id }),
  /** The client answers with `pong`. A WebSocket ping frame is not visible to browser code. */
  z.object({ type: z.literal('ping') }),
  z.object({ type: z.literal('pong'), id }),
]);
export type ServerFrame = z.output<typeof serverFrame>;

const TOKEN_CHARS_MAX = 512;

const artifactId = idSchema('artifact');
const join = { who: 'artifact', param: 'artifactId', need: 'collab:read', scope: 'data:read' } as const;
/** A browser cannot set headers on a WebSocket. */
const query = z.object({
  token: z
    .string()
    .max(TOKEN_CHARS_MAX, `must have at most ${TOKEN_CHARS_MAX} characters`)
    .optional()
    .describe('The token, for clients that cannot send an Authorization header.'),
});

export const realtime = {
  'realtime.sync': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/realtime/{doc}',
    group: 'realtime',
    summary: 'One collaborative document over the y-websocket protocol. Callers without write access only read.',
    access: join,
    limit: 'none',
    actor: 'artifactId',
    socket: 'request',
    params: z.object({ artifactId, doc: documentName }),
    query,
    replies: {},
    errors: ['INVALID_DOCUMENT_NAME', 'DOCUMENT_LIMIT_EXCEEDED'],
  }),
  'realtime.hocuspocus': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/realtime',
    group: 'realtime',
    summary: 'Many collaborative documents over the Hocuspocus protocol. The token may also come in its Auth frames.',
    access: join,
    limit: 'none',
    actor: 'artifactId',
    socket: 'frames',
    params: z.object({ artifactId }),
    query,
    replies: {},
    errors: [],
  }),
  'realtime.channels': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/channels',
    group: 'realtime',
    summary: 'Live events of the artifact as JSON frames: data, comments, versions, presence, broadcasts. Resumes by seq.',
    access: { ...join, need: 'data:read' },
    limit: 'none',
    actor: 'artifactId',
    socket: 'request',
    params: z.object({ artifactId }),
    query,
    replies: {},
    errors: [],
  }),
} as const;
