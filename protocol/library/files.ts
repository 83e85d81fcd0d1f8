/** The bytes of files in asset libraries, and the pages of share links. Source: contract.md §9 and §16. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';
import { patterned } from '../core/pattern.ts';

const FILE = /^(?:dlv|blob)_[a-z0-9]{24}$/;
/** What the database holds. */
const VERSION_MAX = 2_147_483_647;
const SECRET = /^[A-Za-z0-9_-]{43}$/;
const params = z.object({
  fileId: missingAs(patterned(z.string().regex(FILE, 'must be the id of a deliverable or of a loose file'), FILE), 'FILE_NOT_FOUND'),
});
const secret = z.object({ secret: missingAs(patterned(z.string().regex(SECRET), SECRET), 'SHARE_LINK_NOT_FOUND') });
const query = z.object({
  version: z.coerce.number().int().min(1).max(VERSION_MAX).optional().meta({ description: 'an older version of a deliverable' }),
  link: z
    .string()
    .max(LIMITS.nameCharsMax)
    .optional()
    .meta({ description: 'the secret of a share link of it, for who has no access otherwise' }),
});
const everybody = { group: 'assets', access: { who: 'everybody', scope: 'artifacts:read' }, limit: 'fileReads' } as const;
const visitor = {
  group: 'assets',
  access: { who: 'visitor' },
  limit: 'shareLinks',
  params: secret,
  errors: ['SHARE_LINK_NOT_FOUND'],
} as const;
const page = { status: 200, media: 'text/html' } as const;
const none = { status: 404, media: 'text/html', description: 'There is no such link, or it has ended: the two look the same.' } as const;

export const files = {
  'files.content': endpoint({
    ...everybody,
    method: 'GET',
    path: '/v1/files/{fileId}/content',
    summary: 'The bytes of a file, of the newest version. Supports Range. With the secret of an open share link it needs no credentials.',
    params,
    query,
    conditional: true,
    replies: {
      ok: { status: 200, media: '*/*' },
      part: { status: 206, media: '*/*', description: 'The requested range.' },
      outside: { status: 416, media: 'text/plain', description: 'The range begins after the end of the file.' },
    },
    errors: ['FILE_NOT_FOUND'],
  }),
  'files.thumbnail': endpoint({
    ...everybody,
    method: 'GET',
    path: '/v1/files/{fileId}/thumbnail',
    summary: 'A picture of an image, a PDF or a video, of the newest version: WebP, at most 480 pixels wide and high.',
    params,
    query: query.pick({ link: true }),
    conditional: true,
    replies: { ok: { status: 200, media: 'image/webp' } },
    errors: ['FILE_NOT_FOUND'],
  }),
  'pages.share': endpoint({
    ...visitor,
    method: 'GET',
    path: '/s/{secret}',
    summary: 'The page of a share link: what it shares, or how to prove that one may see it.',
    replies: { page, none, elsewhere: { status: 303, media: 'text/plain', description: 'The sign-in page, in Location.' } },
  }),
  'pages.shareForm': endpoint({
    ...visitor,
    method: 'POST',
    once: true,
    path: '/s/{secret}',
    summary: 'Opens a share link with its password, by a form.',
    body: { kind: 'bytes', bytesMax: LIMITS.formBytesMax, types: ['application/x-www-form-urlencoded'] },
    replies: {
      elsewhere: { status: 303, media: 'text/plain', description: 'The page of the link, in Location.' },
      again: { status: 400, media: 'text/html', description: 'The form again, with what to correct.' },
      wait: {
        status: 429,
        media: 'text/html',
        description: 'The form again, after too many wrong passwords. Retry-After says how long to wait.',
      },
      none,
    },
  }),
} as const;
