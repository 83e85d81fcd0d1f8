import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema, pageQuery, pageReply, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';

/** A token as a list shows it; the secret itself is shown once, when it is made. */
export const tokenRecord = z.object({
  id: idSchema('token'),
  user_id: idSchema('user').meta({ description: 'the account that it signs in to; linked accounts are listed together' }),
  name: z.string().nullable(),
  created_at: dateTime,
  last_used_at: dateTime.nullable(),
  expires_at: dateTime.nullable(),
  current: z.boolean().meta({ description: 'the token of this very call' }),
});

const account = { who: 'account', person: true } as const;

export const tokens = {
  'tokens.list': endpoint({
    method: 'GET',
    path: '/v1/me/tokens',
    group: 'tokens',
    summary: 'The tokens of the account and those linked with it, newest first, without their secrets.',
    access: account,
    limit: 'none',
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ tokens: z.array(tokenRecord), ...pageReply }) } },
    errors: [],
  }),
  'tokens.create': endpoint({
    method: 'POST',
    path: '/v1/me/tokens',
    group: 'tokens',
    summary: 'Makes a token; its secret is shown this once. A token that expires makes only tokens that end with it at the latest.',
    access: account,
    limit: 'none',
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      optional: true,
      schema: z.strictObject({ name: absentOrNull(nameSchema), expires_at: absentOrNull(z.iso.datetime({ offset: true })) }),
    },
    replies: {
      created: {
        status: 201,
        body: z.object({
          ok: z.literal(true),
          id: idSchema('token'),
          token: z.string(),
          shown_once: z.literal(true),
          expires_at: dateTime.nullable(),
        }),
      },
    },
    errors: [],
  }),
  'tokens.revoke': endpoint({
    method: 'DELETE',
    path: '/v1/me/tokens/{id}',
    group: 'tokens',
    summary: 'Revokes a token at once.',
    access: account,
    limit: 'none',
    params: z.object({ id: idSchema('token') }),
    replies: { ok: { status: 200, body: success } },
    errors: ['TOKEN_NOT_FOUND'],
  }),
} as const;
