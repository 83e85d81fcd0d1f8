/** Comments, their settings, and guests. Source: spec.md "Comment settings", contract.md §7. */
import { z } from 'zod';
import { idSchema } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { dateTime, storedText } from './common.ts';

export const IDENTITY_MODES = ['anonymous', 'named', 'authenticated'] as const;
export type IdentityMode = (typeof IDENTITY_MODES)[number];
export const AUTHOR_TYPES = ['human', 'agent', 'guest'] as const;

/** Text that the database can hold whole: no NUL, no half of a surrogate pair. */
function wholeText(charsMax: number) {
  return storedText(charsMax).refine((text) => !/\p{Cs}/u.test(text), 'must not contain half a surrogate pair');
}

/** A name as people are shown it: one line. */
export const personName = wholeText(LIMITS.commentNameCharsMax)
  .trim()
  .min(1)
  .refine((name) => !/\p{Cc}/u.test(name), 'must not contain control characters');

// What JSON.stringify writes for NUL and for half a pair, unless the backslash is itself a character of the text.
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Where on the page a comment stands, in the terms of whoever shows it: a selector, offsets. A small JSON object. */
export const commentPosition = z
  .record(z.string(), z.unknown())
  .refine(
    (position) => new TextEncoder().encode(JSON.stringify(position)).length <= LIMITS.commentPositionBytesMax,
    'must have at most 4 KB',
  )
  .refine((position) => !UNSTORABLE.test(JSON.stringify(position)), 'must not contain NUL characters or half a surrogate pair');
export type CommentPosition = z.output<typeof commentPosition>;

/** The text that a comment is about, with what stands before and after it. */
export const commentQuote = z.strictObject({
  exact: wholeText(LIMITS.commentQuoteCharsMax).min(1),
  prefix: wholeText(LIMITS.commentContextCharsMax).default(''),
  suffix: wholeText(LIMITS.commentContextCharsMax).default(''),
});
export type CommentQuote = z.output<typeof commentQuote>;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u;

/** One emoji, however many code points it is made of. */
export const reactionEmoji = z
  .string()
  .min(1)
  .max(LIMITS.reactionEmojiCharsMax)
  .refine((text) => EMOJI.test(text) && !/\p{Cs}/u.test(text) && [...graphemes.segment(text)].length === 1, 'must be one emoji');

export const commentId = idSchema('comment');
// Longer ones are told apart from what cannot be read at all: the handler refuses them with a code of their own.
const content = wholeText(LIMITS.bodyBytesMax).meta({ description: `at most ${LIMITS.commentCharsMax} characters, else CONTENT_TOO_LONG` });
export const commentContextId = wholeText(LIMITS.commentContextIdCharsMax);
const dueAt = dateTime.nullable();

export const commentCreate = z.strictObject({
  content,
  contextId: commentContextId
    .optional()
    .meta({ description: 'what is commented on: a path of the page or any name; a reply has that of its thread' }),
  parentId: commentId.nullish(),
  authorName: personName.optional().meta({ description: 'of somebody whose account or guest token has no name' }),
  position: commentPosition.nullish(),
  quote: commentQuote.nullish(),
  versionId: idSchema('version').optional().meta({ description: 'the version that was looked at; default the live one' }),
  assigneeUserId: idSchema('user').nullish(),
  dueAt: dueAt.optional(),
});

