/** The SQL of what jobs listen to. */
import type { JobEventType } from '../../../../../protocol/automation/jobs.ts';
import type { ArtifactId, JobId } from '../../../../../protocol/core/ids.ts';
import type { Queries } from '../../../deps.ts';
import type { JobRow } from '../rows.ts';

/** What a job listens to, as it was at `updated_at_ms`. */
export type Heard = Pick<JobRow, 'id' | 'event_type' | 'event_filter' | 'updated_at_ms'>;

export function listListened(sql: Queries, id: ArtifactId | null) {
  return sql<(Heard & { artifact_id: ArtifactId; event_type: JobEventType })[]>`
    select artifact_id, id, event_type, event_filter, updated_at_ms from job
    where trigger_type = 'event' and enabled ${id === null ? sql`` : sql`and artifact_id = ${id}`}`;
}

export type Listener = Pick<
  JobRow,
  | 'id'
  | 'artifact_id'
  | 'creator_id'
  | 'event_type'
  | 'event_filter'
  | 'seen_seq'
  | 'seen_update_ms'
  | 'seen_views'
  | 'seen_dataset_seq'
  | 'updated_at_ms'
> & { readonly seen_at_ms: number };

/** Those of an artifact that is not in the trash, in one order, each held until the transaction ends. */
export function lockListeners(tx: Queries, artifactId: ArtifactId, types: readonly JobEventType[]) {
  return tx<Listener[]>`
    select j.id, j.artifact_id, j.creator_id, j.event_type, j.event_filter, j.seen_seq, j.seen_update_ms, j.seen_views,
      j.seen_dataset_seq, j.seen_at_ms, j.updated_at_ms
    from job j
    where j.artifact_id = ${artifactId} and j.trigger_type = 'event' and j.enabled and j.event_type = any(${[...types]}::text[])
      and exists (select from artifact a where a.id = j.artifact_id and a.deleted_at_ms is null)
    order by j.id for update of j`;
}

export interface ArtifactNow {
  readonly seq: number;
  readonly updated_at_ms: number;
  readonly views: number;
  readonly dataset_seq: number;
}

export async function readArtifactNow(tx: Queries, id: ArtifactId): Promise<ArtifactNow> {
  const [row] = await tx<ArtifactNow[]>`
    select a.seq, a.updated_at_ms, coalesce((select sum(v.views) from page_view v where v.artifact_id = a.id), 0)::bigint as views,
      coalesce((select f.seq from dataset_floor f where f.artifact_id = a.id), 0)::bigint as dataset_seq
    from artifact a where a.id = ${id}`;
  return row ?? { seq: 0, updated_at_ms: 0, views: 0, dataset_seq: 0 };
}

export interface DatasetEvent {
  readonly seq: number;
  readonly name: string;
  readonly is_deletion: boolean;
  readonly chain: readonly JobId[];
}

export function listDatasetEvents(tx: Queries, artifactId: ArtifactId, sinceSeq: number, toSeq: number, limit: number) {
  return tx<DatasetEvent[]>`
    select seq, name, is_deletion, chain from dataset_event
    where artifact_id = ${artifactId} and seq > ${sinceSeq} and seq <= ${toSeq} order by seq limit ${limit}`;
}

export interface Mark {
  readonly from_seq: number;
  readonly to_seq: number;
  readonly chain: readonly JobId[];
}

export function listMarks(tx: Queries, artifactId: ArtifactId, sinceSeq: number) {
  return tx<Mark[]>`
    select from_seq, to_seq, chain from job_mark where artifact_id = ${artifactId} and to_seq > ${sinceSeq} order by from_seq`;
}

/** Comments that were made since, however often they were changed afterwards. */
export function listNewComments(tx: Queries, artifactId: ArtifactId, sinceSeq: number, sinceMs: number, limit: number) {
  return tx<{ id: string; seq: number }[]>`
    select id, seq from comment
    where artifact_id = ${artifactId} and seq > ${sinceSeq} and created_at_ms > ${sinceMs} order by seq limit ${limit}`;
}

export async function noteSeen(
  tx: Queries,
  ids: readonly JobId[],
  { seq, updated_at_ms, views, dataset_seq }: ArtifactNow,
  nowMs: number,
): Promise<void> {
  await tx`
    update job set seen_seq = greatest(seen_seq, ${seq}), seen_update_ms = greatest(seen_update_ms, ${updated_at_ms}),
      seen_views = greatest(seen_views, ${views}), seen_dataset_seq = greatest(seen_dataset_seq, ${dataset_seq}),
      seen_at_ms = ${nowMs}
    where id = any(${ids as JobId[]})`;
}

/** Commits that do not set the job off, as it was then. */
export interface Unheard {
  readonly job: Heard;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/**
 * Not of jobs that were changed since, or that have not seen what was before. Those that are held are being looked at anyway, and nobody waits
 * for them, so that two statements which take several cannot wait for each other.
 */
export async function noteUnheard(sql: Queries, seen: readonly Unheard[]): Promise<void> {
  await sql`
    with noted as (
      select j.id, u.last_seq from job j join unnest(
        ${seen.map(({ job }) => job.id)}::text[], ${seen.map(({ job }) => job.updated_at_ms)}::bigint[],
        ${seen.map(({ firstSeq }) => firstSeq)}::bigint[], ${seen.map(({ lastSeq }) => lastSeq)}::bigint[]
      ) as u (id, updated_at_ms, first_seq, last_seq) on u.id = j.id
      where j.updated_at_ms = u.updated_at_ms and j.seen_seq >= u.first_seq - 1 and j.seen_seq < u.last_seq
      for update of j skip locked
    )
    update job set seen_seq = noted.last_seq from noted where job.id = noted.id`;
}

export interface Unseen {
  readonly artifact_id: ArtifactId;
  /** Changes of live data up to here are seen; null where something else is not. */
  readonly seen_seq: number | null;
}

/** Artifacts of which a job has not seen everything: nobody told, or the node that was told has died. */
export function listUnseen(sql: Queries, after: ArtifactId | null, rowsMax: number) {
  return sql<Unseen[]>`
    select j.artifact_id,
      case when bool_and(j.event_type in ('data.changed', 'comment.added')) then min(j.seen_seq) end as seen_seq
    from job j join artifact a on a.id = j.artifact_id
    where j.trigger_type = 'event' and j.enabled and a.deleted_at_ms is null and j.artifact_id > ${after ?? ''}
      and case j.event_type
        when 'artifact.updated' then a.updated_at_ms > j.seen_update_ms
        when 'artifact.viewed' then
          coalesce((select sum(v.views) from page_view v where v.artifact_id = a.id), 0) > j.seen_views
        when 'data.changed' then a.seq > j.seen_seq
          or exists (select from dataset_event e where e.artifact_id = a.id and e.seq > j.seen_dataset_seq)
        else a.seq > j.seen_seq
      end
    group by j.artifact_id order by j.artifact_id limit ${rowsMax}`;
}
