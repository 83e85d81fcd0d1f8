import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { id, personReads, reader } from './access.ts';
import { versionRef } from './versions.ts';

/** Source: spec.md, "Review state". */
export const reviewState = z.object({
  live_version_id: idSchema('version').nullable(),
  live_version_no: z.number().int().nullable(),
  can_review: z.boolean().meta({ description: 'the caller may resolve, assign and approve' }),
  approvals: z.array(
    z.object({
      version_id: idSchema('version'),
      version_no: z.number().int(),
      user_id: idSchema('user'),
      name: z.string().nullable(),
      email: z.string().nullable(),
      created_at: dateTime,
    }),
  ),
  my_approvals: z.array(idSchema('version')).meta({ description: 'approved by the caller, by whichever linked account' }),
});

const params = z.object({ id, version: versionRef });

export const reviews = {
  'reviews.state': endpoint({
    method: 'GET',
    path: '/v1/home/review',
    group: 'versions',
    summary: 'Which version is live, what was approved and by whom, and whether the caller may approve, assign and resolve.',
    access: reader,
    limit: 'none',
    conditional: true,
    query: z.object({ artifactId: id }),
    replies: { ok: { status: 200, body: reviewState } },
    errors: ['ARTIFACT_NOT_FOUND'],
  }),
  'reviews.approve': endpoint({
    method: 'POST',
    path: '/v1/artifacts/{id}/versions/{version}/approve',
    group: 'versions',
    summary: 'Approves a version. The last approval that a waiting version needs publishes it, and makes it live unless a newer one is.',
    access: personReads,
    limit: 'none',
    params,
    body: {
      kind: 'json',
      optional: true,
      bytesMax: LIMITS.bodyBytesMax,
      schema: z.strictObject({
        make_live: z
          .boolean()
          .default(false)
          .meta({ description: 'once approved, make it live also in place of a newer version or a pin' }),
      }),
    },
    replies: { ok: { status: 200, body: reviewState } },
    errors: ['UNAUTHORIZED', 'FORBIDDEN', 'VERSION_NOT_FOUND'],
  }),
  'reviews.withdraw': endpoint({
    method: 'DELETE',
    path: '/v1/artifacts/{id}/versions/{version}/approve',
    group: 'versions',
    summary: 'Takes back an approval, before it has published the version.',
    access: personReads,
    limit: 'none',
    params,
    replies: { ok: { status: 200, body: reviewState } },
    errors: ['UNAUTHORIZED', 'FORBIDDEN', 'VERSION_NOT_FOUND', 'ALREADY_PUBLISHED'],
  }),
} as const;
