/** Watches: a table is looked at, and the bell rings when a value leaves its usual range. Source: spec.md "Metric watches", contract.md §8, §15. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull, changesTo } from '../core/round-trip.ts';
import { fieldName } from '../data/table-queries.ts';
import { tableName } from '../data/tables.ts';

export const WATCH_KINDS = ['count', 'sum', 'last'] as const;
export const THRESHOLD_PCT_DEFAULT = 20;

export const metricWatch = z.object({
  id: idSchema('metricWatch'),
  artifact_id: idSchema('artifact'),
  table: z.string(),
  kind: z.enum(WATCH_KINDS).meta({ description: 'rows, the sum of a column, or the column of the row that was inserted last' }),
  column: z.string().nullable(),
  threshold_pct: z.number(),
  last_value: z.number().nullable(),
  baseline: z.number().nullable().meta({ description: 'the median of the last 14 days; null while it has seen less than three values' }),
  enabled: z.boolean(),
  created_at: dateTime,
  updated_at: dateTime,
});

const thresholdPct = z.number().positive().max(LIMITS.watchThresholdPctMax);

export const metricWatchCreate = z
  .strictObject({
    artifact_id: idSchema('artifact'),
    table: tableName,
    kind: z.enum(WATCH_KINDS),
    column: absentOrNull(fieldName).meta({ description: 'for sum and last' }),
    threshold_pct: absentOrNull(thresholdPct).meta({ description: `default: ${THRESHOLD_PCT_DEFAULT}` }),
  })
  .refine(({ kind, column }) => kind !== 'count' || column === undefined, {
    path: ['column'],
    message: 'must be left out with the kind count',
  })
  .refine(({ kind, column }) => kind === 'count' || column !== undefined, {
    path: ['column'],
    message: 'is required with the kinds sum and last',
  });

export const metricWatchUpdate = changesTo(metricWatch, {
  threshold_pct: thresholdPct.optional(),
  enabled: z.boolean().optional(),
}).refine((body) => Object.keys(body).length > 0, 'must change threshold_pct or enabled');

const person = { who: 'account', person: true } as const;
const params = z.object({ watchId: idSchema('metricWatch') });
const one = z.object({ watch: metricWatch });

export const watches = {
  'watches.list': endpoint({
    method: 'GET',
    path: '/v1/metric-watch',
    group: 'alerts',
    summary: 'The watches that the caller has on an artifact, newest first.',
    access: person,
    limit: 'alerts',
    query: z.object({ artifact_id: idSchema('artifact'), ...pageQuery }),
    replies: { ok: { status: 200, body: z.object({ watches: z.array(metricWatch), ...pageReply }) } },
    errors: ['ARTIFACT_NOT_FOUND', 'FORBIDDEN'],
  }),
  'watches.create': endpoint({
    method: 'POST',
    path: '/v1/metric-watch',
    group: 'alerts',
    summary: 'Watches a table: the bell of the caller rings when its value moves away from what is usual.',
    access: person,
    limit: 'alerts',
    body: { kind: 'json', schema: metricWatchCreate, bytesMax: LIMITS.bodyBytesMax },
    replies: { created: { status: 201, body: one } },
    errors: ['ARTIFACT_NOT_FOUND', 'FORBIDDEN', 'ALERT_LIMIT_EXCEEDED'],
  }),
  'watches.get': endpoint({
    method: 'GET',
    path: '/v1/metric-watch/{watchId}',
    group: 'alerts',
    summary: 'One watch of the caller.',
    access: person,
    limit: 'alerts',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: one } },
    errors: ['WATCH_NOT_FOUND'],
  }),
  'watches.update': endpoint({
    method: 'PATCH',
    path: '/v1/metric-watch/{watchId}',
    group: 'alerts',
    summary: 'Changes the threshold of a watch, or switches it on and off.',
    access: person,
    limit: 'alerts',
    params,
    conditional: true,
    resource: 'watches.get',
    body: { kind: 'json', schema: metricWatchUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: one } },
    errors: ['WATCH_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'watches.delete': endpoint({
    method: 'DELETE',
    path: '/v1/metric-watch/{watchId}',
    group: 'alerts',
    summary: 'Ends a watch.',
    access: person,
    limit: 'alerts',
    params,
    conditional: true,
    resource: 'watches.get',
    replies: { ok: { status: 200, body: success } },
    errors: ['WATCH_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
} as const;
