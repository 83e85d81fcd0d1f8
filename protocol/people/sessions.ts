/** The sessions of signed-in browsers. Source: contract.md §13. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';

export const sessionRecord = z.object({
  id: idSchema('session'),
  device: z.string().meta({ description: 'browser and system, as the browser calls itself' }),
  address: z.string().meta({ description: 'network address from which it signed in' }),
  created_at: dateTime,
  last_used_at: dateTime,
  current: z.boolean().meta({ description: 'the session of this very call' }),
});

const account = { who: 'account', person: true } as const;

export const sessions = {
  'sessions.list': endpoint({
    method: 'GET',
    path: '/v1/auth/sessions',
    group: 'sessions',
    summary: 'The sessions of the person, of all linked accounts, newest first.',
    access: account,
    limit: 'none',
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ sessions: z.array(sessionRecord), ...pageReply }) } },
    errors: [],
  }),
  'sessions.revoke': endpoint({
    method: 'DELETE',
    path: '/v1/auth/sessions/{id}',
    group: 'sessions',
    summary: 'Ends a session at once.',
    access: account,
    limit: 'none',
    params: z.object({ id: idSchema('session') }),
    replies: { ok: { status: 200, body: success } },
    errors: ['SESSION_NOT_FOUND'],
  }),
  'sessions.revokeOthers': endpoint({
    method: 'DELETE',
    path: '/v1/auth/sessions',
    group: 'sessions',
    summary: 'Ends all sessions but the one of this call.',
    access: account,
    limit: 'none',
    replies: { ok: { status: 200, body: success } },
    errors: [],
  }),
} as const;
