import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { admin, params } from './access.ts';
import { workspace, workspaceRole } from './workspaces.ts';

const inviteStatus = z.enum(['pending', 'accepted', 'expired', 'revoked']);

export const invite = z.object({
  id: idSchema('invite'),
  email: z.string(),
  role: workspaceRole,
  status: inviteStatus,
  invited_by: idSchema('user').nullable(),
  sent_at: dateTime,
  expires_at: dateTime,
});

/** What became of one address. */
export const inviteOutcome = z.object({
  email: z.string(),
  status: z.enum(['invited', 'already_invited', 'already_member', 'not_allowed', 'invalid']),
  invite: invite.optional(),
  error: z.string().optional().meta({ description: 'why nothing was sent' }),
});

const one = params.extend({ inviteId: idSchema('invite') });

export const invites = {
  'invites.create': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/members/invite',
    group: 'workspaces',
    summary: 'Invites addresses by mail, each with an outcome of its own.',
    access: admin,
    limit: 'invites',
    limitPer: 'emails',
    params,
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z.strictObject({
        emails: z.array(z.string().max(LIMITS.emailCharsMax)).min(1).max(LIMITS.invitesAtOnceMax),
        role: workspaceRole.default('member'),
      }),
    },
    replies: { ok: { status: 200, body: z.object({ results: z.array(inviteOutcome), sent: z.number().int() }) } },
    errors: ['WORKSPACE_LIMIT_EXCEEDED'],
  }),
  'invites.list': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/invites',
    group: 'workspaces',
    summary: 'The invitations of a workspace, newest first.',
    access: admin,
    limit: 'none',
    params,
    query: z.object({ ...pageQuery, status: inviteStatus.optional() }),
    replies: { ok: { status: 200, body: z.object({ invites: z.array(invite), ...pageReply }) } },
    errors: [],
  }),
  'invites.resend': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/invites/{inviteId}/resend',
    group: 'workspaces',
    summary: 'Sends an invitation again, with a new code and 14 new days.',
    access: admin,
    limit: 'invites',
    params: one,
    replies: { ok: { status: 200, body: invite } },
    errors: ['INVITE_NOT_FOUND', 'INVITE_CLOSED'],
  }),
  'invites.revoke': endpoint({
    method: 'DELETE',
    path: '/v1/workspaces/{workspaceId}/invites/{inviteId}',
    group: 'workspaces',
    summary: 'Revokes an invitation at once.',
    access: admin,
    limit: 'none',
    params: one,
    replies: { ok: { status: 200, body: success } },
    errors: ['INVITE_NOT_FOUND', 'INVITE_CLOSED'],
  }),
  'invites.claim': endpoint({
    method: 'POST',
    path: '/v1/invites/claim',
    group: 'workspaces',
    summary: 'Joins the workspace of an invitation. The account must have proved the address that was invited.',
    access: { who: 'account', person: true },
    limit: 'inviteClaims',
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z.strictObject({ code: z.string().min(1).max(512).meta({ description: 'the code of the invitation, or its link' }) }),
    },
    replies: { ok: { status: 200, body: workspace } },
    errors: ['INVITE_NOT_FOUND', 'INVITE_CLOSED', 'INVITE_FOR_ANOTHER', 'ALREADY_MEMBER', 'WORKSPACE_LIMIT_EXCEEDED'],
  }),
} as const;
