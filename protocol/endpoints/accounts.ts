import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { idSchema } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { me, profile, profileUpdate, tier, tokenRecord } from '../schemas/account.ts';
import { nameSchema, pageQuery, pageReply, success } from '../schemas/common.ts';

const account = { who: 'account' } as const;

export const accounts = {
  'accounts.create': endpoint({
    method: 'POST',
    path: '/v1/auth/create-account',
    group: 'accounts',
    summary: 'Makes a headless account and its first token.',
    access: { who: 'anyone' },
    limit: 'signup',
    body: { kind: 'json', schema: z.strictObject({}), bytesMax: LIMITS.bodyBytesMax, optional: true },
    replies: { created: { status: 201, body: z.object({ token: z.string(), user_id: idSchema('user') }) } },
    errors: [],
  }),
  'accounts.me': endpoint({
    method: 'GET',
    path: '/v1/me',
    group: 'accounts',
    summary: 'Who the token speaks for.',
    access: { who: 'account', scope: 'artifacts:read' },
    limit: 'none',
    conditional: true,
    replies: { ok: { status: 200, body: me } },
    errors: [],
  }),
  'accounts.account': endpoint({
    method: 'GET',
    path: '/v1/account',
    group: 'accounts',
    summary: 'The tier and what it allows.',
    access: account,
    limit: 'none',
    replies: { ok: { status: 200, body: z.object({ tier, features: z.record(z.string(), z.unknown()) }) } },
    errors: [],
  }),
  'accounts.profile': endpoint({
    method: 'GET',
    path: '/v1/auth/profile',
    group: 'accounts',
    summary: 'The profile.',
    access: account,
    limit: 'none',
    conditional: true,
    replies: { ok: { status: 200, body: profile } },
    errors: [],
  }),
  'accounts.updateProfile': endpoint({
    method: 'PATCH',
    path: '/v1/auth/profile',
    group: 'accounts',
    summary: 'Changes username, name or metadata.',
    access: account,
    limit: 'none',
    body: { kind: 'json', schema: profileUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: profile } },
    errors: ['USERNAME_TAKEN'],
  }),
  'tokens.list': endpoint({
    method: 'GET',
    path: '/v1/me/tokens',
    group: 'tokens',
    summary: 'The tokens of the account, newest first, without their secrets.',
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
    summary: 'Makes a token; its secret is shown this once.',
    access: account,
    limit: 'none',
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      optional: true,
      schema: z.strictObject({ name: nameSchema.optional(), expires_at: z.iso.datetime({ offset: true }).optional() }),
    },
    replies: {
      created: {
        status: 201,
        body: z.object({ ok: z.literal(true), id: idSchema('token'), token: z.string(), shown_once: z.literal(true) }),
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
