/** Organisations outside ("client orgs") with which a workspace shares, and their people. Source: spec.md "Client org (sharee)", contract.md §10. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema, pageQuery, pageReply, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull, changesTo } from '../core/round-trip.ts';
import { admin, params } from '../workspaces/access.ts';

export const shareeParams = params.extend({ shareeId: idSchema('sharee') });
export const externalParams = shareeParams.extend({ memberId: idSchema('external') });
export const email = z.email().max(LIMITS.emailCharsMax).toLowerCase();

const type = nameSchema;
const color = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be # and 6 hex digits');
const logo = z.url({ protocol: /^https$/ }).max(LIMITS.logoUrlCharsMax);
const properties = z
  .record(z.string().min(1).max(LIMITS.nameCharsMax), z.unknown())
  .refine((value) => JSON.stringify(value).length <= LIMITS.shareePropertiesBytesMax, 'must be 16 KB at most as JSON');

export const sharee = z.object({
  id: idSchema('sharee'),
  name: z.string(),
  type: z.string().nullable().meta({ description: 'a free label, such as client, supplier, partner, investor' }),
  member_count: z.number().int(),
  branding: z.object({ logo: z.string().nullable(), color: z.string().nullable() }),
  properties: z.record(z.string(), z.unknown()),
  created_at: dateTime,
  updated_at: dateTime,
});

const shareeUpdate = changesTo(sharee, {
  name: nameSchema.optional(),
  type: type.nullable().optional(),
  properties: properties.optional(),
  branding: z.strictObject({ logo: logo.nullable().optional(), color: color.nullable().optional() }).optional(),
});

/** Somebody outside. They may have no account yet: what is shared with them counts when an account proves the address. */
export const externalMember = z.object({
  id: idSchema('external'),
  email: z.string(),
  name: z.string().nullable().meta({ description: 'of the account that has proved the address' }),
  has_account: z.boolean(),
  added_at: dateTime,
});

export const externalToken = z.object({
  id: idSchema('token'),
  name: z.string().nullable(),
  created_at: dateTime,
  last_used_at: dateTime.nullable(),
  expires_at: dateTime.nullable(),
});

const SHAREES = '/v1/workspaces/{workspaceId}/sharees';
const common = { group: 'sharing', access: admin } as const;
const NOT_ENTITLED = 'EXTERNAL_SHARING_NOT_ENTITLED';

