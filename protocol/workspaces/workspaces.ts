import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema, pageQuery, pageReply, slugSchema, storedText, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull, changesTo } from '../core/round-trip.ts';
import { tier } from '../people/accounts.ts';
import { admin, owner, params, reads, workspaceRef } from './access.ts';

export const workspaceRole = z.enum(['owner', 'admin', 'member']);
export const workspaceLocale = z.enum(['en', 'es']);
export const planStatus = z.enum(['trialing', 'active', 'past_due', 'canceled', 'incomplete']);

const accentColor = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be # and six hexadecimal digits');
const logo = z.url({ protocol: /^https?$/ }).max(LIMITS.logoUrlCharsMax);

export const workspaceBranding = z.object({
  accent_color: accentColor.nullable(),
  hide_footer: z.boolean(),
  logo: logo.nullable().meta({ description: 'address of an image' }),
});

export const workspace = z.object({
  id: idSchema('workspace'),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  locale: workspaceLocale,
  owner_id: idSchema('user').nullable().meta({ description: 'the owner of the longest standing' }),
  role: workspaceRole.nullable().meta({ description: "the caller's" }),
  member_count: z.number().int(),
  branding: workspaceBranding,
  plan: z.object({ tier, status: planStatus }),
  created_at: dateTime,
  updated_at: dateTime,
});

const description = storedText(LIMITS.descriptionCharsMax);

export const newWorkspace = z.strictObject({
  name: nameSchema.pipe(z.string().max(LIMITS.workspaceNameCharsMax)),
  slug: absentOrNull(z.string().max(63)).meta({ description: 'default: made from the name' }),
  description: absentOrNull(description),
  locale: absentOrNull(workspaceLocale),
});

export const workspaceUpdate = changesTo(workspace, {
  name: nameSchema.pipe(z.string().max(LIMITS.workspaceNameCharsMax)).optional(),
  slug: slugSchema.optional(),
  description: description.nullable().optional(),
  locale: workspaceLocale.optional(),
  branding: z.strictObject({ accent_color: accentColor.nullable(), hide_footer: z.boolean(), logo: logo.nullable() }).partial().optional(),
}).refine((body) => Object.keys(body).length > 0, 'must change at least one field');

const person = { who: 'account', person: true } as const;

export const workspaces = {
  'workspaces.list': endpoint({
    method: 'GET',
    path: '/v1/workspaces',
    group: 'workspaces',
    summary: 'The workspaces of the caller, newest membership first.',
    access: person,
    limit: 'none',
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ workspaces: z.array(workspace), ...pageReply }) } },
    errors: [],
  }),
  'workspaces.create': endpoint({
    method: 'POST',
    path: '/v1/workspaces',
    group: 'workspaces',
    summary: 'Makes a workspace, whose owner the caller is.',
    access: person,
    limit: 'workspaces',
    body: { kind: 'json', schema: newWorkspace, bytesMax: LIMITS.bodyBytesMax },
    replies: { created: { status: 201, body: workspace } },
    errors: ['INVALID_SLUG', 'WORKSPACE_SLUG_TAKEN', 'WORKSPACE_LIMIT_EXCEEDED'],
  }),
  'workspaces.get': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}',
    group: 'workspaces',
    summary: 'One workspace, by id or slug.',
    access: reads,
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: workspace } },
    errors: [],
  }),
  'workspaces.update': endpoint({
    method: 'PATCH',
    path: '/v1/workspaces/{workspaceId}',
    group: 'workspaces',
    summary: 'Changes name, slug, description, language or branding.',
    access: admin,
    limit: 'none',
    params,
    conditional: true,
    resource: 'workspaces.get',
    body: { kind: 'json', schema: workspaceUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: workspace } },
    errors: ['INVALID_SLUG', 'WORKSPACE_SLUG_TAKEN', 'PLAN_REQUIRED', 'VERSION_CONFLICT'],
  }),
  'workspaces.delete': endpoint({
    method: 'DELETE',
    path: '/v1/workspaces/{workspaceId}',
    group: 'workspaces',
    summary: 'Deletes a workspace. Its artifacts go to the trash of their owners, those that it owns to the trash of the caller.',
    access: owner,
    limit: 'none',
    params,
    query: z.object({ confirm: z.string().max(63).optional().meta({ description: 'the slug of the workspace' }) }),
    conditional: true,
    resource: 'workspaces.get',
    replies: {
      ok: {
        status: 200,
        body: success.extend({
          deleted: idSchema('workspace'),
          artifacts_trashed: z.number().int(),
          recoverable_until: dateTime.meta({ description: 'until then the artifacts can be restored' }),
        }),
      },
    },
    errors: ['INVALID_REQUEST', 'VERSION_CONFLICT'],
  }),
  'workspaces.join': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/join',
    group: 'workspaces',
    summary: 'Joins a workspace whose access policy admits the proved address of the caller.',
    access: person,
    limit: 'inviteClaims',
    params: z.object({ workspaceId: workspaceRef }),
    replies: { ok: { status: 200, body: workspace } },
    errors: ['WORKSPACE_NOT_FOUND', 'ALREADY_MEMBER', 'WORKSPACE_LIMIT_EXCEEDED'],
  }),
  'workspaces.transfer': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/transfer-ownership',
    group: 'workspaces',
    summary: 'Makes another member the owner in place of the caller.',
    access: owner,
    limit: 'none',
    params,
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z
        .strictObject({
          user_id: idSchema('user').optional(),
          email: z.email().max(LIMITS.emailCharsMax).toLowerCase().optional(),
          confirm: z.literal(true),
          keep_as: z.enum(['admin', 'member']).default('admin').meta({ description: 'the role that the caller keeps' }),
        })
        .refine((body) => (body.user_id === undefined) !== (body.email === undefined), 'must name the new owner by user_id or by email'),
    },
    replies: { ok: { status: 200, body: success.extend({ new_owner: idSchema('user') }) } },
    errors: ['USER_NOT_FOUND'],
  }),
} as const;
