import { endpoint } from './endpoint.ts';

const script = { access: { who: 'anyone' }, limit: 'none', conditional: true, errors: [] } as const;

/** The scripts for pages that are hosted elsewhere. A published page has the same files on its own origin, bound to its artifact. */
export const pageSdk = {
  'sdk.script': endpoint({
    ...script,
    method: 'GET',
    path: '/sdk.js',
    group: 'sdk',
    summary: 'The SDK of pages as a script that sets `easel`; `data-artifact` on its element says whose data is meant.',
    replies: { ok: { status: 200, media: 'text/javascript' } },
  }),
  'sdk.module': endpoint({
    ...script,
    method: 'GET',
    path: '/sdk.mjs',
    group: 'sdk',
    summary: 'The SDK of pages as a module; `connect({ artifactId })` says whose data is meant.',
    replies: { ok: { status: 200, media: 'text/javascript' } },
  }),
  'sdk.types': endpoint({
    ...script,
    method: 'GET',
    path: '/sdk.d.ts',
    group: 'sdk',
    summary: 'The types of the SDK of pages.',
    replies: { ok: { status: 200, media: 'text/plain' } },
  }),
  'sdk.jobTypes': endpoint({
    ...script,
    method: 'GET',
    path: '/easel-jobs.d.ts',
    group: 'sdk',
    summary: 'The types of the scripts of jobs.',
    replies: { ok: { status: 200, media: 'text/plain' } },
  }),
  'sdk.documents': endpoint({
    ...script,
    method: 'GET',
    path: '/sdk-doc.mjs',
    group: 'sdk',
    summary: 'What the SDK of pages loads for collaborative documents; exports the awareness of y-protocols too.',
    replies: { ok: { status: 200, media: 'text/javascript' } },
  }),
  'sdk.yjs': endpoint({
    ...script,
    method: 'GET',
    path: '/sdk-yjs.mjs',
    group: 'sdk',
    summary: 'Yjs as the SDK of pages has it: an import map gives it to the page’s own scripts, so that there is only one.',
    replies: { ok: { status: 200, media: 'text/javascript' } },
  }),
} as const;
