import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { LIMITS } from '../core/limits.ts';
import { admin, params } from './access.ts';

const domain = z
  .string()
  .max(253)
  .toLowerCase()
  .regex(/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be a domain such as example.com');

export const accessPolicy = z.object({
  allowed_domains: z
    .array(domain)
    .max(LIMITS.policyEntriesMax)
    .meta({ description: 'domains whose addresses may be invited; with none here and in allowed_emails every address may' }),
  allowed_emails: z.array(z.email().max(LIMITS.emailCharsMax).toLowerCase()).max(LIMITS.policyEntriesMax),
  auto_join: z.boolean().meta({ description: 'whoever has proved such an address may join by themselves' }),
});

export const accessPolicies = {
  'accessPolicy.get': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/access-policy',
    group: 'workspaces',
    summary: 'Who may be invited, and who may join by themselves.',
    access: admin,
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: accessPolicy } },
    errors: [],
  }),
  'accessPolicy.put': endpoint({
    method: 'PUT',
    path: '/v1/workspaces/{workspaceId}/access-policy',
    group: 'workspaces',
    summary: 'Replaces the access policy. Members stay members.',
    access: admin,
    limit: 'none',
    params,
    conditional: true,
    resource: 'accessPolicy.get',
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z.strictObject({
        allowed_domains: accessPolicy.shape.allowed_domains.default([]),
        allowed_emails: accessPolicy.shape.allowed_emails.default([]),
        auto_join: z.boolean().default(false),
      }),
    },
    replies: { ok: { status: 200, body: accessPolicy } },
    errors: ['VERSION_CONFLICT'],
  }),
} as const;
