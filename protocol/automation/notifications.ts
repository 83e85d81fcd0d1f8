/** The bell: what the service tells a person. Source: contract.md §8, §15. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';

export const notification = z.object({
  id: idSchema('notice'),
  kind: z.string().meta({ description: 'what it is about, for example alert.fired' }),
  title: z.string(),
  body: z.string().meta({ description: 'plain text' }),
  artifact_id: idSchema('artifact').nullable(),
  url: z.string().nullable().meta({ description: 'where to read more; a path is one of this service' }),
  created_at: dateTime,
  read_at: dateTime.nullable(),
});

const unreadCount = z.number().int();
const person = { who: 'account', person: true } as const;

export const notificationEndpoints = {
  'notifications.list': endpoint({
    method: 'GET',
    path: '/v1/notifications',
    group: 'notifications',
    summary: `What the service has told the caller in the last ${LIMITS.noticesKeptDays} days, newest first, and how much of it is unread.`,
    access: person,
    limit: 'notifications',
    query: z.object({
      unread: z.stringbool().default(false).meta({ description: 'only those that are unread' }),
      ...pageQuery,
    }),
    replies: { ok: { status: 200, body: z.object({ notifications: z.array(notification), unread_count: unreadCount, ...pageReply }) } },
    errors: [],
  }),
  'notifications.follow': endpoint({
    method: 'GET',
    path: '/v1/notifications/stream',
    group: 'notifications',
    summary:
      'Tells with server-sent events how many notifications are unread and what the banner of the installation says, at first and after each change.',
    access: person,
    limit: 'notifications',
    replies: {
      stream: {
        status: 200,
        media: 'text/event-stream',
        description:
          'unread {unread_count}, banner {banner} as in GET /v1/banner, and a comment every 15 s. The stream ends with its credential.',
      },
    },
    errors: ['UNAVAILABLE'],
  }),
  'notifications.read': endpoint({
    method: 'POST',
    path: '/v1/notifications/read',
    group: 'notifications',
    summary: 'Marks notifications as read. Those that are read already, or are not the caller’s, stay as they are.',
    access: person,
    limit: 'notifications',
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z
        .strictObject({
          ids: z.array(idSchema('notice')).min(1).max(LIMITS.noticesReadAtOnceMax).optional(),
          all: z.literal(true).optional(),
        })
        .refine(({ ids, all }) => (ids === undefined) !== (all === undefined), 'must have either ids or all: true'),
    },
    replies: {
      ok: {
        status: 200,
        body: z.object({ read: z.number().int().meta({ description: 'how many were unread' }), unread_count: unreadCount }),
      },
    },
    errors: [],
  }),
} as const;
