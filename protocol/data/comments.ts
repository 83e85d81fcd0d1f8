/** Comments and threads. Settings, readers and guests stand in `comment-settings.ts`. Source: spec.md "Comments", contract.md §7. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dataPageReply, dateTime, pageQuery, storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull, changesTo } from '../core/round-trip.ts';
import { boundedText } from '../core/text.ts';
import { enveloped } from './json-keys.ts';

export const AUTHOR_TYPES = ['human', 'agent', 'guest'] as const;

/** Text that Postgres stores unchanged: no NUL character, no lone surrogate. */
function wholeText(charsMax: number) {
  return storedText(charsMax).refine((text) => !/\p{Cs}/u.test(text), 'must not contain half a surrogate pair');
}

/** A display name: one line. */
export const personName = wholeText(LIMITS.commentNameCharsMax)
  .trim()
  .min(1)
  .refine((name) => !/\p{Cc}/u.test(name), 'must not contain control characters');

// The escapes that JSON.stringify writes for NUL and for a lone surrogate. An escaped backslash before them makes them plain text.
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Where on the page a comment stands. A small JSON object that only the client interprets: a selector, offsets. */
export const commentPosition = z
  .record(z.string(), z.unknown())
  .refine(
    (position) => new TextEncoder().encode(JSON.stringify(position)).length <= LIMITS.commentPositionBytesMax,
    'must have at most 4 KB',
  )
  .refine((position) => !UNSTORABLE.test(JSON.stringify(position)), 'must not contain NUL characters or half a surrogate pair');
export type CommentPosition = z.output<typeof commentPosition>;

/** The quoted text with the text before and after it. */
export const commentQuote = z.strictObject({
  exact: wholeText(LIMITS.commentQuoteCharsMax).min(1),
  prefix: wholeText(LIMITS.commentContextCharsMax).default(''),
  suffix: wholeText(LIMITS.commentContextCharsMax).default(''),
});
export type CommentQuote = z.output<typeof commentQuote>;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u;

/** One emoji, which may consist of several code points. */
export const reactionEmoji = boundedText(LIMITS.reactionEmojiCharsMax, 1).refine(
  (text) => EMOJI.test(text) && !/\p{Cs}/u.test(text) && [...graphemes.segment(text)].length === 1,
  'must be one emoji',
);

export const commentId = idSchema('comment');
// The schema admits longer texts so that the handler can refuse them with CONTENT_TOO_LONG instead of INVALID_REQUEST.
const content = wholeText(LIMITS.bodyBytesMax).meta({
  description: `at most ${LIMITS.commentCharsMax} characters; a longer text is refused with CONTENT_TOO_LONG`,
});
export const commentContextId = wholeText(LIMITS.commentContextIdCharsMax);
const dueAt = dateTime.nullable();

export const commentCreate = z.strictObject({
  content,
  contextId: absentOrNull(commentContextId).meta({
    description: 'what the comment is about: a path of the page or any name; a reply takes the contextId of its thread',
  }),
  parentId: commentId.nullish(),
  authorName: absentOrNull(personName).meta({ description: 'used only when the caller is anonymous' }),
  position: commentPosition.nullish(),
  quote: commentQuote.nullish(),
  versionId: absentOrNull(idSchema('version')).meta({
    description: 'the version that the author was looking at; default: the live version',
  }),
  assigneeUserId: idSchema('user').nullish(),
  dueAt: dueAt.optional(),
});

export const commentListQuery = z.object({
  contextId: commentContextId.optional(),
  parentId: z
    .union([commentId, z.literal('root')])
    .optional()
    .meta({ description: 'the comment whose replies to list, or `root` for the first comments of threads' }),
  resolved: z.stringbool().optional(),
  assignee: idSchema('user').optional(),
  ...pageQuery,
});

/** `mine` is absent in live events, which go to all readers alike. */
const reactions = z.record(z.string(), z.object({ count: z.number().int(), mine: z.boolean().optional() }));

