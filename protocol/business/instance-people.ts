/** People as an administrator sees them. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { changesTo } from '../core/round-trip.ts';
import { tier } from '../people/accounts.ts';
import { instanceAdmin, ofUser, q } from './access.ts';
import { suspension, wantedSuspension } from './suspension.ts';

const count = z.number().int();

/** One account. What applies to a person applies to all linked accounts, which `linked` names. */
export const instancePerson = z.object({
  id: idSchema('user'),
  username: z.string().nullable(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  linked: z.array(idSchema('user')).meta({ description: 'other accounts of the same person' }),
  tier: tier.meta({ description: 'of this account' }),
  is_admin: z.boolean().meta({ description: 'any account of the person administers the installation' }),
  is_staff: z.boolean().meta({ description: 'any account of the person answers tickets for the installation' }),
  suspended: suspension.nullable().meta({ description: 'no account of the person can be used; pages of theirs stay where they are' }),
  created_at: dateTime,
  last_seen_at: dateTime.nullable().meta({ description: 'the last use of a session or a token, exact to a minute' }),
  workspaces: count,
  artifacts: count.meta({ description: 'owned by this account, the trash included' }),
  public_pages: count.meta({ description: 'of these, those that everybody sees: a suspension of the account leaves them' }),
  bytes: count,
  bytes_max: count,
});

export const instancePersonUpdate = changesTo(instancePerson, {
  tier: tier.optional(),
  is_admin: z.boolean().optional(),
  is_staff: z.boolean().optional(),
  suspended: wantedSuspension.optional(),
});

export const instancePeople = {
  'instancePeople.list': endpoint({
    method: 'GET',
    path: '/v1/admin/people',
    group: 'instance',
    summary: 'The accounts of the installation, newest first.',
    access: instanceAdmin,
    limit: 'adminCalls',
    query: z.object({
      ...pageQuery,
      q: q.meta({ description: 'a part of the address, the name or the username, or a whole id' }),
      role: z.enum(['admin', 'staff']).optional(),
      tier: tier.optional(),
      suspended: z.stringbool().optional(),
    }),
    replies: { ok: { status: 200, body: z.object({ people: z.array(instancePerson), ...pageReply }) } },
    errors: [],
  }),
  'instancePeople.get': endpoint({
    method: 'GET',
    path: '/v1/admin/people/{userId}',
    group: 'instance',
    summary: 'One account.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofUser,
    conditional: true,
    replies: { ok: { status: 200, body: instancePerson } },
    errors: ['USER_NOT_FOUND'],
  }),
  'instancePeople.update': endpoint({
    method: 'PATCH',
    path: '/v1/admin/people/{userId}',
    group: 'instance',
    summary:
      'Makes somebody an administrator or staff, sets their tier, or suspends them. Open calls and sockets end or change within a second. A suspended person cannot sign in, their sessions and tokens are refused and their jobs wait; their pages stay unless they are suspended too.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofUser,
    conditional: true,
    resource: 'instancePeople.get',
    body: { kind: 'json', schema: instancePersonUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: instancePerson } },
    errors: ['USER_NOT_FOUND', 'LAST_ADMIN', 'SELF_SUSPENSION', 'DELETION_UNDER_WAY', 'VERSION_CONFLICT'],
  }),
  'instancePeople.signOut': endpoint({
    method: 'POST',
    path: '/v1/admin/people/{userId}/sign-out',
    group: 'instance',
    summary: 'Ends all sessions of a person, of all linked accounts. Their tokens stay, and they can sign in again.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofUser,
    replies: { ok: { status: 200, body: z.object({ ended: count.meta({ description: 'sessions' }) }) } },
    errors: ['USER_NOT_FOUND'],
  }),
} as const;
