/** The SQL of datasets: `dataset_version` and `dataset_floor`. Rows are locked in the order artifact, `dataset_floor`, `account_usage`. */
import type { ArtifactId, JobId } from '../../../../protocol/core/ids.ts';
import type { DatasetColumn } from '../../../../protocol/data/datasets.ts';
import type { Queries } from '../../deps.ts';
import type { Holder } from '../../people/usage/rows.ts';
import type { Block, DatasetContent } from './encode.ts';

/** What lists show of a version. */
export interface VersionRow {
  readonly name: string;
  readonly version: number;
  readonly rows: number;
  readonly sizeBytes: number;
  readonly createdAtMs: number;
}

export interface StoredDataset extends VersionRow, DatasetContent {}

interface StoredRow extends VersionRow {
  readonly sha256: string;
  readonly cellBytes: number;
  readonly columns: string;
  readonly blocks: string;
}

/** A version, the newest where none is named. */
export async function readDataset(sql: Queries, id: ArtifactId, name: string, version?: number): Promise<StoredDataset | undefined> {
  const [row] = await sql<StoredRow[]>`
    select name, version, row_count as rows, size_bytes as "sizeBytes", encode(sha256, 'hex') as sha256, cell_bytes as "cellBytes",
      columns, blocks, created_at_ms as "createdAtMs"
    from dataset_version
    where artifact_id = ${id} and name = ${name} and (${version ?? null}::bigint is null or version = ${version ?? null}::bigint)
    order by version desc limit 1`;
  return row === undefined ? undefined : parsed(row);
}

function parsed({ columns, blocks, ...row }: StoredRow): StoredDataset {
  return { ...row, columns: JSON.parse(columns) as DatasetColumn[], blocks: JSON.parse(blocks) as Block[] };
}

/** Newest first. */
export function listVersions(sql: Queries, id: ArtifactId, name: string): Promise<VersionRow[]> {
  return sql<VersionRow[]>`
    select name, version, row_count as rows, size_bytes as "sizeBytes", created_at_ms as "createdAtMs"
    from dataset_version where artifact_id = ${id} and name = ${name} order by version desc`;
}

/** The newest version of each dataset after the name `after`, by name. */
export function listDatasets(sql: Queries, id: ArtifactId, after: string, limit: number): Promise<VersionRow[]> {
  return sql<VersionRow[]>`
    select distinct on (name) name, version, row_count as rows, size_bytes as "sizeBytes", created_at_ms as "createdAtMs"
    from dataset_version where artifact_id = ${id} and name > ${after} order by name, version desc limit ${limit}`;
}

export async function countDatasets(sql: Queries, id: ArtifactId): Promise<number> {
  const [row] = await sql<{ datasets: number }[]>`
    select count(distinct name)::int as datasets from dataset_version where artifact_id = ${id}`;
  return row?.datasets ?? 0;
}

/** For whom the artifact counts; undefined where it is gone or in the trash. It stays until the transaction ends. */
export async function holdArtifact(tx: Queries, id: ArtifactId): Promise<Holder | undefined> {
  const [row] = await tx<{ holder: Holder }[]>`
    select coalesce(owner_id, workspace_id) as holder from artifact where id = ${id} and deleted_at_ms is null for key share`;
  return row?.holder;
}

export interface Floor {
  /** New datasets begin above it. */
  readonly version: number;
  /** Of the last change. */
  readonly seq: number;
}

/** Locked until the transaction ends. */
export async function lockFloor(tx: Queries, id: ArtifactId): Promise<Floor> {
  const [row] = await tx<Floor[]>`
    insert into dataset_floor (artifact_id) values (${id})
    on conflict (artifact_id) do update set seq = dataset_floor.seq
    returning version, seq`;
  return row ?? { version: 0, seq: 0 };
}

export interface DatasetChanges extends Pick<Floor, 'seq'> {
  /** Of the last deletion. */
  readonly deletedSeq: number;
  /** The newest ones after the requested change, oldest first. */
  readonly versions: readonly (VersionRow & Pick<NewVersion, 'seq'>)[];
}

/** Null where there is no such artifact. */
export async function readDatasetChanges(sql: Queries, id: ArtifactId, sinceSeq: number, limit: number): Promise<DatasetChanges | null> {
  const [row] = await sql<{ seq: number; deletedSeq: number; versions: DatasetChanges['versions'] }[]>`
    select coalesce(f.seq, 0) as seq, coalesce(f.deleted_seq, 0) as "deletedSeq",
      coalesce((
        select json_agg(v order by v.seq)
        from (
          select name, version, row_count as rows, size_bytes as "sizeBytes", created_at_ms as "createdAtMs", seq from dataset_version
          where artifact_id = a.id and seq > ${sinceSeq}::bigint order by seq desc limit ${limit}
        ) as v
      ), '[]') as versions
    from artifact a left join dataset_floor f on f.artifact_id = a.id
    where a.id = ${id}`;
  return row ?? null;
}

export interface NewVersion {
  readonly name: string;
  readonly version: number;
  readonly seq: number;
  readonly createdAtMs: number;
}

/** Call it with the floor locked; `seq` is the next one. */
export async function insertVersion(tx: Queries, id: ArtifactId, { name, version, seq, createdAtMs }: NewVersion, content: DatasetContent) {
  await tx`
    insert into dataset_version (
      artifact_id, name, version, seq, sha256, size_bytes, row_count, columns, blocks, cell_bytes, created_at_ms)
    values (
      ${id}, ${name}, ${version}, ${seq}, decode(${content.sha256}, 'hex'), ${content.sizeBytes}, ${content.rows},
      ${JSON.stringify(content.columns)}, ${JSON.stringify(content.blocks)}, ${content.cellBytes}, ${createdAtMs})`;
  await tx`update dataset_floor set seq = ${seq} where artifact_id = ${id}`;
}

/** What event jobs hear of: call it with the floor locked, after the change with this `seq`. `chain`: of the run that has made it. */
export async function insertEvent(
  tx: Queries,
  id: ArtifactId,
  { seq, name, isDeletion }: { readonly seq: number; readonly name: string; readonly isDeletion: boolean },
  chain: readonly JobId[],
): Promise<void> {
  await tx`
    insert into dataset_event (artifact_id, seq, name, is_deletion, chain) values (${id}, ${seq}, ${name}, ${isDeletion}, ${[...chain]})`;
}

/** Deletes the versions that are no longer kept; answers their bytes. */
export async function deleteOldVersions(tx: Queries, id: ArtifactId, name: string, kept: number): Promise<number> {
  const [row] = await tx<{ bytes: number }[]>`
    with gone as (
      delete from dataset_version where artifact_id = ${id} and name = ${name} and version in (
        select version from dataset_version where artifact_id = ${id} and name = ${name} order by version desc offset ${kept})
      returning size_bytes
    )
    select coalesce(sum(size_bytes), 0)::bigint as bytes from gone`;
  return row?.bytes ?? 0;
}

/** Call it with the floor locked. Answers the bytes of the versions. */
export async function deleteDataset(tx: Queries, id: ArtifactId, name: string): Promise<number> {
  const [row] = await tx<{ bytes: number }[]>`
    with gone as (
      delete from dataset_version where artifact_id = ${id} and name = ${name} returning size_bytes, version
    ), raised as (
      update dataset_floor set version = greatest(version, (select coalesce(max(version), 0) from gone)), seq = seq + 1, deleted_seq = seq + 1
      where artifact_id = ${id}
    )
    select coalesce(sum(size_bytes), 0)::bigint as bytes from gone`;
  return row?.bytes ?? 0;
}
