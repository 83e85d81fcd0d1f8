/** The terms of running the service, for everybody: what each plan allows, which limits of calls there are, what is kept for how long, how it is. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime } from '../core/fields.ts';
import { tier } from '../people/accounts.ts';
import { allowances } from './allowances.ts';

const anyone = { who: 'anyone' } as const;
const count = z.number().int();

export const serviceLimits = z.object({
  plans: z.array(z.object({ tier, features: z.array(z.string()), allowances })),
  rates: z
    .array(
      z.object({
        name: z.string().meta({ description: 'as in the RateLimit headers' }),
        quota: count,
        window_s: count,
        by: z.string().meta({ description: 'whose calls are counted together' }),
      }),
    )
    .meta({ description: 'the same for every plan but for those that an allowance names' }),
});

export const retention = z.object({
  rules: z.array(
    z.object({
      name: z.string().meta({ description: 'of the daily sweep that does it' }),
      what: z.string(),
      kept_s: count.nullable().meta({ description: 'null where no time decides' }),
      since: z.string(),
    }),
  ),
  without_end: z.array(z.string()).meta({ description: 'what no sweep removes' }),
});

/** What the service is made of, as people outside know it. */
export const STATUS_PARTS = ['api', 'database', 'files', 'nodes', 'mail', 'jobs', 'search', 'imports'] as const;

export const serviceStatus = z.object({
  status: z.enum(['up', 'degraded', 'down']),
  checked_at: dateTime,
  parts: z.array(
    z.object({
      name: z.enum(STATUS_PARTS),
      state: z
        .enum(['up', 'delayed', 'down', 'unknown'])
        .meta({ description: '`delayed`: work waits for longer than usual. `unknown`: it cannot be asked now' }),
      since: dateTime.optional().meta({ description: 'of what is down' }),
    }),
  ),
});

const read = { method: 'GET', group: 'operations', access: anyone, limit: 'none', errors: [] } as const;

export const terms = {
  'terms.limits': endpoint({
    ...read,
    path: '/v1/limits',
    summary: 'What each plan allows, and the limits of calls.',
    conditional: true,
    replies: { ok: { status: 200, body: serviceLimits } },
  }),
  'terms.retention': endpoint({
    ...read,
    path: '/v1/retention',
    summary: 'What is kept for how long.',
    conditional: true,
    replies: { ok: { status: 200, body: retention } },
  }),
  'terms.page': endpoint({
    ...read,
    path: '/limits',
    summary: 'Plans, limits of calls and retention, as a page.',
    replies: { page: { status: 200, media: 'text/html' } },
  }),
  'terms.status': endpoint({
    ...read,
    path: '/status',
    summary: 'How the parts of the service are: JSON, and a page for browsers. At most a few seconds old.',
    replies: { ok: { status: 200, body: serviceStatus }, page: { status: 200, media: 'text/html' } },
  }),
} as const;
