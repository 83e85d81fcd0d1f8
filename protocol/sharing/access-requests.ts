/** Requests for access to an artifact: asked by whoever has none, decided by its owner. Source: spec.md "Access requests", contract.md §3. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, slugSchema, storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';

export const accessRequestAction = z.enum(['approve', 'deny']);

export const accessRequestStatus = z.enum(['pending', 'approved', 'denied', 'ended']).meta({
  description: '`ended`: access was given in another way before it was decided',
});

/** As the owner of the artifact sees it. */
export const accessRequest = z.object({
  id: idSchema('accessRequest'),
  artifact_id: idSchema('artifact'),
  artifact_name: z.string(),
  artifact_slug: z.string(),
  requester_email: z.string().nullable().meta({ description: 'null for an account that has proved no address' }),
  requester_name: z.string().nullable(),
  message: z.string().nullable(),
  status: accessRequestStatus,
  created_at: dateTime,
});

/** As who has asked sees it, who may not know what the artifact is called. */
export const ownAccessRequest = z.object({
  id: idSchema('accessRequest'),
  artifact_id: idSchema('artifact'),
  artifact_slug: z.string().nullable().meta({ description: 'as it was asked for; null where it was asked for by id' }),
  message: z.string().nullable(),
  status: accessRequestStatus,
  created_at: dateTime,
  decided_at: dateTime.nullable(),
});

const person = { who: 'account', person: true } as const;
const params = z.object({ requestId: idSchema('accessRequest') });

export const accessRequests = {
  'accessRequests.create': endpoint({
    method: 'POST',
    path: '/v1/access-requests',
    group: 'sharing',
    summary: 'Asks the owner of an artifact for access, once until it is decided.',
    access: person,
    limit: 'accessRequests',
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z
        .strictObject({
          slug: slugSchema.optional(),
          artifact_id: idSchema('artifact').optional(),
          message: storedText(LIMITS.accessRequestMessageCharsMax).trim().nullish().meta({ description: 'plain text for the owner' }),
        })
        .refine(
          (body) => (body.slug === undefined) !== (body.artifact_id === undefined),
          'must name the artifact by slug or by artifact_id',
        ),
    },
    replies: {
      ok: {
        status: 200,
        body: z.object({
          ok: z.literal(true),
          status: z.enum(['created', 'pending']).meta({ description: '`pending`: you have asked already' }),
          id: idSchema('accessRequest'),
        }),
      },
    },
    errors: ['ARTIFACT_NOT_FOUND', 'ALREADY_HAS_ACCESS', 'RATE_LIMITED'],
  }),
  'accessRequests.incoming': endpoint({
    method: 'GET',
    path: '/v1/access-requests/incoming',
    group: 'sharing',
    summary: 'The requests that wait for the caller: for own artifacts, and for those of workspaces that the caller runs. Newest first.',
    access: person,
    limit: 'none',
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ requests: z.array(accessRequest), ...pageReply }) } },
    errors: [],
  }),
  'accessRequests.outgoing': endpoint({
    method: 'GET',
    path: '/v1/access-requests/outgoing',
    group: 'sharing',
    summary: 'What the caller has asked for and what became of it, newest first.',
    access: person,
    limit: 'none',
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ requests: z.array(ownAccessRequest), ...pageReply }) } },
    errors: [],
  }),
  'accessRequests.get': endpoint({
    method: 'GET',
    path: '/v1/access-requests/{requestId}',
    group: 'sharing',
    summary: 'One request, for whoever decides it.',
    access: person,
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: accessRequest } },
    errors: ['FORBIDDEN', 'ACCESS_REQUEST_NOT_FOUND'],
  }),
  'accessRequests.decide': endpoint({
    method: 'POST',
    path: '/v1/access-requests/{requestId}',
    group: 'sharing',
    summary: 'Approves a request, which makes who has asked a viewer, or denies it. Each is decided once.',
    access: person,
    limit: 'none',
    params,
    body: { kind: 'json', bytesMax: LIMITS.bodyBytesMax, schema: z.strictObject({ action: accessRequestAction }) },
    replies: { ok: { status: 200, body: z.object({ ok: z.literal(true), action: accessRequestAction }) } },
    errors: ['FORBIDDEN', 'ACCESS_REQUEST_NOT_FOUND', 'ALREADY_DECIDED', 'ADDRESS_NOT_ALLOWED', 'COLLABORATOR_LIMIT_EXCEEDED'],
  }),
} as const;
