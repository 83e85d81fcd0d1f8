/** The context of a workspace: the Markdown files that tell agents and people how it works, of which one is the entry. Source: spec.md "Workspaces". */
import { z } from 'zod';
import { filePath } from '../artifacts/publish.ts';
import { endpoint } from '../core/endpoint.ts';
import { LIMITS } from '../core/limits.ts';
import { admin, params, reads } from './access.ts';

export const CONTEXT_ENTRY = 'index.md';

export const workspaceContext = z.object({
  entry: z.string().meta({ description: `the path of the first file; ${CONTEXT_ENTRY} unless chosen` }),
});

const contextUpdate = z.strictObject({
  entry: filePath
    .or(z.literal(''))
    .nullable()
    .meta({ description: `null or empty resets to ${CONTEXT_ENTRY}` }),
});

const change = {
  path: '/v1/workspaces/{workspaceId}/context',
  group: 'context',
  access: admin,
  limit: 'none',
  params,
  conditional: true,
  resource: 'context.get',
  body: { kind: 'json', schema: contextUpdate, bytesMax: LIMITS.bodyBytesMax },
  replies: { ok: { status: 200, body: workspaceContext } },
  errors: ['VERSION_CONFLICT'],
} as const;

export const contexts = {
  'context.get': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/context',
    group: 'context',
    summary: 'Where the context files of a workspace begin.',
    access: reads,
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: workspaceContext } },
    errors: [],
  }),
  'context.put': endpoint({ ...change, method: 'PUT', summary: 'Chooses the first context file. Owners and admins.' }),
  'context.patch': endpoint({ ...change, method: 'PATCH', summary: 'The same as PUT.' }),
} as const;
