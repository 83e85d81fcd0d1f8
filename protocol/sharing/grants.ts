/** What a workspace shares with people outside. Source: spec.md "share-person", contract.md §10. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { admin, params } from '../workspaces/access.ts';
import { capability } from './capability.ts';
import { email } from './sharees.ts';

export const subjectType = z.enum(['sharee', 'external_user']);
export const resourceType = z.enum(['folder', 'artifact', 'file']);
const resourceId = z.string().min(1).max(LIMITS.nameCharsMax);

export const grant = z.object({
  id: idSchema('grant'),
  subject_type: subjectType,
  subject_id: z.string(),
  subject_name: z.string().meta({ description: 'the name of the client organisation, or the address' }),
  resource_type: resourceType,
  resource_id: z.string(),
  resource_name: z.string(),
  capability,
  expires_at: dateTime.nullable(),
  created_at: dateTime,
  updated_at: dateTime,
});

export const newGrant = z.strictObject({
  subject_type: subjectType,
  subject_id: z.string().min(1).max(LIMITS.nameCharsMax),
  resource_type: resourceType,
  resource_id: resourceId,
  capability,
  expires_at: absentOrNull(z.iso.datetime({ offset: true })),
});

const sharePerson = z.strictObject({
  email,
  resource_type: resourceType,
  resource_id: resourceId,
  capability: capability.default('view'),
  expires_at: absentOrNull(z.iso.datetime({ offset: true })),
});

/** Something that is shared with the caller. */
export const sharedItem = z.object({
  grant_id: idSchema('grant'),
  workspace: z.object({ name: z.string() }),
  through: z
    .string()
    .nullable()
    .meta({ description: 'the client organisation through which it is shared; null where it is shared with you' }),
  resource_type: resourceType,
  resource_id: z.string(),
  name: z.string(),
  url: z.string().nullable().meta({ description: 'of an artifact, its page; of a file, its bytes' }),
  capability,
  expires_at: dateTime.nullable(),
  shared_at: dateTime,
});

const receipt = z.object({
  at: dateTime,
  member_id: idSchema('external'),
  email: z.string(),
  artifact_id: idSchema('artifact'),
  artifact_name: z.string(),
});

const GRANTS = '/v1/workspaces/{workspaceId}/grants';
const common = { group: 'sharing', access: admin } as const;
const errors = [
  'EXTERNAL_SHARING_NOT_ENTITLED',
  'ARTIFACT_NOT_FOUND',
  'FOLDER_NOT_FOUND',
  'FILE_NOT_FOUND',
  'WORKSPACE_LIMIT_EXCEEDED',
  'VERSION_CONFLICT',
  'TOO_MANY_PEOPLE',
] as const;
const granted = {
  created: { status: 201, body: grant },
  ok: { status: 200, body: grant, description: 'It was shared already; capability and expiry are as sent now.' },
} as const;

export const grants = {
  'grants.list': endpoint({
    ...common,
    method: 'GET',
    path: GRANTS,
    summary: 'What the workspace shares with people outside, newest first.',
    limit: 'none',
    params,
    query: z.object({
      ...pageQuery,
      subject_id: z.string().max(LIMITS.nameCharsMax).optional(),
      resource_id: z.string().max(LIMITS.nameCharsMax).optional(),
    }),
    replies: { ok: { status: 200, body: z.object({ grants: z.array(grant), ...pageReply }) } },
    errors: [],
  }),
  'grants.create': endpoint({
    ...common,
    method: 'POST',
    path: GRANTS,
    summary:
      'Shares a folder, an artifact or a file of the assets with a client organisation or a person outside. If-Match takes the revision of a simulation.',
    limit: 'shares',
    params,
    body: { kind: 'json', schema: newGrant, bytesMax: LIMITS.bodyBytesMax },
    replies: granted,
    errors: [...errors, 'SHAREE_NOT_FOUND', 'EXTERNAL_NOT_FOUND'],
  }),
  'grants.delete': endpoint({
    ...common,
    method: 'DELETE',
    path: `${GRANTS}/{grantId}`,
    summary: 'Ends a grant at once. If-Match takes the revision of a simulation.',
    limit: 'none',
    params: params.extend({ grantId: idSchema('grant') }),
    replies: { ok: { status: 200, body: success } },
    errors: ['GRANT_NOT_FOUND', 'VERSION_CONFLICT', 'TOO_MANY_PEOPLE'],
  }),
  'grants.sharePerson': endpoint({
    ...common,
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/share-person',
    summary: 'Shares with an address outside, which is invited by mail where it is new to the workspace. Sharing again is idempotent.',
    limit: 'invites',
    params,
    body: { kind: 'json', schema: sharePerson, bytesMax: LIMITS.bodyBytesMax },
    replies: granted,
    errors: [...errors, 'ALREADY_MEMBER'],
  }),
  'receipts.list': endpoint({
    ...common,
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/sharee-activity',
    summary: 'Which people outside opened what, latest first. Openings by one person within ten minutes are one.',
    limit: 'none',
    params,
    query: z.object({
      ...pageQuery,
      sharee_id: idSchema('sharee').optional(),
      member_id: idSchema('external').optional(),
      artifact_id: idSchema('artifact').optional(),
    }),
    replies: { ok: { status: 200, body: z.object({ activity: z.array(receipt), ...pageReply }) } },
    errors: [],
  }),
  'shared.list': endpoint({
    method: 'GET',
    path: '/v1/shared',
    group: 'sharing',
    summary: 'What workspaces share with you from outside, newest first.',
    access: { who: 'account', scope: 'artifacts:read' },
    limit: 'none',
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ shared: z.array(sharedItem), ...pageReply }) } },
    errors: [],
  }),
} as const;
