import { z } from 'zod';
import { endpoint, SCOPES } from '../core/endpoint.ts';
import { dateTime, nameSchema, pageQuery, pageReply, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { admin, params } from './access.ts';

export const agentScope = z.enum(SCOPES);

/** An agent's token as a list shows it; the secret itself is shown once, when it is made. */
export const agentToken = z.object({
  id: idSchema('token'),
  agent_id: idSchema('agent').meta({ description: 'whom the token acts as, which is named by what it makes' }),
  name: z.string(),
  scopes: z.array(agentScope),
  created_at: dateTime,
  created_by: z.object({ id: idSchema('user'), name: z.string().nullable() }).nullable(),
  last_used_at: dateTime.nullable(),
  expires_at: dateTime.nullable(),
});

export const newAgentToken = z.strictObject({
  name: nameSchema,
  scopes: z
    .array(agentScope)
    .min(1)
    .max(SCOPES.length)
    .refine((scopes) => new Set(scopes).size === scopes.length, 'must not name a scope twice'),
  expires_at: absentOrNull(z.iso.datetime({ offset: true })),
});

export const agentTokens = {
  'agentTokens.list': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/agent-tokens',
    group: 'agents',
    summary: 'The tokens of the agents of a workspace, newest first, without their secrets.',
    access: admin,
    limit: 'none',
    params,
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ agent_tokens: z.array(agentToken), ...pageReply }) } },
    errors: [],
  }),
  'agentTokens.create': endpoint({
    method: 'POST',
    path: '/v1/workspaces/{workspaceId}/agent-tokens',
    group: 'agents',
    summary: 'Makes an agent of the workspace and its token, whose secret is shown this once.',
    access: admin,
    limit: 'agentTokens',
    params,
    body: { kind: 'json', schema: newAgentToken, bytesMax: LIMITS.bodyBytesMax },
    replies: { created: { status: 201, body: agentToken.extend({ token: z.string(), shown_once: z.literal(true) }) } },
    errors: ['AGENT_TOKEN_LIMIT_EXCEEDED'],
  }),
  'agentTokens.revoke': endpoint({
    method: 'DELETE',
    path: '/v1/workspaces/{workspaceId}/agent-tokens/{tokenId}',
    group: 'agents',
    summary: 'Revokes the token of an agent at once. What the agent has made stays.',
    access: admin,
    limit: 'none',
    params: params.extend({ tokenId: idSchema('token') }),
    replies: { ok: { status: 200, body: success } },
    errors: ['TOKEN_NOT_FOUND'],
  }),
} as const;
