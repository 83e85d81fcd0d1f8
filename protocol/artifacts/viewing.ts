/** Seeing a page on its own origin as oneself. Source: contract.md §14. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { LIMITS } from '../core/limits.ts';
import { boundedText } from '../core/text.ts';
import { params, personReads } from './access.ts';

export const viewing = {
  'artifacts.view': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/view',
    group: 'artifacts',
    summary: 'Leads a signed-in browser to the page on its own origin, where it is that person from then on.',
    access: personReads,
    limit: 'pageTickets',
    params,
    query: z.object({
      return: boundedText(LIMITS.returnToCharsMax)
        .optional()
        .meta({ description: 'a path of the page to go to; anything else becomes its start' }),
      challenge: boundedText(64)
        .optional()
        .meta({ description: 'what the page’s origin has marked the browser with; without it the browser is sent there first' }),
    }),
    replies: {
      found: {
        status: 302,
        media: 'text/plain',
        description: `To the page’s origin with a ticket that works once within ${LIMITS.pageTicketTtlMs / 1000} s, in the marked browser only; or to the page of the app that signs in or asks first.`,
      },
    },
    errors: [],
  }),
} as const;
