/** Who may what with an artifact and why, and what a planned change would open or close. Source: contract.md §3, §14. */
import { z } from 'zod';
import { params, personManages } from '../artifacts/access.ts';
import { visibility } from '../artifacts/artifacts.ts';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { capability } from './capability.ts';
import { grant, subjectType } from './grants.ts';
import { email } from './sharees.ts';

export const ABILITIES = ['view', 'comment', 'edit'] as const;
const ability = z.enum(ABILITIES);
const can = z.object({ view: z.boolean(), comment: z.boolean(), edit: z.boolean() });

const source = z.discriminatedUnion('type', [
  z.object({ type: z.literal('owner') }),
  z.object({ type: z.literal('collaborator'), role: z.enum(['editor', 'viewer']) }),
  z.object({ type: z.literal('workspace'), id: idSchema('workspace'), role: z.enum(['owner', 'admin', 'member']) }),
  z.object({
    type: z.literal('grant'),
    id: idSchema('grant'),
    resource_type: z.enum(['folder', 'artifact']),
    resource_id: z.string(),
    sharee_id: idSchema('sharee').nullable(),
    capability,
    expires_at: dateTime.nullable(),
  }),
  z.object({ type: z.literal('visibility'), visibility }),
]);

export const accessReason = z.object({
  rule: z.enum(['direct', 'linked', 'role', 'folder', 'grant', 'public']).meta({
    description:
      'direct: by this account. linked: by another account of the same person. role: in the workspace. folder, grant: shared from outside, by a folder or by itself. public: open to everybody.',
  }),
  source,
  gives: z.array(ability),
});

export const accessExplained = z.object({
  email: z.string(),
  has_account: z.boolean().meta({ description: 'false: what is explained counts when an account proves the address' }),
  can,
  because: z.array(accessReason),
});

const plannedGrant = z.strictObject({
  subject_type: subjectType.optional(),
  subject_id: z.string().min(1).max(LIMITS.nameCharsMax).optional(),
  email: email.optional().meta({ description: 'instead of a subject: an address outside, as share-person takes it' }),
  capability: capability.nullable().meta({ description: 'null: the grant is taken back' }),
  expires_at: absentOrNull(z.iso.datetime({ offset: true })),
});

export const plannedChange = z
  .strictObject({
    visibility: visibility.optional(),
    grant: plannedGrant.optional(),
    folder_id: idSchema('folder').nullable().optional(),
    collaborator: z
      .strictObject({ email, role: z.enum(['editor', 'viewer']).nullable().meta({ description: 'null: they are removed' }) })
      .optional(),
  })
  .refine((change) => Object.values(change).filter((value) => value !== undefined).length === 1, 'must name one change')
  .refine(
    ({ grant }) =>
      grant === undefined || (grant.email === undefined) !== (grant.subject_type === undefined || grant.subject_id === undefined),
    'grant: must name a subject or an email',
  );
export type PlannedChange = z.output<typeof plannedChange>;

export const concernedByChange = z.object({
  who: z.discriminatedUnion('type', [
    z.object({ type: z.literal('person'), email: z.string().nullable(), name: z.string().nullable() }),
    z.object({ type: z.literal('everybody') }),
    z.object({ type: z.literal('agents') }).meta({ description: 'the agents of the workspace, within their scopes' }),
  ]),
  can: z.array(ability).meta({ description: 'what they would gain, or lose' }),
});

export const accessSimulated = z.object({
  opens: z.array(concernedByChange),
  closes: z.array(concernedByChange),
  opens_total: z.number().int(),
  closes_total: z.number().int(),
  examined: z.number().int().meta({ description: 'the people who were looked at' }),
  revision: z
    .string()
    .meta({ description: 'send it as If-Match with the change, which is refused where anything that matters has changed since' }),
});

/** A grant on the artifact itself, or on a folder that it is in. */
export const reachingGrant = grant.extend({
  resource_id: z.string().nullable().meta({ description: 'null for a folder that the caller does not see' }),
  resource_name: z.string().nullable().meta({ description: 'null for a folder that the caller does not see' }),
});

const oversees = { who: 'artifact', param: 'id', need: 'oversee', person: true } as const;

export const explaining = {
  'access.list': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/access',
    group: 'sharing',
    summary:
      'Who has access without being a collaborator: the members of the workspace, and those outside, by the artifact itself or by a folder that it is in. Newest grant first. Owner and editors only.',
    access: personManages,
    limit: 'none',
    params,
    query: z.object(pageQuery),
    replies: {
      ok: {
        status: 200,
        body: z.object({
          members: z
            .boolean()
            .meta({ description: 'whether every member of its workspace sees it; owners and admins of a workspace always do' }),
          counts_outside: z
            .boolean()
            .meta({ description: 'whether the workspace may share outside now; where not, the grants open nothing' }),
          grants: z.array(reachingGrant),
          ...pageReply,
        }),
      },
    },
    errors: [],
  }),
  'access.explain': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/access/explain',
    group: 'sharing',
    summary: 'What the person with an address may do with an artifact, and each rule that gives it.',
    access: oversees,
    limit: 'explains',
    params,
    conditional: true,
    query: z.object({ email }),
    replies: { ok: { status: 200, body: accessExplained } },
    errors: [],
  }),
  'access.simulate': endpoint({
    method: 'POST',
    path: '/v1/artifacts/{id}/access/simulate',
    group: 'sharing',
    summary: 'What a planned change of an artifact would open or close, and for whom. Changes nothing.',
    access: oversees,
    limit: 'explains',
    params,
    reads: true,
    body: { kind: 'json', schema: plannedChange, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: accessSimulated } },
    errors: ['FOLDER_NOT_FOUND', 'SHAREE_NOT_FOUND', 'EXTERNAL_NOT_FOUND', 'TOO_MANY_PEOPLE'],
  }),
} as const;
