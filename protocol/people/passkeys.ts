/** Passkeys (WebAuthn), for accounts that sign in with an e-mail address. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { boundedText } from '../core/text.ts';
import { profile } from './accounts.ts';

export const passkey = z.object({
  id: idSchema('passkey'),
  name: z.string(),
  created_at: dateTime,
  last_used_at: dateTime.nullable(),
});

/** What `PublicKeyCredential.toJSON()` gives in the browser; its parts are those of the WebAuthn standard. */
const credential = z.looseObject({
  id: boundedText(1024, 1),
  rawId: boundedText(1024, 1),
  type: z.literal('public-key'),
  response: z.looseObject({ clientDataJSON: boundedText(LIMITS.passkeyResponseCharsMax, 1) }),
});
const options = z.object({
  options: z
    .record(z.string(), z.unknown())
    .meta({ description: 'for navigator.credentials, as PublicKeyCredential.parse…FromJSON() reads it' }),
});

const account = { who: 'account', person: true } as const;
const browser = { who: 'anyone', browser: true } as const;

function body<S extends z.ZodType>(schema: S, optional: boolean) {
  return { kind: 'json', schema, bytesMax: LIMITS.bodyBytesMax, optional } as const;
}

export const passkeys = {
  'passkeys.list': endpoint({
    method: 'GET',
    path: '/v1/auth/passkeys',
    group: 'signIn',
    summary: 'The passkeys of the person, the oldest first.',
    access: account,
    limit: 'none',
    replies: { ok: { status: 200, body: z.object({ passkeys: z.array(passkey) }) } },
    errors: [],
  }),
  'passkeys.registerStart': endpoint({
    method: 'POST',
    path: '/v1/auth/passkeys/register/start',
    group: 'signIn',
    summary: 'What a browser needs to make a passkey. From a signed-in session only.',
    access: account,
    limit: 'none',
    body: body(z.strictObject({}), true),
    replies: { ok: { status: 200, body: options } },
    errors: [],
  }),
  'passkeys.registerFinish': endpoint({
    method: 'POST',
    path: '/v1/auth/passkeys/register/finish',
    group: 'signIn',
    summary: 'Keeps the passkey that the browser has made.',
    access: account,
    limit: 'none',
    body: body(z.strictObject({ credential, name: absentOrNull(nameSchema) }), false),
    replies: { created: { status: 201, body: z.object({ passkey }) } },
    errors: [],
  }),
  'passkeys.remove': endpoint({
    method: 'DELETE',
    path: '/v1/auth/passkeys/{id}',
    group: 'signIn',
    summary: 'Removes a passkey: it signs in nobody from then on.',
    access: account,
    limit: 'none',
    params: z.object({ id: idSchema('passkey') }),
    replies: { ok: { status: 200, body: success } },
    errors: ['PASSKEY_NOT_FOUND'],
  }),
  'passkeys.signInStart': endpoint({
    method: 'POST',
    path: '/v1/auth/passkey/sign-in/start',
    group: 'signIn',
    summary: 'What a browser needs to sign in with a passkey.',
    access: browser,
    limit: 'signInStarts',
    body: body(z.strictObject({}), true),
    replies: { ok: { status: 200, body: options } },
    errors: [],
  }),
  'passkeys.signInFinish': endpoint({
    method: 'POST',
    path: '/v1/auth/passkey/sign-in/finish',
    group: 'signIn',
    summary: 'Signs in with the answer of a passkey.',
    access: browser,
    limit: 'none',
    body: body(z.strictObject({ credential }), false),
    replies: { ok: { status: 200, body: z.object({ user: profile }) } },
    errors: ['ACCOUNT_SUSPENDED', 'INVALID_CREDENTIALS'],
  }),
} as const;
