/** The SQL of `metric_definition` and `metric_sample`. */
import type { JSONValue } from 'postgres';
import type { MetricSource } from '../../../../protocol/automation/metrics.ts';
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

export interface MetricRow {
  readonly artifact_id: ArtifactId;
  readonly metric_id: string;
  readonly name: string;
  readonly source: MetricSource;
  readonly created_by: UserId;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

function columns(sql: Queries) {
  return sql`artifact_id, metric_id, name, source, created_by, created_at_ms, updated_at_ms`;
}

export function listMetrics(sql: Queries, artifactId: ArtifactId, after: PageKey, rowsMax: number) {
  // Ids of metrics have capital letters, so a cursor holds their digest.
  return sql<(MetricRow & { readonly place: string })[]>`
    select ${columns(sql)}, md5(metric_id) as place from metric_definition
    where artifact_id = ${artifactId}
      and (created_at_ms < ${after.number} or (created_at_ms = ${after.number} and md5(metric_id) > ${after.id}))
    order by created_at_ms desc, md5(metric_id) limit ${rowsMax}`;
}

export async function countMetrics(sql: Queries, artifactId: ArtifactId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from metric_definition where artifact_id = ${artifactId}`;
  return row?.total ?? 0;
}

export async function readMetric(sql: Queries, artifactId: ArtifactId, metricId: string): Promise<MetricRow | null> {
  const [row] = await sql<MetricRow[]>`
    select ${columns(sql)} from metric_definition where artifact_id = ${artifactId} and metric_id = ${metricId}`;
  return row ?? null;
}

export async function writeMetric(tx: Queries, row: Omit<MetricRow, 'created_at_ms' | 'updated_at_ms'>, nowMs: number): Promise<void> {
  await tx`
    insert into metric_definition (artifact_id, metric_id, name, source, created_by, created_at_ms, updated_at_ms)
    values (${row.artifact_id}, ${row.metric_id}, ${row.name}, ${tx.json(row.source as JSONValue)}, ${row.created_by}, ${nowMs}, ${nowMs})
    on conflict (artifact_id, metric_id) do update
      set name = excluded.name, source = excluded.source, created_by = excluded.created_by, updated_at_ms = excluded.updated_at_ms`;
}

export async function deleteMetric(tx: Queries, artifactId: ArtifactId, metricId: string): Promise<void> {
  await tx`delete from metric_definition where artifact_id = ${artifactId} and metric_id = ${metricId}`;
}

export interface Sample {
  readonly at_ms: number;
  readonly value: number;
}

export interface MetricKey {
  readonly artifactId: ArtifactId;
  readonly metricId: string;
}

/** Several rules may see the metric at the same time. */
export async function addSample(tx: Queries, { artifactId, metricId }: MetricKey, { at_ms, value }: Sample): Promise<void> {
  await tx`
    insert into metric_sample (artifact_id, metric_id, at_ms, value) values (${artifactId}, ${metricId}, ${at_ms}, ${value})
    on conflict do nothing`;
}

/** In the order of time. */
export function readSamples(sql: Queries, { artifactId, metricId }: MetricKey, sinceMs: number, rowsMax: number): Promise<Sample[]> {
  return sql<Sample[]>`
    select at_ms, value from (
      select at_ms, value from metric_sample
      where artifact_id = ${artifactId} and metric_id = ${metricId} and at_ms > ${sinceMs} order by at_ms desc limit ${rowsMax}
    ) newest order by at_ms`;
}

export async function deleteSamples(tx: Queries, { artifactId, metricId }: MetricKey): Promise<void> {
  await tx`delete from metric_sample where artifact_id = ${artifactId} and metric_id = ${metricId}`;
}

/** Answers how many it has removed: old ones, and those beyond the most that are kept of one metric. */
export async function deleteOldSamples(sql: Queries, beforeMs: number, keptMax: number): Promise<number> {
  const old = await sql`delete from metric_sample where at_ms <= ${beforeMs}`;
  const beyond = await sql`
    delete from metric_sample s using (
      select d.artifact_id, d.metric_id, edge.at_ms from metric_definition d cross join lateral (
        select k.at_ms from metric_sample k where k.artifact_id = d.artifact_id and k.metric_id = d.metric_id
        order by k.at_ms desc offset ${keptMax} limit 1
      ) edge
    ) full_one
    where s.artifact_id = full_one.artifact_id and s.metric_id = full_one.metric_id and s.at_ms <= full_one.at_ms`;
  return old.count + beyond.count;
}
