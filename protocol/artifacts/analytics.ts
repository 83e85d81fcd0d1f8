/** How often a page is opened. Source: contract.md §2. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { manageReads, params } from './access.ts';

/** Days that an answer covers. */
export const RANGES = ['7', '30', '90'] as const;

const views = z.number().int().meta({
  description: 'how often a browser opened an HTML page of the live version; its files, previews, prefetches and bots do not count',
});

export const dayOfViews = z.object({
  date: z.iso.date().meta({ description: 'UTC' }),
  views,
  visitors: z.number().int().meta({
    description: 'different networks and browsers on that day, the owner included; exact up to 127, beyond that within some 3 %',
  }),
});

export const analytics = z.object({
  range: z.number().int().meta({ description: 'days' }),
  views: z.array(dayOfViews).meta({ description: 'every day of the range, oldest first, today last' }),
  total: z.object({
    views: z.number().int(),
    visitors: z.number().int().meta({ description: 'the sum of the days: nobody is known again on another day' }),
  }),
});

export const analyticsEndpoints = {
  'analytics.views': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/analytics',
    group: 'artifacts',
    summary: 'Counts views and visitors of each day, without cookies and without knowing anybody again on another day.',
    access: manageReads,
    limit: 'none',
    conditional: true,
    params,
    query: z.object({ range: z.enum(RANGES).default('30').meta({ description: 'days, today included' }) }),
    replies: { ok: { status: 200, body: analytics } },
    errors: [],
  }),
} as const;
