import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { admin, params } from './access.ts';

/** Source: contract.md §14. */
export const auditEntry = z.object({
  id: idSchema('audit'),
  at: dateTime,
  actor: z.object({ kind: z.enum(['user', 'agent', 'system']), id: z.string().nullable(), name: z.string().nullable() }),
  action: z.string().meta({ description: '<resource>.<verb>' }),
  target: z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() }),
  detail: z.record(z.string(), z.unknown()),
  address: z.string().nullable(),
  request_id: z.string().nullable(),
});

const time = z.iso.datetime({ offset: true }).optional();

export const auditLog = {
  'audit.list': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/audit',
    group: 'workspaces',
    summary: 'What was done in the workspace, newest first: a page as JSON, or all of it as CSV by Accept.',
    access: admin,
    limit: 'none',
    params,
    query: z.object({
      ...pageQuery,
      action: storedText(100).optional().meta({ description: 'an action, or its resource with a dot: agent_token.' }),
      actor: storedText(100).optional().meta({ description: 'the id of a person or an agent' }),
      from: time.meta({ description: 'not before this time' }),
      to: time.meta({ description: 'before this time' }),
    }),
    replies: {
      ok: { status: 200, body: z.object({ entries: z.array(auditEntry), ...pageReply }) },
      csv: { status: 200, media: 'text/csv', description: 'Every entry that the filter finds; limit, cursor and count do nothing.' },
    },
    errors: [],
  }),
} as const;
