/** How people sign in: a password, a code by mail. Source: contract.md §1, §13. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { nameSchema, success } from '../core/fields.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { boundedText } from '../core/text.ts';
import { profile } from './accounts.ts';

export const emailAddress = z.email().max(LIMITS.emailCharsMax).toLowerCase();
const mailedCode = z.string().regex(/^\d{6}$/, 'must be the 6 digits of the mail');
export const codeWanted = z.strictObject({ email: emailAddress });
export const codeOfMail = z.strictObject({ email: emailAddress, code: mailedCode });
/** Of any length, because it is compared with the one that was chosen under the rules. */
const password = boundedText(LIMITS.passwordCharsMax, 1);

export const signInProvider = z.object({ id: z.string(), name: z.string() });
const signedIn = z.object({ user: profile });
const sent = z.object({ ok: z.literal(true) });

const browser = { who: 'anyone', browser: true } as const;

function body<S extends z.ZodType>(schema: S) {
  return { kind: 'json', schema, bytesMax: LIMITS.bodyBytesMax } as const;
}

export const signIn = {
  'signIn.providers': endpoint({
    method: 'GET',
    path: '/v1/auth/providers',
    group: 'signIn',
    summary: 'The ways to sign in that this installation offers.',
    access: { who: 'anyone' },
    limit: 'none',
    replies: {
      ok: { status: 200, body: z.object({ providers: z.array(signInProvider), password: z.boolean(), email_code: z.boolean() }) },
    },
    errors: [],
  }),
  'signIn.signUp': endpoint({
    method: 'POST',
    path: '/v1/auth/password/sign-up',
    group: 'signIn',
    summary: 'Sends a code to an address that wants to sign up with a password. The answer is the same for an address that is known.',
    access: browser,
    limit: 'none',
    body: body(z.strictObject({ email: emailAddress, password, name: absentOrNull(nameSchema) })),
    replies: { accepted: { status: 202, body: sent } },
    errors: ['FORBIDDEN', 'TOO_MANY_ATTEMPTS', 'UNAVAILABLE'],
  }),
  'signIn.signUpVerify': endpoint({
    method: 'POST',
    path: '/v1/auth/password/sign-up/verify',
    group: 'signIn',
    summary: 'Makes the account with the code of the mail and signs in.',
    access: browser,
    limit: 'none',
    body: body(codeOfMail),
    replies: { ok: { status: 200, body: signedIn } },
    errors: ['ACCOUNT_SUSPENDED', 'SWITCHED_OFF', 'FORBIDDEN', 'CODE_INVALID', 'TOO_MANY_ATTEMPTS'],
  }),
  'signIn.password': endpoint({
    method: 'POST',
    path: '/v1/auth/password/sign-in',
    group: 'signIn',
    summary: 'Signs in with a password.',
    access: browser,
    limit: 'none',
    body: body(z.strictObject({ email: emailAddress, password })),
    replies: { ok: { status: 200, body: signedIn } },
    errors: ['ACCOUNT_SUSPENDED', 'FORBIDDEN', 'INVALID_CREDENTIALS', 'TOO_MANY_ATTEMPTS', 'UNAVAILABLE'],
  }),
  'signIn.resetStart': endpoint({
    method: 'POST',
    path: '/v1/auth/password/reset/start',
    group: 'signIn',
    summary: 'Sends a code with which a new password can be set.',
    access: browser,
    limit: 'none',
    body: body(codeWanted),
    replies: { accepted: { status: 202, body: sent } },
    errors: ['FORBIDDEN', 'TOO_MANY_ATTEMPTS'],
  }),
  'signIn.resetFinish': endpoint({
    method: 'POST',
    path: '/v1/auth/password/reset/finish',
    group: 'signIn',
    summary: 'Sets a new password with the code of the mail, ends all sessions of the account and signs in.',
    access: browser,
    limit: 'none',
    body: body(z.strictObject({ email: emailAddress, code: mailedCode, password })),
    replies: { ok: { status: 200, body: signedIn } },
    errors: ['ACCOUNT_SUSPENDED', 'SWITCHED_OFF', 'FORBIDDEN', 'CODE_INVALID', 'TOO_MANY_ATTEMPTS', 'UNAVAILABLE'],
  }),
  'signIn.changePassword': endpoint({
    method: 'PUT',
    path: '/v1/auth/password',
    group: 'signIn',
    summary: 'Sets the password, or changes it with the current one, and ends all other sessions of the account.',
    access: { who: 'account', person: true },
    limit: 'none',
    body: body(z.strictObject({ current: absentOrNull(password), password })),
    replies: { ok: { status: 200, body: success } },
    errors: ['ACCOUNT_SUSPENDED', 'FORBIDDEN', 'INVALID_CREDENTIALS', 'TOO_MANY_ATTEMPTS', 'UNAVAILABLE'],
  }),
  'signIn.emailStart': endpoint({
    method: 'POST',
    path: '/v1/auth/email/start',
    group: 'signIn',
    summary: 'Sends a code to sign in with. The answer is the same for an address that is not known.',
    access: browser,
    limit: 'none',
    body: body(codeWanted),
    replies: { accepted: { status: 202, body: sent } },
    errors: ['FORBIDDEN', 'TOO_MANY_ATTEMPTS'],
  }),
  'signIn.emailVerify': endpoint({
    method: 'POST',
    path: '/v1/auth/email/verify',
    group: 'signIn',
    summary: 'Signs in with the code of the mail; makes the account where there is none.',
    access: browser,
    limit: 'none',
    body: body(codeOfMail),
    replies: { ok: { status: 200, body: signedIn } },
    errors: ['ACCOUNT_SUSPENDED', 'FORBIDDEN', 'CODE_INVALID', 'TOO_MANY_ATTEMPTS'],
  }),
  'signIn.signOut': endpoint({
    method: 'POST',
    path: '/v1/auth/sign-out',
    group: 'signIn',
    summary: 'Ends the session of this browser.',
    access: browser,
    limit: 'none',
    body: { kind: 'json', schema: z.strictObject({}), bytesMax: LIMITS.bodyBytesMax, optional: true },
    replies: { ok: { status: 200, body: success } },
    errors: [],
  }),
} as const;