export const comment = z.object({
  id: z.string(),
  contextId: z.string().nullable(),
  parentId: z.string().nullable(),
  authorId: z.string().nullable().meta({ description: 'the account, guest or agent that wrote it; null for an anonymous author' }),
  authorName: z.string().nullable(),
  authorType: z.enum(AUTHOR_TYPES),
  content: z.string(),
  position: z.record(z.string(), z.unknown()).nullable(),
  quote: z.object({ exact: z.string(), prefix: z.string(), suffix: z.string() }).nullable(),
  versionId: z.string().nullable(),
  outdated: z
    .boolean()
    .optional()
    .meta({ description: 'true when the live version no longer contains the quoted text; absent in live events' }),
  mentions: z.array(z.string()).meta({ description: 'ids of the mentioned accounts' }),
  reactions,
  resolved: z.boolean(),
  resolvedBy: z.string().nullable(),
  resolvedAt: dateTime.nullable(),
  assigneeUserId: z.string().nullable(),
  dueAt: dateTime.nullable(),
  edited: z.boolean(),
  replyCount: z.number().int().optional().meta({ description: 'direct replies; absent in live events' }),
  seq: z.number().int().meta({ description: 'seq of its last change' }),
  createdAt: dateTime,
  updatedAt: dateTime,
});
export type PublicComment = z.output<typeof comment>;

export const commentUpdate = changesTo(comment, {
  content: content.optional(),
  position: commentPosition.nullish(),
  quote: commentQuote.nullish(),
  dueAt: dueAt.optional(),
}).refine((change) => Object.keys(change).length > 0, 'must name at least one field to change');

export const commentList = z.object({
  comments: z.array(comment),
  count: z.number().int().meta({ description: 'matching comments on all pages' }),
  ...dataPageReply,
});

export const commentThread = commentList.extend({ rootId: z.string().meta({ description: 'the first comment of the thread' }) });

export const commentHistory = z.object({
  history: z.array(z.object({ content: z.string(), replacedAt: dateTime })).meta({ description: 'earlier texts, newest first' }),
});

export const commentResolve = z.strictObject({ resolved: z.boolean() });

export const commentAssign = z.strictObject({ assigneeUserId: idSchema('user').nullable(), dueAt: dueAt.optional() });

export const commentReaction = z.strictObject({ emoji: reactionEmoji });

export const commentsDeleteQuery = z.object({
  resolved: z.literal('true', 'must be true: only resolved comments can be deleted in bulk'),
  confirm: z.literal('true', 'must be true: this cannot be undone'),
});

const artifactId = idSchema('artifact');
const ofArtifact = z.object({ artifactId });
const ofComment = z.object({ artifactId, commentId });
const read = { who: 'artifact', param: 'artifactId', need: 'comment', scope: 'data:read' } as const;
const write = { who: 'artifact', param: 'artifactId', need: 'comment:write', scope: 'data:write' } as const;
const moderate = { who: 'artifact', param: 'artifactId', need: 'edit', scope: 'data:write' } as const;
const bytesMax = LIMITS.bodyBytesMax;
const one = { ok: { status: 200, body: enveloped(comment) } } as const;

