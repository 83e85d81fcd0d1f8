/** Comment settings, the people of an artifact, read marks, and guests. Source: spec.md "Comment settings" and "Comments", contract.md §7. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { changesTo } from '../core/round-trip.ts';
import { AUTHOR_TYPES, personName } from './comments.ts';
import { enveloped } from './json-keys.ts';

const IDENTITY_MODES = ['anonymous', 'named', 'authenticated'] as const;
export type IdentityMode = (typeof IDENTITY_MODES)[number];

const settings = {
  enabled: z.boolean(),
  identityMode: z.enum(IDENTITY_MODES),
  allowReplies: z.boolean(),
  maxDepth: z.number().int().min(1).max(LIMITS.commentDepthMax),
  overlayEnabled: z.boolean(),
};

export const commentSettings = z.object({
  ...settings,
  guestComments: z.boolean().optional().meta({ description: 'absent when the setting of the folder applies' }),
  guestCommentsEffective: z.boolean(),
});

/** `guestComments` null: the setting of the folder applies. */
const changedSettings = z.object(settings).partial().extend({ guestComments: z.boolean().nullable().optional() });
export const commentSettingsUpdate = changesTo(commentSettings, changedSettings.shape);
export type CommentSettingsUpdate = z.output<typeof commentSettingsUpdate>;
/** Every setting, as an export contains them. */
export const storedCommentSettings = changedSettings.required();

const role = z.enum(['owner', 'editor', 'viewer', 'none']);

export const commentPeople = z.object({
  people: z
    .array(z.object({ userId: z.string(), name: z.string().nullable(), username: z.string().nullable(), role }))
    .meta({ description: 'the people whom you can mention; owner and editors can also assign comments to them' }),
  you: z.object({
    id: z.string().nullable().meta({ description: 'the authorId of what you write; null when you are anonymous' }),
    ids: z.array(z.string()).meta({ description: 'the authorIds of comments that are yours: those of your linked accounts too' }),
    name: z.string().nullable(),
    type: z.enum(AUTHOR_TYPES),
    role,
  }),
});

export const commentUnread = z.object({
  unread: z.number().int().meta({ description: 'comments by others that were written or edited after seq' }),
  seq: z.number().int().meta({ description: 'the seq up to which you have read, with any linked account' }),
  latestSeq: z.number().int(),
});

export const commentRead = z.strictObject({
  seq: z.number().int().min(0).optional().meta({ description: 'default: the seq of the latest comment' }),
});

const email = z.email().max(LIMITS.emailCharsMax).toLowerCase();

export const guestStart = z.strictObject({ email, name: personName });

export const guestVerify = z.strictObject({ email, code: z.string().regex(/^\d{6}$/, 'must be the 6 digits of the mail') });

export const guestToken = z.object({ guestToken: z.string(), expiresAt: dateTime });

const params = z.object({ artifactId: idSchema('artifact') });
const read = { who: 'artifact', param: 'artifactId', need: 'comment', scope: 'data:read' } as const;
const own = { who: 'artifact', param: 'artifactId', need: 'own', scope: 'data:write' } as const;
const bytesMax = LIMITS.bodyBytesMax;

export const commentSettingsEndpoints = {
  'comments.getConfig': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/comments/_config',
    group: 'comments',
    summary: 'Reads the comment settings.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(commentSettings) } },
    errors: [],
  }),
  'comments.putConfig': endpoint({
    method: 'PUT',
    path: '/v1/data/{artifactId}/comments/_config',
    group: 'comments',
    summary: 'Changes the settings that the body names. Owner only.',
    access: own,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    resource: 'comments.getConfig',
    body: { kind: 'json', schema: commentSettingsUpdate, bytesMax },
    replies: { ok: { status: 200, body: enveloped(commentSettings) } },
    errors: ['VERSION_CONFLICT'],
  }),
  'comments.people': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/comments/_people',
    group: 'comments',
    summary: 'Lists the people whom you can mention, and tells who you are here.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(commentPeople) } },
    errors: ['COMMENTS_DISABLED'],
  }),
  'comments.unread': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/comments/_unread',
    group: 'comments',
    summary: 'Counts the comments by others that you have not read.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(commentUnread) } },
    errors: ['COMMENTS_DISABLED', 'AUTH_REQUIRED'],
  }),
  'comments.markRead': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/comments/_read',
    group: 'comments',
    summary: 'Marks all comments up to a seq as read by you.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    body: { kind: 'json', schema: commentRead, bytesMax, optional: true },
    replies: { ok: { status: 200, body: enveloped(commentUnread) } },
    errors: ['COMMENTS_DISABLED', 'AUTH_REQUIRED'],
  }),
  'comments.guestStart': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/comments/_guest/start',
    group: 'comments',
    summary: 'Mails a 6-digit code to somebody who wants to comment without an account.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    body: { kind: 'json', schema: guestStart, bytesMax },
    replies: { accepted: { status: 202, body: enveloped(z.object({ sent: z.literal(true) })) } },
    errors: ['COMMENTS_DISABLED'],
  }),
  'comments.guestVerify': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/comments/_guest/verify',
    group: 'comments',
    summary: 'Exchanges the code for a token that may comment on this artifact.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    body: { kind: 'json', schema: guestVerify, bytesMax },
    replies: { ok: { status: 200, body: enveloped(guestToken) } },
    errors: ['COMMENTS_DISABLED', 'CODE_INVALID'],
  }),
} as const;