export const sharees = {
  'sharees.list': endpoint({
    ...common,
    method: 'GET',
    path: SHAREES,
    summary: 'The client organisations of a workspace, newest first.',
    limit: 'none',
    params,
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ sharees: z.array(sharee), ...pageReply }) } },
    errors: [],
  }),
  'sharees.create': endpoint({
    ...common,
    method: 'POST',
    path: SHAREES,
    summary: 'Creates a client organisation.',
    limit: 'shares',
    params,
    body: { kind: 'json', schema: z.strictObject({ name: nameSchema, type: absentOrNull(type) }), bytesMax: LIMITS.bodyBytesMax },
    replies: { created: { status: 201, body: sharee } },
    errors: [NOT_ENTITLED, 'WORKSPACE_LIMIT_EXCEEDED'],
  }),
  'sharees.get': endpoint({
    ...common,
    method: 'GET',
    path: `${SHAREES}/{shareeId}`,
    summary: 'One client organisation.',
    limit: 'none',
    params: shareeParams,
    conditional: true,
    replies: { ok: { status: 200, body: sharee } },
    errors: ['SHAREE_NOT_FOUND'],
  }),
  'sharees.update': endpoint({
    ...common,
    method: 'PATCH',
    path: `${SHAREES}/{shareeId}`,
    summary: 'Changes name, type, properties or branding of a client organisation.',
    limit: 'shares',
    params: shareeParams,
    conditional: true,
    resource: 'sharees.get',
    body: { kind: 'json', schema: shareeUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: sharee } },
    errors: ['SHAREE_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'sharees.delete': endpoint({
    ...common,
    method: 'DELETE',
    path: `${SHAREES}/{shareeId}`,
    summary: 'Deletes a client organisation with its grants, its tokens and its notes. Its people see nothing through it from then on.',
    limit: 'none',
    params: shareeParams,
    conditional: true,
    resource: 'sharees.get',
    replies: { ok: { status: 200, body: success } },
    errors: ['SHAREE_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'sharees.members': endpoint({
    ...common,
    method: 'GET',
    path: `${SHAREES}/{shareeId}/members`,
    summary: 'The people of a client organisation, newest first.',
    limit: 'none',
    params: shareeParams,
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ members: z.array(externalMember), ...pageReply }) } },
    errors: ['SHAREE_NOT_FOUND'],
  }),
  'sharees.addMember': endpoint({
    ...common,
    method: 'POST',
    path: `${SHAREES}/{shareeId}/members`,
    summary: 'Adds somebody to a client organisation by address; 200 where they are in it already.',
    limit: 'shares',
    params: shareeParams,
    body: { kind: 'json', schema: z.strictObject({ email }), bytesMax: LIMITS.bodyBytesMax },
    replies: { created: { status: 201, body: externalMember }, ok: { status: 200, body: externalMember } },
    errors: ['SHAREE_NOT_FOUND', NOT_ENTITLED, 'ALREADY_MEMBER', 'WORKSPACE_LIMIT_EXCEEDED'],
  }),
  'sharees.removeMember': endpoint({
    ...common,
    method: 'DELETE',
    path: `${SHAREES}/{shareeId}/members/{memberId}`,
    summary: 'Removes somebody from a client organisation and revokes their tokens of it, at once.',
    limit: 'none',
    params: externalParams,
    replies: { ok: { status: 200, body: success } },
    errors: ['SHAREE_NOT_FOUND', 'EXTERNAL_NOT_FOUND'],
  }),
  'externalTokens.list': endpoint({
    ...common,
    method: 'GET',
    path: `${SHAREES}/{shareeId}/members/{memberId}/tokens`,
    summary: 'The tokens of somebody outside, newest first, without their secrets.',
    limit: 'none',
    params: externalParams,
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ tokens: z.array(externalToken), ...pageReply }) } },
    errors: ['SHAREE_NOT_FOUND', 'EXTERNAL_NOT_FOUND'],
  }),
  'externalTokens.create': endpoint({
    ...common,
    method: 'POST',
    path: `${SHAREES}/{shareeId}/members/{memberId}/tokens`,
    summary: 'Makes a token with which somebody outside reaches what this workspace shares with them, and nothing else. Shown this once.',
    limit: 'agentTokens',
    params: externalParams,
    body: {
      kind: 'json',
      schema: z.strictObject({ name: absentOrNull(nameSchema), expires_at: absentOrNull(z.iso.datetime({ offset: true })) }),
      optional: true,
      bytesMax: LIMITS.bodyBytesMax,
    },
    replies: { created: { status: 201, body: externalToken.extend({ token: z.string(), shown_once: z.literal(true) }) } },
    errors: ['SHAREE_NOT_FOUND', 'EXTERNAL_NOT_FOUND', NOT_ENTITLED, 'AGENT_TOKEN_LIMIT_EXCEEDED'],
  }),
  'externalTokens.revoke': endpoint({
    ...common,
    method: 'DELETE',
    path: `${SHAREES}/{shareeId}/members/{memberId}/tokens/{tokenId}`,
    summary: 'Revokes the token of somebody outside at once.',
    limit: 'none',
    params: externalParams.extend({ tokenId: idSchema('token') }),
    replies: { ok: { status: 200, body: success } },
    errors: ['SHAREE_NOT_FOUND', 'EXTERNAL_NOT_FOUND', 'TOKEN_NOT_FOUND'],
  }),
} as const;
