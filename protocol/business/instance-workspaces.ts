/** Workspaces as an administrator sees them. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { changesTo } from '../core/round-trip.ts';
import { tier } from '../people/accounts.ts';
import { params } from '../workspaces/access.ts';
import { instanceAdmin, q } from './access.ts';
import { suspension, wantedSuspension } from './suspension.ts';

const count = z.number().int();
const planStatus = z.enum(['trialing', 'active', 'past_due', 'canceled', 'incomplete']);

export const instanceWorkspace = z.object({
  id: idSchema('workspace'),
  slug: z.string(),
  name: z.string(),
  plan_tier: tier,
  plan_status: planStatus,
  suspended: suspension.nullable().meta({ description: 'nobody uses the workspace or its artifacts' }),
  owners: z.array(idSchema('user')),
  members: count,
  artifacts: count,
  bytes: count.meta({ description: 'of artifacts without an owner, which count for the workspace' }),
  bytes_max: count,
  created_at: dateTime,
});

export const instanceWorkspaceUpdate = changesTo(instanceWorkspace, {
  plan_tier: tier.optional(),
  plan_status: planStatus.optional(),
  suspended: wantedSuspension.optional(),
});

export const instanceWorkspaces = {
  'instanceWorkspaces.list': endpoint({
    method: 'GET',
    path: '/v1/admin/workspaces',
    group: 'instance',
    summary: 'The workspaces of the installation, newest first.',
    access: instanceAdmin,
    limit: 'adminCalls',
    query: z.object({
      ...pageQuery,
      q: q.meta({ description: 'a part of the name or the slug, or a whole id' }),
      plan_tier: tier.optional(),
      suspended: z.stringbool().optional(),
    }),
    replies: { ok: { status: 200, body: z.object({ workspaces: z.array(instanceWorkspace), ...pageReply }) } },
    errors: [],
  }),
  'instanceWorkspaces.get': endpoint({
    method: 'GET',
    path: '/v1/admin/workspaces/{workspaceId}',
    group: 'instance',
    summary: 'One workspace.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: instanceWorkspace } },
    errors: ['WORKSPACE_NOT_FOUND'],
  }),
  'instanceWorkspaces.update': endpoint({
    method: 'PATCH',
    path: '/v1/admin/workspaces/{workspaceId}',
    group: 'instance',
    summary: 'Sets the plan of a workspace by hand, or suspends it. PATCH …/features is for its features.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params,
    conditional: true,
    resource: 'instanceWorkspaces.get',
    body: { kind: 'json', schema: instanceWorkspaceUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: instanceWorkspace } },
    errors: ['WORKSPACE_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
} as const;
