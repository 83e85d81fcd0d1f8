import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { missingAs } from './missing.ts';

/** What the service needs from elsewhere. */
export const DEPENDENCIES = ['database', 'objects', 'mail', 'redis'] as const;

export const dependency = z.discriminatedUnion('state', [
  z.object({ state: z.literal('up') }),
  z.object({ state: z.literal('down'), since: z.string(), reason: z.string() }),
]);

const readiness = z.object({
  status: z.literal('ready'),
  degraded: z
    .array(z.enum(DEPENDENCIES))
    .meta({ description: 'what is down without keeping the process from serving: mail waits; without Redis live data cannot be reached' }),
  dependencies: z.object({
    database: dependency,
    objects: dependency,
    mail: dependency,
    redis: dependency.optional().meta({ description: 'where several nodes share the work' }),
  }),
});

const anyone = { who: 'anyone' } as const;

export const operations = {
  'operations.openapi': endpoint({
    method: 'GET',
    path: '/v1/openapi.json',
    group: 'operations',
    summary: 'This interface as OpenAPI 3.1.',
    access: anyone,
    limit: 'none',
    conditional: true,
    replies: { ok: { status: 200, media: 'application/json' } },
    errors: [],
  }),
  'operations.docs': endpoint({
    method: 'GET',
    path: '/docs',
    group: 'operations',
    summary: 'The reference page.',
    access: anyone,
    limit: 'none',
    replies: { ok: { status: 200, media: 'text/html' } },
    errors: [],
  }),
  'operations.docsFile': endpoint({
    method: 'GET',
    path: '/docs/{file}',
    group: 'operations',
    summary: 'A file of the reference page.',
    access: anyone,
    limit: 'none',
    conditional: true,
    params: z.object({ file: missingAs(z.string().max(100), 'NOT_FOUND') }),
    replies: { ok: { status: 200, media: '*/*' } },
    errors: ['NOT_FOUND'],
  }),
  'operations.alive': endpoint({
    method: 'GET',
    path: '/healthz',
    group: 'operations',
    summary: 'The process is alive.',
    access: anyone,
    limit: 'none',
    replies: { ok: { status: 200, body: z.object({ status: z.literal('ok') }) } },
    errors: [],
  }),
  'operations.ready': endpoint({
    method: 'GET',
    path: '/readyz',
    group: 'operations',
    summary:
      'The process may serve: 503 with the reason while the database or the object store is down, 200 with what is degraded otherwise.',
    access: anyone,
    limit: 'none',
    replies: { ok: { status: 200, body: readiness } },
    errors: ['UNAVAILABLE'],
  }),
  'operations.metrics': endpoint({
    method: 'GET',
    path: '/metrics',
    group: 'operations',
    summary: 'Metrics in the Prometheus text format.',
    access: anyone,
    limit: 'none',
    replies: { ok: { status: 200, media: 'text/plain' } },
    errors: [],
  }),
} as const;
