/** The sign-ins of one person, linked to each other. Source: contract.md §1, §13. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { codeOfMail, codeWanted } from './sign-in.ts';

export const linkedAccount = z.object({
  id: idSchema('user'),
  provider: z.string().nullable().meta({ description: 'the identity provider, `email`, or null for an account that only has tokens' }),
  email: z.string().nullable(),
  linked_at: dateTime,
  primary: z.boolean().meta({ description: 'the account of this call, to which belongs what it makes' }),
});

const account = { who: 'account', person: true } as const;

export const linkedAccounts = {
  'linkedAccounts.list': endpoint({
    method: 'GET',
    path: '/v1/auth/linked-accounts',
    group: 'signIn',
    summary: 'All accounts of the person, the oldest first.',
    access: account,
    limit: 'none',
    replies: { ok: { status: 200, body: z.object({ accounts: z.array(linkedAccount) }) } },
    errors: [],
  }),
  'linkedAccounts.unlink': endpoint({
    method: 'DELETE',
    path: '/v1/auth/linked-accounts/{userId}',
    group: 'signIn',
    summary: 'Makes an account a person of its own again. It keeps what belongs to it; the last sign-in cannot leave.',
    access: account,
    limit: 'none',
    params: z.object({ userId: idSchema('user') }),
    replies: { ok: { status: 200, body: success } },
    errors: ['USER_NOT_FOUND', 'LAST_SIGN_IN'],
  }),
  'linkedAccounts.emailStart': endpoint({
    method: 'POST',
    path: '/v1/auth/link-email/start',
    group: 'signIn',
    summary: 'Sends a code to an address that is to be linked to the account.',
    access: account,
    limit: 'none',
    body: { kind: 'json', schema: codeWanted, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: z.object({ ok: z.literal(true) }) } },
    errors: ['TOO_MANY_ATTEMPTS'],
  }),
  'linkedAccounts.emailVerify': endpoint({
    method: 'POST',
    path: '/v1/auth/link-email/verify',
    group: 'signIn',
    summary: 'Links the address with the code of the mail, and with it the account that signs in with the address.',
    access: account,
    limit: 'none',
    body: { kind: 'json', schema: codeOfMail, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: success.extend({ email: z.string() }) } },
    errors: ['CODE_INVALID', 'TOO_MANY_ATTEMPTS'],
  }),
} as const;
