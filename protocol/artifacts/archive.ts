import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { nameSchema } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { workspaceRef } from '../workspaces/access.ts';
import { own, params, publisher } from './access.ts';
import { publishResponse } from './publish.ts';

export const archives = {
  'artifacts.export': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/export',
    group: 'artifacts',
    summary: 'A zip of the live files and the data.',
    access: { ...own, need: 'export' },
    limit: 'none',
    params,
    replies: { ok: { status: 200, media: 'application/zip' } },
    errors: [],
  }),
  'artifacts.import': endpoint({
    method: 'POST',
    path: '/v1/artifacts/import',
    group: 'artifacts',
    summary: 'Publishes an exported zip as a new artifact, data included.',
    access: publisher,
    limit: 'publish',
    query: z.object({
      slug: z.string().max(63).optional(),
      name: nameSchema.optional(),
      workspace_id: workspaceRef.optional().meta({ description: 'imports into this workspace' }),
      folder_id: idSchema('folder').optional().meta({ description: 'files the artifact' }),
    }),
    body: { kind: 'stream', bytesMax: LIMITS.importBytesMax, types: ['application/zip', 'application/octet-stream'] },
    replies: { created: { status: 201, body: publishResponse }, held: { status: 202, body: publishResponse } },
    errors: [
      ...[
        'SLUG_TAKEN',
        'INVALID_SLUG',
        'FILE_TOO_LARGE',
        'INVALID_REQUEST',
        'FORBIDDEN',
        'FOLDER_NOT_FOUND',
        'KEY_LIMIT_EXCEEDED',
        'VALUE_TOO_LARGE',
      ],
      ...[
        'BLOB_LIMIT_EXCEEDED',
        'STORAGE_LIMIT_EXCEEDED',
        'ACCOUNT_STORAGE_FULL',
        'INVALID_MIME_TYPE',
        'TABLE_LIMIT_EXCEEDED',
        'ROW_LIMIT_EXCEEDED',
        'ROW_TOO_LARGE',
        'COMMENT_LIMIT_EXCEEDED',
        'DOCUMENT_LIMIT_EXCEEDED',
        'DOCUMENT_TOO_LARGE',
      ],
    ] as const,
  }),
} as const;
