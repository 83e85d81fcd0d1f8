/** Pictures of pages, for lists. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { idSchema } from '../core/ids.ts';
import { params, read } from './access.ts';

export const thumbnails = {
  'artifacts.thumbnail': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/thumbnail',
    group: 'artifacts',
    summary: 'A picture of the live version as a visitor sees it without data: WebP, 640 × 400. Asking for a missing one has it made.',
    access: read,
    limit: 'none',
    params,
    query: z.object({
      version: idSchema('version')
        .optional()
        .meta({ description: 'the version that is live as far as the caller knows; of another there is no picture' }),
    }),
    conditional: true,
    replies: { ok: { status: 200, media: 'image/webp' } },
    errors: ['THUMBNAIL_NOT_FOUND'],
  }),
} as const;
