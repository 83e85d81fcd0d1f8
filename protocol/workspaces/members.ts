import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { admin, member, params, reads } from './access.ts';
import { invite } from './invites.ts';
import { workspaceRole } from './workspaces.ts';

export const workspaceMember = z.object({
  user_id: idSchema('user'),
  email: z.string().nullable(),
  name: z.string().nullable(),
  role: workspaceRole,
  billing_manager: z.boolean().meta({ description: 'may see and change what the workspace pays, as owners and admins may' }),
  joined_at: dateTime,
});

const memberUpdate = z
  .strictObject({ role: workspaceRole.optional(), billing_manager: z.boolean().optional() })
  .refine(({ role, billing_manager }) => role !== undefined || billing_manager !== undefined, 'must have role or billing_manager');

const one = params.extend({ userId: idSchema('user') });

export const members = {
  'members.list': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/members',
    group: 'workspaces',
    summary: 'The members of a workspace, newest first.',
    access: reads,
    limit: 'none',
    params,
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ members: z.array(workspaceMember), ...pageReply }) } },
    errors: [],
  }),
  'members.add': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/members',
    group: 'workspaces',
    summary: 'Adds the account with a proved address. An address without an account is invited instead.',
    access: admin,
    limit: 'invites',
    params,
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z.strictObject({ email: z.email().max(LIMITS.emailCharsMax).toLowerCase(), role: workspaceRole.default('member') }),
    },
    replies: {
      created: { status: 201, body: workspaceMember },
      invited: { status: 202, body: invite, description: 'The address belongs to no account; it was invited by mail.' },
    },
    errors: ['ALREADY_MEMBER', 'ADDRESS_NOT_ALLOWED', 'WORKSPACE_LIMIT_EXCEEDED'],
  }),
  'members.update': endpoint({
    method: 'PATCH',
    path: '/v1/workspaces/{workspaceId}/members/{userId}',
    group: 'workspaces',
    summary:
      'Changes the role of a member, or whether they manage what the workspace pays. Only owners make and unmake owners and billing managers, and one owner always stays.',
    access: admin,
    limit: 'none',
    params: one,
    body: { kind: 'json', bytesMax: LIMITS.bodyBytesMax, schema: memberUpdate },
    replies: { ok: { status: 200, body: workspaceMember } },
    errors: ['USER_NOT_FOUND', 'LAST_OWNER'],
  }),
  'members.remove': endpoint({
    method: 'DELETE',
    path: '/v1/workspaces/{workspaceId}/members/{userId}',
    group: 'workspaces',
    summary: 'Removes a member, or leaves the workspace. What they own stays theirs.',
    access: member,
    limit: 'none',
    params: one,
    replies: { ok: { status: 200, body: success } },
    errors: ['USER_NOT_FOUND', 'LAST_OWNER'],
  }),
} as const;
