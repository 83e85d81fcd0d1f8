import { z } from 'zod';
import { idSchema } from '../ids.ts';
import { nameSchema } from './common.ts';

export const tier = z.enum(['free', 'pro', 'team']);
export type Tier = z.infer<typeof tier>;

const username = z.string().regex(/^[a-z0-9][a-z0-9_-]{1,38}$/, 'must be 2 to 39 lowercase letters, digits, hyphens and underscores');

export const profile = z.object({
  id: idSchema('user'),
  username: z.string().nullable(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  created_at: z.number().int().meta({ description: 'Unix ms' }),
});

export const profileUpdate = z.strictObject({
  username: username.optional(),
  name: nameSchema.nullable().optional(),
  metadata: z
    .record(z.string().max(64), z.unknown())
    .refine((value) => JSON.stringify(value).length <= 16_384, 'may have 16 KB as JSON')
    .refine((value) => !JSON.stringify(value).includes('\\u0000'), 'must not contain NUL characters')
    .optional(),
});

export const me = z.object({
  user: profile,
  token: z.object({
    kind: z.enum(['personal', 'agent', 'session', 'external']),
    scopes: z.array(z.string()),
    workspace_id: z.string().optional(),
  }),
  tier,
  workspaces: z.array(z.object({ id: z.string(), name: z.string(), slug: z.string(), role: z.string() })),
});

/** A token as a list shows it; the secret itself is shown once, when it is made. */
export const tokenRecord = z.object({
  id: idSchema('token'),
  name: z.string().nullable(),
  created_at: z.number().int(),
  last_used_at: z.number().int().nullable(),
  expires_at: z.iso.datetime().nullable(),
  current: z.boolean().meta({ description: 'the token of this very call' }),
});
