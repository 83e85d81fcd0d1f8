/** Comments that concern the caller, on whichever pages. Paths below `/v1/home` are snake_case, as contract.md §0 has it. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { AUTHOR_TYPES } from './comments.ts';

export const INBOX_FILTERS = ['all', 'mentions', 'assigned'] as const;
export const INBOX_REASONS = ['mention', 'assigned', 'owner', 'collaborator'] as const;

export const inboxItem = z.object({
  artifact: z.object({ id: idSchema('artifact'), slug: z.string(), name: z.string(), url: z.string() }),
  comment: z.object({
    id: z.string(),
    thread_id: z.string().meta({ description: 'the first comment of its thread, which is the comment itself where it is no reply' }),
    excerpt: z.string().meta({ description: `its first ${LIMITS.inboxExcerptCharsMax} characters in one line` }),
    author_id: z.string().nullable(),
    author_name: z.string().nullable(),
    author_type: z.enum(AUTHOR_TYPES),
    created_at: dateTime,
    resolved: z.boolean().meta({ description: 'the comment or its thread' }),
    due_at: dateTime.nullable(),
    assignee_user_id: z.string().nullable(),
  }),
  reasons: z.array(z.enum(INBOX_REASONS)).meta({
    description: 'why it is listed: it mentions you, it is assigned to you, or it is on a page of yours or one that you collaborate on',
  }),
  unread: z.boolean().meta({ description: 'written or edited by somebody else since you last marked the page as read' }),
  can_resolve: z.boolean().meta({ description: 'you may resolve and reopen its thread' }),
});

export const inbox = z.object({
  comments: z.array(inboxItem),
  ...pageReply,
  total: pageReply.total.meta({
    description: `items on all pages, at most ${LIMITS.inboxCountMax}, where count=true asks for it`,
  }),
});

export const inboxEndpoints = {
  'inbox.list': endpoint({
    method: 'GET',
    path: '/v1/home/comments',
    group: 'comments',
    summary: 'Comments of all pages that you see which mention you, are assigned to you, or are on pages of yours, newest first.',
    access: { who: 'account', person: true },
    limit: 'inbox',
    query: z.object({
      filter: z.enum(INBOX_FILTERS).default('all'),
      resolved: z.stringbool().optional().meta({ description: 'only those of threads that are resolved, or only those of open ones' }),
      unread: z.stringbool().default(false).meta({ description: 'only those that are unread' }),
      ...pageQuery,
    }),
    replies: { ok: { status: 200, body: inbox } },
    errors: [],
  }),
} as const;
