/** The web app: its screens, which are one document that a script fills, and its files. What it shows and changes it asks of `/v1`. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';

const page = { status: 200, media: 'text/html' } as const;
const elsewhere = { status: 303, media: 'text/plain', description: 'The sign-in page, in Location.' } as const;

/** Slugs and ids. Where they lead is decided by the script, which shows a page of its own for what it does not know. */
const path = z
  .string()
  .max(LIMITS.returnToCharsMax)
  .regex(/^[a-z0-9_-]+(?:\/[a-z0-9_-]+)*$/, 'must be slugs and ids with slashes between them');
const params = z.object({ path: missingAs(path, 'NOT_FOUND') });

const screen = {
  method: 'GET',
  group: 'webApp',
  access: { who: 'visitor' },
  limit: 'none',
  params,
  replies: { page, elsewhere },
  errors: ['NOT_FOUND'],
} as const;

export const webApp = {
  'webApp.home': endpoint({
    method: 'GET',
    path: '/',
    group: 'webApp',
    summary: 'The pages of the person who is signed in; for everybody else what this is and how to publish.',
    access: { who: 'visitor' },
    limit: 'none',
    replies: { page },
    errors: [],
  }),
  'webApp.mine': endpoint({ ...screen, path: '/my/{path*}', summary: 'Favourites, folders and trash of a person.' }),
  'webApp.artifact': endpoint({ ...screen, path: '/p/{path*}', summary: 'The screen of one artifact.' }),
  'webApp.workspace': endpoint({
    ...screen,
    path: '/w/{path*}',
    summary: 'The screens of a workspace.',
    query: z.object({
      checkout_id: z
        .string()
        .max(LIMITS.checkoutIdCharsMax)
        .optional()
        .meta({ description: 'read by the script: the browser comes back from a checkout' }),
    }),
  }),
  'webApp.ask': endpoint({
    method: 'GET',
    path: '/ask',
    group: 'webApp',
    summary: 'Questions about all pages that the person may open, or those of one workspace.',
    access: { who: 'visitor' },
    limit: 'none',
    query: z.object({
      q: storedText(LIMITS.askQuestionCharsMax).optional().meta({ description: 'the question, which the script asks at once' }),
      workspace: z.string().max(LIMITS.nameCharsMax).optional().meta({ description: 'id or slug: only its pages are asked' }),
    }),
    replies: { page, elsewhere },
    errors: [],
  }),
  'webApp.instance': endpoint({
    method: 'GET',
    path: '/instance',
    group: 'webApp',
    summary: 'The installation, for its administrators.',
    access: { who: 'visitor' },
    limit: 'none',
    replies: { page, elsewhere },
    errors: [],
  }),
  'webApp.instancePart': endpoint({
    ...screen,
    path: '/instance/{path*}',
    summary: 'A part of the installation, for its administrators.',
    query: z.object({
      q: storedText(LIMITS.adminQueryCharsMax).optional().meta({ description: 'what is looked for at first' }),
      owner: idSchema('user').optional().meta({ description: 'whose pages are shown' }),
    }),
  }),
  'webApp.design': endpoint({
    method: 'GET',
    path: '/design',
    group: 'webApp',
    summary: 'The components of the web app, live, and the tokens that they are made from.',
    access: { who: 'anyone' },
    limit: 'none',
    replies: { page },
    errors: [],
  }),
  'webApp.file': endpoint({
    method: 'GET',
    path: '/_app/{file}',
    group: 'webApp',
    summary: 'A script or style sheet of the web app; its name changes with its content.',
    access: { who: 'anyone' },
    limit: 'none',
    conditional: true,
    params: z.object({ file: missingAs(z.string().max(100), 'NOT_FOUND') }),
    replies: { ok: { status: 200, media: '*/*' } },
    errors: ['NOT_FOUND'],
  }),
} as const;
