import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { changesTo } from '../core/round-trip.ts';
import { admin, member, params, reads } from './access.ts';

export const publishPolicy = z.object({
  policy: z.enum(['allow', 'prohibit', 'require_approval']).meta({
    description: 'whether versions by members and agents go live at once, are refused, or wait for approval; owners and admins are free',
  }),
  approvals_required: z.number().int().meta({ description: 'by so many owners and admins, where approval is required' }),
});
export type PublishPolicy = z.output<typeof publishPolicy>;

export const publishPolicyUpdate = changesTo(publishPolicy, {
  policy: publishPolicy.shape.policy.optional(),
  approvals_required: z.number().int().min(1).max(LIMITS.approvalsRequiredMax).optional(),
}).refine((body) => Object.keys(body).length > 0, 'must change at least one field');

const somebody = z.object({ id: idSchema('user'), name: z.string().nullable() });

/** A version that waits. */
export const waitingVersion = z.object({
  artifact: z.object({ id: idSchema('artifact'), name: z.string(), slug: z.string() }),
  version_id: idSchema('version'),
  version_no: z.number().int(),
  label: z.string().nullable(),
  note: z.string().nullable(),
  author: somebody.nullable().meta({ description: 'null where an agent has published it' }),
  waiting_since: dateTime,
  approved_by: z.array(somebody),
  approvals_required: z.number().int(),
});

export const publishPolicies = {
  'publishPolicy.get': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/publish-policy',
    group: 'workspaces',
    summary: 'How versions of the artifacts of the workspace go live.',
    access: reads,
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: publishPolicy } },
    errors: [],
  }),
  'publishPolicy.update': endpoint({
    method: 'PATCH',
    path: '/v1/workspaces/{workspaceId}/publish-policy',
    group: 'workspaces',
    summary: 'Changes how versions go live. What waits already goes on waiting, for as many approvals as are needed from now on.',
    access: admin,
    limit: 'none',
    params,
    conditional: true,
    resource: 'publishPolicy.get',
    body: { kind: 'json', schema: publishPolicyUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: publishPolicy } },
    errors: ['VERSION_CONFLICT'],
  }),
  'publishPolicy.waiting': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/publish-approvals',
    group: 'workspaces',
    summary: 'The versions that wait for approval, last published first: all for owners and admins, their own for members.',
    access: member,
    limit: 'none',
    params,
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ waiting: z.array(waitingVersion), ...pageReply }) } },
    errors: [],
  }),
} as const;
