import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { LIMITS } from '../core/limits.ts';
import { params, reads } from './access.ts';

export const FEATURES = [
  'collab.external_sharing',
  'collab.guest_comments',
  'knowledge',
  'catalog',
  'file_imports',
  'agents',
  'custom_branding',
] as const;
const featureName = z.enum(FEATURES);
export type Feature = (typeof FEATURES)[number];

export const workspaceFeature = z.object({
  enabled: z.boolean(),
  source: z
    .enum(['plan', 'workspace', 'instance'])
    .meta({ description: 'what decides it: the plan, a flag of the workspace, or an administrator' }),
});

export const workspaceFeatures = z.object({ features: z.record(featureName, workspaceFeature) });

export const features = {
  'features.get': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/features',
    group: 'workspaces',
    summary: 'What the workspace may use.',
    access: reads,
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: workspaceFeatures } },
    errors: [],
  }),
  'features.update': endpoint({
    method: 'PATCH',
    path: '/v1/workspaces/{workspaceId}/features',
    group: 'workspaces',
    summary: 'Turns features on or off whatever the plan says; null leaves them to the plan again.',
    access: { who: 'instanceAdmin' },
    limit: 'none',
    params,
    conditional: true,
    resource: 'features.get',
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      // An answer can be sent back: what it says of the plan changes nothing.
      schema: z.strictObject({ features: z.partialRecord(featureName, z.union([z.boolean(), workspaceFeature]).nullable()) }),
    },
    replies: { ok: { status: 200, body: workspaceFeatures } },
    errors: ['WORKSPACE_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
} as const;
