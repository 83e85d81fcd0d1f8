import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { id, manage, params } from './access.ts';

const previewLink = z.object({ id: idSchema('previewLink'), version_id: idSchema('version'), expires_at: dateTime, created_at: dateTime });

export const previewLinks = {
  'previewLinks.list': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/preview-links',
    group: 'versions',
    summary: 'The preview links that have not expired, newest first, without their secrets.',
    access: manage,
    limit: 'none',
    params,
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ links: z.array(previewLink), ...pageReply }) } },
    errors: [],
  }),
  'previewLinks.create': endpoint({
    method: 'POST',
    path: '/v1/artifacts/{id}/preview-links',
    group: 'versions',
    summary: 'A link that shows one version, draft or private, to whoever has it.',
    access: manage,
    limit: 'none',
    params,
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z.strictObject({
        version_id: idSchema('version'),
        expires_in: z
          .number()
          .int()
          .min(60)
          .max(LIMITS.previewLinkMaxS)
          .default(LIMITS.previewLinkDefaultS)
          .meta({ description: 'seconds' }),
      }),
    },
    replies: { created: { status: 201, body: z.object({ id: idSchema('previewLink'), url: z.string(), expires_at: dateTime }) } },
    errors: ['ACCOUNT_STORAGE_FULL', 'VERSION_NOT_FOUND'],
  }),
  'previewLinks.delete': endpoint({
    method: 'DELETE',
    path: '/v1/artifacts/{id}/preview-links/{link}',
    group: 'versions',
    summary: 'Ends a preview link at once.',
    access: manage,
    limit: 'none',
    params: z.object({ id, link: idSchema('previewLink') }),
    replies: { ok: { status: 200, body: success } },
    errors: ['PREVIEW_LINK_NOT_FOUND'],
  }),
} as const;
