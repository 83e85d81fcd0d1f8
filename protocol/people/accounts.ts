import { z } from 'zod';
import { allowances, overAllowance } from '../business/allowances.ts';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { changesTo } from '../core/round-trip.ts';
import { boundedText } from '../core/text.ts';

export const tier = z.enum(['free', 'pro', 'team']);
export type Tier = z.infer<typeof tier>;

const username = z.string().regex(/^[a-z0-9][a-z0-9_-]{1,38}$/, 'must be 2 to 39 lowercase letters, digits, hyphens and underscores');

export const profile = z.object({
  id: idSchema('user'),
  username: z.string().nullable(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  created_at: dateTime,
});

export const profileUpdate = changesTo(profile, {
  username: username.optional(),
  name: nameSchema.nullable().optional(),
  metadata: z
    .record(boundedText(64), z.unknown())
    .refine((value) => new TextEncoder().encode(JSON.stringify(value)).length <= LIMITS.metadataBytesMax, 'may have 16 KB as JSON')
    .refine((value) => !JSON.stringify(value).includes('\\u0000'), 'must not contain NUL characters')
    .optional(),
});

const count = z.number().int();

export const account = z.object({
  tier,
  features: z.record(z.string(), z.unknown()),
  usage: z.object({
    bytes: count.meta({
      description: 'of published files, drafts, blobs and unfinished uploads; what is in the trash counts until it is purged',
    }),
    bytes_max: count,
    artifacts: count.meta({ description: 'owned by the account, the trash included' }),
    artifacts_max: count,
    public_artifacts: count.meta({ description: 'public ones of the account that no plan of a workspace allows' }),
    workspaces_owned: count,
    jobs: count,
  }),
  allowances,
  over: overAllowance.meta({ description: 'what is over the allowance since the plan has changed; nothing of it is taken away' }),
});

export const me = z.object({
  user: profile.nullable().meta({ description: 'null for the token of an agent' }),
  token: z.object({
    kind: z.enum(['personal', 'agent', 'session', 'external']),
    agent: z
      .object({ id: idSchema('agent'), name: z.string() })
      .optional()
      .meta({ description: 'whom the token of an agent acts as' }),
    scopes: z.array(z.string()),
    workspace_id: idSchema('workspace').optional().meta({ description: 'the one workspace of an agent' }),
  }),
  tier: tier.meta({ description: 'the best of the linked accounts; for an agent, that of its workspace' }),
  is_admin: z.boolean().meta({ description: 'the person administers the installation' }),
  is_staff: z.boolean().meta({ description: 'the person answers tickets for the installation, as administrators do too' }),
  workspaces: z.array(
    z.object({
      id: idSchema('workspace'),
      name: z.string(),
      slug: z.string(),
      role: z.enum(['owner', 'admin', 'member']).meta({ description: 'the best of the linked accounts' }),
      billing_manager: z.boolean().meta({ description: 'may see and change what the workspace pays, as owners and admins may' }),
    }),
  ),
});

const anAccount = { who: 'account', person: true } as const;

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
    errors: ['SWITCHED_OFF'],
  }),
  'accounts.me': endpoint({
    method: 'GET',
    path: '/v1/me',
    group: 'accounts',
    summary: 'Who the token speaks for, and the workspaces of that person or agent.',
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
    summary: 'The tier, what it allows and how much of it is used.',
    access: anAccount,
    limit: 'none',
    conditional: true,
    replies: { ok: { status: 200, body: account } },
    errors: [],
  }),
  'accounts.profile': endpoint({
    method: 'GET',
    path: '/v1/auth/profile',
    group: 'accounts',
    summary: 'The profile.',
    access: anAccount,
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
    access: anAccount,
    limit: 'none',
    conditional: true,
    resource: 'accounts.profile',
    body: { kind: 'json', schema: profileUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: profile } },
    errors: ['USERNAME_TAKEN', 'VERSION_CONFLICT'],
  }),
} as const;
