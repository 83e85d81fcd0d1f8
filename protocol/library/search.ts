import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, storedText } from '../core/fields.ts';
import { LIMITS } from '../core/limits.ts';
import { workspaceRef } from '../workspaces/access.ts';

export const SEARCH_GROUPS = ['artifacts', 'folders', 'datasets', 'connectors', 'people', 'schedules', 'crew', 'alerts'] as const;
export type SearchGroup = (typeof SEARCH_GROUPS)[number];

export const searchHit = z.object({
  id: z.string().meta({ description: 'of a table or a dataset: that of its artifact, a slash and its name' }),
  type: z.enum(['artifact', 'folder', 'table', 'dataset', 'connection', 'person', 'job', 'agent', 'alert', 'watch']),
  title: z.string(),
  subtitle: z.string().nullable().meta({ description: 'where it is, or what else it is called' }),
  url: z.string().nullable().meta({ description: 'where to look at it' }),
  snippet: z
    .object({
      text: z.string(),
      marks: z.array(z.tuple([z.number().int(), z.number().int()])).meta({
        description: 'words that were looked for: where each begins and ends in text, in UTF-16 units',
      }),
    })
    .nullable()
    .meta({ description: 'of the text of a page' }),
  score: z.number().min(0).max(1).meta({ description: 'how well it fits; 0 where nothing was looked for' }),
  updated_at: dateTime.nullable(),
});
export type SearchHit = z.input<typeof searchHit>;

const hits = z.array(searchHit);

export const searchResult = z.object({
  query: z.string(),
  artifacts: hits,
  folders: hits,
  datasets: hits.meta({ description: 'tables and datasets' }),
  connectors: hits.meta({ description: 'connections' }),
  people: hits,
  schedules: hits.meta({ description: 'jobs' }),
  crew: hits.meta({ description: 'agents' }),
  alerts: hits.meta({ description: 'alert rules and watches' }),
});

const groups = z
  .string()
  .max(200)
  .refine((text) => text.split(',').every((name) => (SEARCH_GROUPS as readonly string[]).includes(name)), {
    error: `must be a list, separated by commas, of ${SEARCH_GROUPS.join(', ')}`,
  })
  .transform((text) => [...new Set(text.split(','))] as SearchGroup[])
  .optional()
  .meta({ description: `of ${SEARCH_GROUPS.join(', ')}, separated by commas; default all` });

export const searching = {
  'search.find': endpoint({
    method: 'GET',
    path: '/v1/search',
    group: 'search',
    summary:
      'Finds what the caller may open by its name, pages also by their text: words in any order, misspelt ones too, and the last one may be a beginning. An empty q answers what has changed last.',
    access: { who: 'account', scope: 'artifacts:read', ofStanding: true },
    limit: 'search',
    query: z.object({
      q: storedText(LIMITS.searchCharsMax),
      groups,
      limit: z.coerce.number().int().min(1).max(LIMITS.searchHitsMax).default(10).meta({ description: 'hits of each group' }),
      workspace: workspaceRef
        .optional()
        .meta({ description: 'id or slug: only what is in it; an agent is always in its own, and sends none' }),
    }),
    replies: { ok: { status: 200, body: searchResult } },
    errors: ['FORBIDDEN'],
  }),
  'search.rebuild': endpoint({
    method: 'POST',
    path: '/v1/admin/search/rebuild',
    group: 'search',
    summary: 'Queues every page of the installation to be indexed anew. The search goes on with what is there until then.',
    access: { who: 'instanceAdmin' },
    limit: 'none',
    replies: {
      ok: { status: 200, body: z.object({ queued: z.number().int().meta({ description: 'artifacts that wait to be indexed' }) }) },
    },
    errors: [],
  }),
} as const;