export const commentUpdate = z
  .strictObject({
    content: content.optional(),
    position: commentPosition.nullish(),
    quote: commentQuote.nullish(),
    dueAt: dueAt.optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'name at least one field to change');

export const commentListQuery = z.object({
  contextId: commentContextId.optional(),
  parentId: z
    .union([commentId, z.literal('root')])
    .optional()
    .meta({ description: 'replies to one comment, or `root` for the first comments of threads' }),
  resolved: z.stringbool().optional(),
  assignee: idSchema('user').optional(),
  limit: z.coerce.number().int().min(1).max(LIMITS.pageMax).default(LIMITS.pageDefault),
  cursor: z.string().max(512).optional(),
});

/** `mine` is absent where the comment is not told to one person (live events). */
const reactions = z.record(z.string(), z.object({ count: z.number().int(), mine: z.boolean().optional() }));

export const comment = z.object({
  id: z.string(),
  contextId: z.string().nullable(),
  parentId: z.string().nullable(),
  authorId: z.string().nullable().meta({ description: 'an account, a guest or an agent; null for somebody without either' }),
  authorName: z.string().nullable(),
  authorType: z.enum(AUTHOR_TYPES),
  content: z.string(),
  position: z.record(z.string(), z.unknown()).nullable(),
  quote: z.object({ exact: z.string(), prefix: z.string(), suffix: z.string() }).nullable(),
  versionId: z.string().nullable(),
  outdated: z.boolean().optional().meta({ description: 'the live version does not have the quoted text any more; absent in live events' }),
  mentions: z.array(z.string()).meta({ description: 'accounts' }),
  reactions,
  resolved: z.boolean(),
  resolvedBy: z.string().nullable(),
  resolvedAt: dateTime.nullable(),
  assigneeUserId: z.string().nullable(),
  dueAt: dateTime.nullable(),
  edited: z.boolean(),
  replyCount: z.number().int().optional().meta({ description: 'direct replies; absent in live events' }),
  seq: z.number().int().meta({ description: 'of its last change' }),
  createdAt: dateTime,
  updatedAt: dateTime,
});
export type PublicComment = z.output<typeof comment>;

export const commentList = z.object({
  comments: z.array(comment),
  count: z.number().int().meta({ description: 'that match, on all pages' }),
  hasMore: z.boolean(),
  nextCursor: z.string().nullable(),
});

export const commentThread = commentList.extend({ rootId: z.string().meta({ description: 'the first comment of the thread' }) });

export const commentHistory = z.object({
  history: z.array(z.object({ content: z.string(), replacedAt: dateTime })).meta({ description: 'replaced texts, newest first' }),
});

export const commentResolve = z.strictObject({ resolved: z.boolean() });

export const commentAssign = z.strictObject({ assigneeUserId: idSchema('user').nullable(), dueAt: dueAt.optional() });

export const commentReaction = z.strictObject({ emoji: reactionEmoji });

const settings = {
  enabled: z.boolean(),
  identityMode: z.enum(IDENTITY_MODES),
  allowReplies: z.boolean(),
  maxDepth: z.number().int().min(1).max(LIMITS.commentDepthMax),
  overlayEnabled: z.boolean(),
};

/** `guestComments` null follows the folder. */
export const commentSettingsUpdate = z.strictObject(settings).partial().extend({ guestComments: z.boolean().nullable().optional() });
export type CommentSettingsUpdate = z.output<typeof commentSettingsUpdate>;

export const commentSettings = z.object({
  ...settings,
  guestComments: z.boolean().optional().meta({ description: 'absent: follows the folder' }),
  guestCommentsEffective: z.boolean(),
});

const person = z.object({
  userId: z.string(),
  name: z.string().nullable(),
  username: z.string().nullable(),
  role: z.enum(['owner', 'editor', 'viewer', 'none']),
});

export const commentPeople = z.object({
  people: z.array(person).meta({ description: 'who can be mentioned, and by owner and editors assigned' }),
  you: z.object({
    id: z.string().nullable().meta({ description: 'authorId of your comments; null: they are nobody’s' }),
    name: z.string().nullable(),
    type: z.enum(AUTHOR_TYPES),
    role: z.enum(['owner', 'editor', 'viewer', 'none']),
  }),
});

export const commentUnread = z.object({
  unread: z.number().int().meta({ description: 'comments of others, written or edited since' }),
  seq: z.number().int().meta({ description: 'read up to here' }),
  latestSeq: z.number().int(),
});

export const commentRead = z.strictObject({
  seq: z.number().int().min(0).optional().meta({ description: 'default: everything there is' }),
});

const email = z.email().max(LIMITS.emailCharsMax).toLowerCase();

export const guestStart = z.strictObject({ email, name: personName });

export const guestVerify = z.strictObject({ email, code: z.string().regex(/^\d{6}$/, 'must be the 6 digits of the mail') });

export const guestToken = z.object({ guestToken: z.string(), expiresAt: dateTime });

export const commentsDeleteQuery = z.object({
  resolved: z.literal('true', 'must be true: only resolved comments are deleted together'),
  confirm: z.literal('true', 'must be true: this cannot be undone'),
});
