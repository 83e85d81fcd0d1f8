/** Metrics: numbers read from the live data of an artifact, which alert rules compare. Source: contract.md §8. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema, pageQuery, pageReply, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';
import { patterned } from '../core/pattern.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { jsonKey } from '../data/json-keys.ts';
import { fieldName, filterJson } from '../data/table-queries.ts';
import { tableName } from '../data/tables.ts';

const METRIC_ID = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

export const metricId = missingAs(
  patterned(z.string().regex(METRIC_ID, 'must be a letter and then at most 63 letters, digits, hyphens and underscores'), METRIC_ID),
  'METRIC_NOT_FOUND',
);

export const AGGREGATES = ['count', 'sum', 'avg', 'min', 'max'] as const;

const where = filterJson.optional();

export const metricSource = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('json_path'),
    key: jsonKey,
    path: z.string().max(1024).default('$').meta({ description: 'where the number is in the value: $.a.b or $.list[0]' }),
  }),
  z.strictObject({ kind: z.literal('table_count'), table: tableName, where }),
  z.strictObject({ kind: z.literal('table_aggregate'), table: tableName, field: fieldName, fn: z.enum(AGGREGATES), where }),
]);
export type MetricSource = z.output<typeof metricSource>;

export const metricDefinition = z.object({
  artifact_id: idSchema('artifact'),
  metric_id: z.string(),
  name: z.string(),
  source: metricSource,
  created_at: dateTime,
  updated_at: dateTime,
});

export const metricDefinitionBody = z.strictObject({
  artifact_id: idSchema('artifact'),
  metric_id: metricId,
  name: absentOrNull(nameSchema).meta({ description: 'default: the metric_id' }),
  source: metricSource,
  created_at: z.unknown().optional().meta({ readOnly: true }),
  updated_at: z.unknown().optional().meta({ readOnly: true }),
});

const one = z.object({ artifactId: idSchema('artifact'), metricId });
const edits = { who: 'artifact', param: 'artifactId', need: 'edit', person: true } as const;

export const metrics = {
  'metrics.list': endpoint({
    method: 'GET',
    path: '/v1/metric-alerts/definitions',
    group: 'alerts',
    summary: 'The metrics of an artifact that the caller edits, newest first.',
    access: { who: 'account', scope: 'artifacts:publish' },
    limit: 'alerts',
    query: z.object({ artifact_id: idSchema('artifact'), ...pageQuery }),
    replies: { ok: { status: 200, body: z.object({ definitions: z.array(metricDefinition), ...pageReply }) } },
    errors: ['ARTIFACT_NOT_FOUND', 'FORBIDDEN'],
  }),
  'metrics.put': endpoint({
    method: 'PUT',
    path: '/v1/metric-alerts/definitions',
    group: 'alerts',
    summary:
      'Defines a metric of an artifact, or changes it. Its value is kept every hour from then on. Another source begins a new history.',
    access: { who: 'account', person: true },
    limit: 'alerts',
    body: { kind: 'json', schema: metricDefinitionBody, bytesMax: LIMITS.bodyBytesMax },
    replies: { changed: { status: 200, body: metricDefinition }, created: { status: 201, body: metricDefinition } },
    errors: ['ARTIFACT_NOT_FOUND', 'FORBIDDEN', 'INVALID_FILTER', 'ALERT_LIMIT_EXCEEDED'],
  }),
  'metrics.get': endpoint({
    method: 'GET',
    path: '/v1/metric-alerts/definitions/{artifactId}/{metricId}',
    group: 'alerts',
    summary: 'One metric.',
    access: edits,
    limit: 'alerts',
    params: one,
    conditional: true,
    replies: { ok: { status: 200, body: metricDefinition } },
    errors: ['METRIC_NOT_FOUND'],
  }),
  'metrics.delete': endpoint({
    method: 'DELETE',
    path: '/v1/metric-alerts/definitions/{artifactId}/{metricId}',
    group: 'alerts',
    summary: 'Deletes a metric with its history. Refused while alert rules use it.',
    access: edits,
    limit: 'alerts',
    params: one,
    conditional: true,
    resource: 'metrics.get',
    replies: { ok: { status: 200, body: success } },
    errors: ['METRIC_NOT_FOUND', 'METRIC_IN_USE', 'VERSION_CONFLICT'],
  }),
} as const;