/** Everybody who may see the page reaches these endpoints; the comment settings decide the rest. Source: contract.md §7. */
export const comments = {
  'comments.list': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/comments',
    group: 'comments',
    summary: 'Lists comments, oldest first.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofArtifact,
    query: commentListQuery,
    replies: { ok: { status: 200, body: enveloped(commentList) } },
    errors: ['COMMENTS_DISABLED'],
  }),
  'comments.create': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/comments',
    group: 'comments',
    summary: 'Writes a comment or, with parentId, a reply. `@username` and `@[name](usr_…)` mention people.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: ofArtifact,
    body: { kind: 'json', schema: commentCreate, bytesMax },
    replies: { created: { status: 201, body: enveloped(comment) } },
    errors: [
      'COMMENTS_DISABLED',
      'AUTH_REQUIRED',
      'NAME_REQUIRED',
      'CONTENT_TOO_LONG',
      'COMMENT_NOT_FOUND',
      'REPLIES_DISABLED',
      'MAX_DEPTH',
      'ASSIGNEE_NOT_FOUND',
      'VERSION_NOT_FOUND',
      'COMMENT_LIMIT_EXCEEDED',
    ],
  }),
  'comments.deleteResolved': endpoint({
    method: 'DELETE',
    path: '/v1/data/{artifactId}/comments',
    group: 'comments',
    summary: 'Deletes all resolved comments and their replies. Owner and editors only.',
    access: moderate,
    limit: 'data',
    actor: 'artifactId',
    params: ofArtifact,
    query: commentsDeleteQuery,
    replies: { ok: { status: 200, body: enveloped(z.object({ deleted: z.number().int() })) } },
    errors: [],
  }),
  'comments.get': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/comments/{commentId}',
    group: 'comments',
    summary: 'One comment.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofComment,
    conditional: true,
    replies: one,
    errors: ['COMMENTS_DISABLED', 'COMMENT_NOT_FOUND'],
  }),
  'comments.update': endpoint({
    method: 'PATCH',
    path: '/v1/data/{artifactId}/comments/{commentId}',
    group: 'comments',
    summary: 'Changes a comment. Only the author changes the text; owner and editors also change the position, quote and due date.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: ofComment,
    conditional: true,
    resource: 'comments.get',
    body: { kind: 'json', schema: commentUpdate, bytesMax },
    replies: one,
    errors: ['COMMENTS_DISABLED', 'COMMENT_NOT_FOUND', 'CONTENT_TOO_LONG', 'COMMENT_LIMIT_EXCEEDED', 'VERSION_CONFLICT'],
  }),
  'comments.delete': endpoint({
    method: 'DELETE',
    path: '/v1/data/{artifactId}/comments/{commentId}',
    group: 'comments',
    summary: 'Deletes a comment and all replies below it. Author, owner and editors only.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: ofComment,
    conditional: true,
    resource: 'comments.get',
    replies: { ok: { status: 200, body: enveloped(z.object({ deleted: z.number().int() })) } },
    errors: ['COMMENTS_DISABLED', 'COMMENT_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'comments.replies': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/comments/{commentId}/replies',
    group: 'comments',
    summary: 'Lists the direct replies, oldest first.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofComment,
    query: commentListQuery.pick({ limit: true, cursor: true, count: true }),
    replies: { ok: { status: 200, body: enveloped(commentList) } },
    errors: ['COMMENTS_DISABLED', 'COMMENT_NOT_FOUND'],
  }),
  'comments.thread': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/comments/{commentId}/thread',
    group: 'comments',
    summary: 'Lists the thread that the comment belongs to, oldest first.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofComment,
    query: commentListQuery.pick({ limit: true, cursor: true, count: true }),
    replies: { ok: { status: 200, body: enveloped(commentThread) } },
    errors: ['COMMENTS_DISABLED', 'COMMENT_NOT_FOUND'],
  }),
  'comments.history': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/comments/{commentId}/history',
    group: 'comments',
    summary: 'Lists the texts that edits have replaced. Author, owner and editors only.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: ofComment,
    replies: { ok: { status: 200, body: enveloped(commentHistory) } },
    errors: ['COMMENTS_DISABLED', 'COMMENT_NOT_FOUND'],
  }),
  'comments.resolve': endpoint({
    method: 'PATCH',
    path: '/v1/data/{artifactId}/comments/{commentId}/resolve',
    group: 'comments',
    summary: 'Resolves or reopens a comment. Author of the thread, owner, editors and reviewers only.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: ofComment,
    conditional: true,
    resource: 'comments.get',
    body: { kind: 'json', schema: commentResolve, bytesMax },
    replies: one,
    errors: ['COMMENTS_DISABLED', 'COMMENT_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'comments.assign': endpoint({
    method: 'PATCH',
    path: '/v1/data/{artifactId}/comments/{commentId}/assign',
    group: 'comments',
    summary: 'Assigns a comment to a person with access, or removes the assignment. Owner, editors and reviewers only.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: ofComment,
    conditional: true,
    resource: 'comments.get',
    body: { kind: 'json', schema: commentAssign, bytesMax },
    replies: one,
    errors: ['FORBIDDEN', 'COMMENTS_DISABLED', 'COMMENT_NOT_FOUND', 'ASSIGNEE_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'comments.react': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/comments/{commentId}/reactions',
    group: 'comments',
    summary: 'Adds your reaction, or removes it if it is there.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params: ofComment,
    body: { kind: 'json', schema: commentReaction, bytesMax },
    replies: one,
    errors: ['COMMENTS_DISABLED', 'AUTH_REQUIRED', 'COMMENT_NOT_FOUND', 'COMMENT_LIMIT_EXCEEDED'],
  }),
} as const;
