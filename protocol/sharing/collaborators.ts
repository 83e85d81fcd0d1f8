/** Collaborators of an artifact, its owner, and sharing by mail. Source: contract.md §3. */
import { z } from 'zod';
import { id, params, personManages, personOwns, personReads } from '../artifacts/access.ts';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, storedText, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';

/** Roles that can be given; the owner is named by a transfer. */
export const collaboratorRole = z.enum(['viewer', 'editor']);
export type CollaboratorRole = z.output<typeof collaboratorRole>;

const email = z.email().max(LIMITS.emailCharsMax).toLowerCase();

/** One person, by whichever linked accounts they have the access. */
export const collaborator = z.object({
  email: z.string().nullable().meta({ description: 'null for an account that has proved no address' }),
  user_id: idSchema('user').nullable().meta({ description: 'null while `pending`' }),
  name: z.string().nullable(),
  role: collaboratorRole,
  added_at: dateTime,
  pending: z.boolean().meta({ description: 'no account has proved this address yet; whoever proves it gets the role' }),
});

export const artifactOwner = z.object({ user_id: idSchema('user'), email: z.string().nullable(), name: z.string().nullable() });

/** What became of one address. */
export const shareOutcome = z.object({
  email: z.string(),
  status: z.enum(['added', 'pending', 'raised', 'unchanged', 'owner']).meta({
    description:
      '`pending`: it gets the role when an account proves it; `unchanged`: that person has this role or more; `owner`: it is theirs',
  }),
  role: z.enum(['viewer', 'editor', 'owner']).meta({ description: 'the role that they have now' }),
});

const outcomes = z.object({ results: z.array(shareOutcome) });

/** A collaborator in a path: an address, or the id of an account, which an account without an address has only. */
const WHO = /^(?:usr_[a-z0-9]{24}|[^\s@/]{1,64}@[^\s@/]{1,189})$/i;
const who = missingAs(
  z
    .string()
    .regex(WHO, 'must be an e-mail address or the id of an account')
    .toLowerCase()
    .meta({ description: 'an address, or the id of an account' }),
  'USER_NOT_FOUND',
);
const one = z.object({ id, email: who });

export const collaborators = {
  'collaborators.list': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/collaborators',
    group: 'sharing',
    summary: 'Whom the artifact is shared with by name, last added first, and whose it is. Owner and editors only.',
    access: personManages,
    limit: 'none',
    params,
    query: z.object(pageQuery),
    replies: {
      ok: {
        status: 200,
        body: z.object({
          owner: artifactOwner.nullable().meta({ description: 'null where the workspace owns it' }),
          collaborators: z.array(collaborator),
          ...pageReply,
        }),
      },
    },
    errors: [],
  }),
  'collaborators.add': endpoint({
    method: 'POST',
    path: '/v1/artifacts/{id}/collaborators',
    group: 'sharing',
    summary:
      'Gives addresses a role, or a higher one than they have. An address without an account has it from the moment in which an account proves it.',
    access: personOwns,
    limit: 'collaborators',
    limitPer: 'emails',
    params,
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z.strictObject({
        emails: z.array(email).min(1).max(LIMITS.collaboratorsAtOnceMax),
        role: collaboratorRole.default('viewer'),
      }),
    },
    replies: { ok: { status: 200, body: outcomes } },
    errors: ['ADDRESS_NOT_ALLOWED', 'COLLABORATOR_LIMIT_EXCEEDED'],
  }),
  'collaborators.update': endpoint({
    method: 'PATCH',
    path: '/v1/artifacts/{id}/collaborators/{email}',
    group: 'sharing',
    summary: 'Changes the role of a collaborator, with all linked accounts.',
    access: personOwns,
    limit: 'none',
    params: one,
    body: { kind: 'json', bytesMax: LIMITS.bodyBytesMax, schema: z.strictObject({ role: collaboratorRole }) },
    replies: { ok: { status: 200, body: collaborator } },
    errors: ['USER_NOT_FOUND'],
  }),
  'collaborators.remove': endpoint({
    method: 'DELETE',
    path: '/v1/artifacts/{id}/collaborators/{email}',
    group: 'sharing',
    summary: 'Ends the collaboration of a person, by whichever address or linked account it was given. Everybody may remove themselves.',
    access: personReads,
    limit: 'none',
    params: one,
    replies: {
      ok: {
        status: 200,
        body: success.extend({
          remaining_role: z.enum(['owner', 'editor', 'viewer']).nullable().meta({
            description: 'what they may do all the same, because of their workspace or because everybody sees the page; null for nothing',
          }),
        }),
      },
    },
    errors: ['FORBIDDEN', 'USER_NOT_FOUND', 'CANNOT_REMOVE_OWNER'],
  }),
  'collaborators.share': endpoint({
    method: 'POST',
    path: '/v1/artifacts/{id}/share',
    group: 'sharing',
    summary: 'The same as adding collaborators, and mails each of them.',
    access: personOwns,
    limit: 'shareMails',
    limitPer: 'recipients',
    params,
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z.strictObject({
        recipients: z.array(email).min(1).max(LIMITS.shareRecipientsMax),
        role: collaboratorRole.default('viewer'),
        message: storedText(LIMITS.shareMessageCharsMax).trim().nullish().meta({ description: 'plain text, quoted in the mail' }),
      }),
    },
    replies: {
      ok: { status: 200, body: outcomes.extend({ sent: z.number().int().meta({ description: 'mails that were queued' }) }) },
    },
    errors: ['ADDRESS_NOT_ALLOWED', 'COLLABORATOR_LIMIT_EXCEEDED'],
  }),
  'collaborators.transfer': endpoint({
    method: 'POST',
    path: '/v1/artifacts/{id}/transfer-ownership',
    group: 'sharing',
    summary:
      'Gives the artifact to another person, whose account it counts for from then on. What a workspace owns goes to one of its members.',
    access: personOwns,
    limit: 'transfers',
    params,
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z.strictObject({
        email,
        confirm: z.literal(true),
        keep_as: z.enum(['editor', 'viewer', 'none']).default('editor').meta({ description: 'the role that the caller keeps' }),
      }),
    },
    replies: { ok: { status: 200, body: success.extend({ new_owner: idSchema('user') }) } },
    errors: ['USER_NOT_FOUND', 'ADDRESS_NOT_ALLOWED', 'PLAN_REQUIRED', 'ACCOUNT_STORAGE_FULL', 'COLLABORATOR_LIMIT_EXCEEDED'],
  }),
} as const;
