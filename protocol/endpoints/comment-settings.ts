import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { idSchema } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import {
  commentPeople,
  commentRead,
  commentSettings,
  commentSettingsUpdate,
  commentUnread,
  guestStart,
  guestToken,
  guestVerify,
} from '../schemas/comment.ts';
import { enveloped } from '../schemas/json-key.ts';

const params = z.object({ artifactId: idSchema('artifact') });
const read = { who: 'artifact', param: 'artifactId', need: 'comment', scope: 'data:read' } as const;
const own = { who: 'artifact', param: 'artifactId', need: 'own', scope: 'data:write' } as const;
const bytesMax = LIMITS.bodyBytesMax;

/** How an artifact is commented on, by whom, and guests. Source: spec.md "Comments", contract.md §7. */
export const commentSettingsEndpoints = {
  'comments.getConfig': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/comments/_config',
    group: 'comments',
    summary: 'The comment settings.',
    access: read,
    limit: 'data',
    params,
    replies: { ok: { status: 200, body: enveloped(commentSettings) } },
    errors: [],
  }),
  'comments.putConfig': endpoint({
    method: 'PUT',
    path: '/v1/data/{artifactId}/comments/_config',
    group: 'comments',
    summary: 'Changes the settings that are named. Owner only.',
    access: own,
    limit: 'data',
    params,
    body: { kind: 'json', schema: commentSettingsUpdate, bytesMax },
    replies: { ok: { status: 200, body: enveloped(commentSettings) } },
    errors: [],
  }),
  'comments.people': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/comments/_people',
    group: 'comments',
    summary: 'Who can be mentioned, and who you are here.',
    access: read,
    limit: 'data',
    params,
    replies: { ok: { status: 200, body: enveloped(commentPeople) } },
    errors: ['COMMENTS_DISABLED'],
  }),
  'comments.unread': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/comments/_unread',
    group: 'comments',
    summary: 'How many comments of others your account has not read.',
    access: read,
    limit: 'data',
    params,
    replies: { ok: { status: 200, body: enveloped(commentUnread) } },
    errors: ['COMMENTS_DISABLED', 'AUTH_REQUIRED'],
  }),
  'comments.markRead': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/comments/_read',
    group: 'comments',
    summary: 'Says that your account has read everything up to a seq.',
    access: read,
    limit: 'data',
    params,
    body: { kind: 'json', schema: commentRead, bytesMax, optional: true },
    replies: { ok: { status: 200, body: enveloped(commentUnread) } },
    errors: ['COMMENTS_DISABLED', 'AUTH_REQUIRED'],
  }),
  'comments.guestStart': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/comments/_guest/start',
    group: 'comments',
    summary: 'Sends a code of 6 digits to an address whose owner wants to comment without an account.',
    access: read,
    limit: 'data',
    params,
    body: { kind: 'json', schema: guestStart, bytesMax },
    replies: { accepted: { status: 202, body: enveloped(z.object({ sent: z.literal(true) })) } },
    errors: ['COMMENTS_DISABLED'],
  }),
  'comments.guestVerify': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/comments/_guest/verify',
    group: 'comments',
    summary: 'Changes the code for a token that comments on this artifact.',
    access: read,
    limit: 'data',
    params,
    body: { kind: 'json', schema: guestVerify, bytesMax },
    replies: { ok: { status: 200, body: enveloped(guestToken) } },
    errors: ['COMMENTS_DISABLED', 'CODE_INVALID'],
  }),
} as const;
