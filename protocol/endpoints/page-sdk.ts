import { endpoint } from '../endpoint.ts';

const script = { access: { who: 'anyone' }, limit: 'none', conditional: true, errors: [] } as const;

/** What a page elsewhere loads. A published page has the same files on its own address, where they know its artifact. */
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
} as const;
