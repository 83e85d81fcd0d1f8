/** The JSON frames of …/channels, both ways. Source: design.md "Channels". */
import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { CHANGE_TYPES, changeEvent } from './change.ts';
import { dateTime } from './common.ts';

/** Resumed by the seq of the artifact's changes. */
export const DURABLE_CHANNELS = CHANGE_TYPES;
export const CHANNELS = [...DURABLE_CHANNELS, 'versions', 'presence', 'broadcast'] as const;
export type DurableChannel = (typeof DURABLE_CHANNELS)[number];
export type ChannelName = (typeof CHANNELS)[number];

/** Given back with the answer or the error. */
const id = z.string().max(64).optional();
const channel = z.enum(CHANNELS, `must be one of ${CHANNELS.join(', ')}`);

export const clientFrame = z.discriminatedUnion(
  'type',
  [
    z.object({
      type: z.literal('subscribe'),
      channel,
      /** Of the last event or `reset` that the client has seen on this channel; without it: from now on. */
      since: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
      id,
    }),
    z.object({ type: z.literal('unsubscribe'), channel, id }),
    /** What others see of this connection beside who it is: a cursor, what is selected. Null takes it back. */
    z.object({ type: z.literal('presence'), state: z.record(z.string(), z.unknown()).nullable(), id }),
    /** To everybody else who has subscribed to `broadcast`; not stored. */
    z.object({ type: z.literal('broadcast'), event: z.string().min(1).max(LIMITS.broadcastEventCharsMax), data: z.unknown(), id }),
    /** To everybody else who has subscribed to `comments`. */
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

/** Said by the server, from the token: no client can say that it is somebody else. */
export const person = z.object({
  id: z.string().meta({ description: 'of the account, the guest or the agent; `anonymous:…` of one connection' }),
  name: z.string(),
  kind: z.enum(['human', 'agent', 'guest', 'anonymous']),
  color: z.string().meta({ description: '#rrggbb, always the same for an id' }),
});
export type Person = z.output<typeof person>;

const state = z.record(z.string(), z.unknown()).nullable();
/** One connection; a person may have several. */
export const presentPerson = person.extend({ connectionId: z.string(), state });
const sender = person.extend({ connectionId: z.string() });

const versionEvent = z.object({
  type: z.literal('event'),
  channel: z.literal('versions'),
  /** The number of the newest version that this client has been told of. */
  seq: z.number().int(),
});

const presenceEvent = z.discriminatedUnion('kind', [
  /** Everybody who is here, the client itself too; takes the place of what was known. */
  z.object({
    type: z.literal('event'),
    channel: z.literal('presence'),
    kind: z.literal('people'),
    data: z.object({ people: z.array(presentPerson) }),
  }),
  /** What has changed since: `joined` may name somebody who is known already, `left` somebody who is not. */
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
  /** `canWrite`: may broadcast and, where comments are open, type. */
  z.object({ type: z.literal('hello'), connectionId: z.string(), you: person, canWrite: z.boolean() }),
  z.object({ type: z.literal('access'), canWrite: z.boolean() }),
  /** What follows on the channel is after `seq`; 0 on presence and broadcast, which do not resume. */
  z.object({ type: z.literal('subscribed'), channel, seq: z.number().int(), id }),
  /** Read everything of this channel again: what was missed is not known any more. What follows is after `seq`. */
  z.object({ type: z.literal('reset'), channel, seq: z.number().int() }),
  /** Asked for, or (with `code`) no longer allowed. */
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
  presenceEvent,
  /** `kind` is the `event` of who sent it. */
  z.object({ type: z.literal('event'), channel: z.literal('broadcast'), kind: z.string(), from: sender, data: z.unknown() }),
  z.object({
    type: z.literal('event'),
    channel: z.literal('comments'),
    kind: z.literal('typing'),
    from: sender,
    data: z.object({ contextId: z.string().nullable(), parentId: z.string().nullable(), isTyping: z.boolean() }),
  }),
  z.object({ type: z.literal('error'), code: z.string(), error: z.string(), hint: z.string().optional(), id }),
  /** Answer with `pong`: a browser does not show the pings of the protocol below. */
  z.object({ type: z.literal('ping') }),
  z.object({ type: z.literal('pong'), id }),
]);
export type ServerFrame = z.output<typeof serverFrame>;
