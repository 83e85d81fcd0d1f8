import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { nameSchema, storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { newConnection } from '../library/connections.ts';
import { accessPolicy } from './access-policy.ts';
import { FEATURES } from './features.ts';
import { newWorkspace, workspaceBranding, workspaceLocale, workspaceRole } from './workspaces.ts';

const address = z.email().max(LIMITS.emailCharsMax).toLowerCase();
const logoUrl = z.url({ protocol: /^https?$/ }).max(LIMITS.logoUrlCharsMax);

const provisionedBranding = z
  .strictObject({
    accent_color: workspaceBranding.shape.accent_color.unwrap(),
    hide_footer: z.boolean(),
    logo: z.union([logoUrl, z.looseObject({ url: logoUrl }).transform(({ url }) => url)]),
  })
  .partial();

const provisionedPolicy = z
  .strictObject({
    allowed_domains: accessPolicy.shape.allowed_domains,
    allowed_emails: accessPolicy.shape.allowed_emails,
    external_sharing: z.boolean().meta({ description: 'the feature collab.external_sharing' }),
    guest_comments: z.boolean().meta({ description: 'applies to the folders that this run creates' }),
    knowledge: z.boolean(),
    features: z.partialRecord(z.enum(FEATURES), z.boolean()),
  })
  .partial();

export const provisionRequest = z.strictObject({
  name: newWorkspace.shape.name,
  slug: z.string().max(63).meta({ description: 'also the subdomain; 2 to 63 lowercase letters, digits and hyphens' }),
  locale: workspaceLocale.default('en'),
  description: storedText(LIMITS.descriptionCharsMax).optional(),
  owner_email: address.optional().meta({ description: 'owner of a new workspace; default: the first of admins' }),
  admins: z.array(address).min(1).max(LIMITS.provisionAdminsMax),
  if_exists: z.enum(['match', 'update', 'fail']).default('match').meta({
    description: 'what to do with a workspace that has the slug: adopt it when the name matches, adopt and rename it, or refuse',
  }),
  subdomain: z.boolean().default(false),
  branding: provisionedBranding.optional(),
  policy: provisionedPolicy.optional(),
  folders: z.array(nameSchema).max(LIMITS.provisionFoldersMax).default([]),
  connectors: z.array(newConnection).max(LIMITS.provisionConnectorsMax).default([]),
  resend_invites: z.boolean().default(false),
  templates: storedText(LIMITS.nameCharsMax).min(1).optional(),
  custom_domain: z.string().min(1).max(253).optional(),
});
export type ProvisionRequest = z.output<typeof provisionRequest>;

export const provisionedAdmin = z.object({
  email: z.string(),
  role: workspaceRole,
  status: z.enum(['invited', 'already_invited', 'active', 'added', 'failed']),
  email_sent: z.boolean(),
  invite_url: z.string().optional().meta({ description: 'only where the mail did not go out' }),
  error: z.string().optional(),
});

export const provisionedStep = z.object({
  step: z.string().meta({ description: 'workspace, branding, policy, folders, admins, connector:<name>, templates or custom_domain' }),
  status: z.enum(['created', 'updated', 'unchanged', 'skipped', 'pending', 'failed']),
  detail: z.record(z.string(), z.unknown()),
  error: z.string().optional(),
  next_step: z.string().optional(),
});

export const provisionReply = z.object({
  ok: z.boolean(),
  created: z.boolean(),
  workspace: z.object({ id: idSchema('workspace'), name: z.string(), slug: z.string(), locale: workspaceLocale }),
  links: z.object({ home: z.string(), admin: z.string(), subdomain: z.string().nullable(), instance_admin: z.string() }),
  admins: z.array(provisionedAdmin),
  steps: z.array(provisionedStep),
  next_steps: z.array(z.string()),
  duration_ms: z.number().int(),
});

export const provisioning = {
  'provisioning.provision': endpoint({
    method: 'POST',
    path: '/v1/admin/workspaces/provision',
    group: 'workspaces',
    summary: 'Makes a workspace ready for a customer. A second run completes what is missing and leaves the rest.',
    access: { who: 'instanceAdmin' },
    limit: 'none',
    body: { kind: 'json', schema: provisionRequest, bytesMax: LIMITS.provisionBodyBytesMax },
    replies: {
      ok: { status: 200, body: provisionReply, description: 'The workspace was there, and nothing failed.' },
      created: { status: 201, body: provisionReply, description: 'The workspace is new, and nothing failed.' },
      partial: { status: 207, body: provisionReply, description: 'At least one step failed; the others are done.' },
    },
    errors: ['INVALID_SLUG', 'WORKSPACE_SLUG_TAKEN'],
  }),
} as const;
