/** Versions of a document: complete states, either made by compaction and thinned out over time, or requested and kept. */
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type DocumentLog, readLog } from './document-log.ts';
import type { DocumentThread } from './document-thread.ts';
import { readSlices, SLICE_BYTES, type Staged, stagedValue, withStaged } from './slices.ts';
import type { Queries, Sql } from './sql.ts';

export interface DocumentVersion {
  /** The last change that the version includes. */
  readonly seq: number;
  readonly label: string | null;
  readonly createdBy: string | null;
  readonly automatic: boolean;
  readonly sizeBytes: number;
  readonly createdAtMs: number;
}

interface Where {
  readonly artifactId: ArtifactId;
  readonly name: string;
}

const DAY_MS = 24 * 3600 * 1000;

/** Newest first, and only those before `beforeSeq` if given. Empty for a document that is not stored. */
export function listDocumentVersions(
  sql: Queries,
  { artifactId, name }: Where,
  page: { readonly beforeSeq: number | undefined; readonly limit: number },
): Promise<DocumentVersion[]> {
  return sql<DocumentVersion[]>`
    select ${versionColumns(sql)}
    from document_version v join document d on d.artifact_id = v.artifact_id and d.name = v.name and v.seq >= d.created_seq
    where v.artifact_id = ${artifactId} and v.name = ${name} and v.seq < ${page.beforeSeq ?? Number.MAX_SAFE_INTEGER}
    order by v.seq desc limit ${page.limit}`;
}

/** The total number of versions on all pages of `listDocumentVersions`. */
export async function countDocumentVersions(sql: Queries, { artifactId, name }: Where): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total
    from document_version v join document d on d.artifact_id = v.artifact_id and d.name = v.name and v.seq >= d.created_seq
    where v.artifact_id = ${artifactId} and v.name = ${name}`;
  return row?.total ?? 0;
}

/** The document as one update, as it was when `seq` was the last change. Throws VERSION_NOT_FOUND. */
export async function readDocumentState(sql: Sql, thread: Pick<DocumentThread, 'merge'>, where: Where, seq: number): Promise<Uint8Array> {
  const { snapshot, data } = await readDocumentAt(sql, where, seq);
  return snapshot !== null && data.byteLength === 0 ? snapshot : thread.merge(snapshot, data, where.artifactId);
}

/** The updates that `readDocumentState` merges: those of a version, or a snapshot and the updates after it. Throws VERSION_NOT_FOUND. */
export async function readDocumentAt(sql: Sql, where: Where, seq: number): Promise<Pick<DocumentLog, 'snapshot' | 'data'>> {
  const { artifactId, name } = where;
  const version = await readVersion(sql, where, seq);
  if (version !== undefined) return { snapshot: version, data: new Uint8Array() };
  const [artifact] = await sql<{ seq: number }[]>`select seq from artifact where id = ${artifactId}`;
  const log = seq > (artifact?.seq ?? 0) ? undefined : await readLog(sql, artifactId, name, seq);
  if (log === undefined) throw new Failure('VERSION_NOT_FOUND', { param: 'seq' });
  return log;
}

/** The state of a version; undefined if there is no such version, or not any more. */
async function readVersion(sql: Sql, { artifactId, name }: Where, seq: number): Promise<Uint8Array | undefined> {
  const [version] = await sql<{ bytes: number; begun: Buffer }[]>`
    select octet_length(v.state) as bytes, substring(v.state from 1 for ${SLICE_BYTES}) as begun from document_version v
    join document d on d.artifact_id = v.artifact_id and d.name = v.name and v.seq >= d.created_seq
    where v.artifact_id = ${artifactId} and v.name = ${name} and v.seq = ${seq}`;
  if (version === undefined) return undefined;
  const slice = (from: number, count: number) => sql<{ data: Buffer }[]>`
    select substring(state from ${from}::integer for ${count}) as data
    from document_version where artifact_id = ${artifactId} and name = ${name} and seq = ${seq}`;
  return readSlices(version.bytes, version.begun, slice);
}

/** Records a version of the committed state. Throws DOCUMENT_NOT_FOUND, DOCUMENT_VERSIONS_FULL. */
export async function makeDocumentVersion(
  sql: Sql,
  thread: Pick<DocumentThread, 'merge'>,
  where: Where,
  made: { readonly label: string | null; readonly by: string | null; readonly nowMs: number },
): Promise<DocumentVersion> {
  const log = await readLog(sql, where.artifactId, where.name);
  if (log === undefined) throw new Failure('DOCUMENT_NOT_FOUND', { param: 'doc' });
  const state = await thread.merge(log.snapshot, log.data, where.artifactId);
  const { artifactId, name } = where;
  const store = async (tx: Queries, staged: Staged): Promise<DocumentVersion> => {
    // Serializes concurrent requests, so that each one counts the versions of the others.
    await tx`select pg_advisory_xact_lock(hashtextextended(${`${artifactId}/${name}`}, 0))`;
    await admitVersion(tx, log, state.byteLength);
    const [version] = await tx<DocumentVersion[]>`
      insert into document_version as v (artifact_id, name, seq, state, label, created_by, automatic, created_at_ms)
      values (${artifactId}, ${name}, ${log.seq}, ${stagedValue(tx, staged)}, ${made.label}, ${made.by}, false, ${made.nowMs})
      on conflict (artifact_id, name, seq) do update set label = excluded.label, created_by = excluded.created_by, automatic = false
      returning ${versionColumns(tx)}`;
    if (version === undefined) throw new Error('a version that was written was not answered');
    return version;
  };
  return withStaged(sql, state, (staged) => sql.begin((tx) => store(tx, staged)) as Promise<DocumentVersion>);
}

/** False if there is no such version. */
export async function deleteDocumentVersion(sql: Queries, { artifactId, name }: Where, seq: number): Promise<boolean> {
  return (await sql`delete from document_version where artifact_id = ${artifactId} and name = ${name} and seq = ${seq}`).count > 0;
}

/** Records the stored snapshot at `log.seq` as a version, unless the last version is too recent, and removes old versions beyond the limit. */
export async function keepAutomaticVersion(tx: Queries, log: DocumentLog, nowMs: number): Promise<void> {
  const { artifactId, name, seq, createdSeq } = log;
  const kept = await tx`
    insert into document_version (artifact_id, name, seq, state, label, created_by, automatic, created_at_ms)
    select artifact_id, name, seq, data, null, null, true, ${nowMs} from document_snapshot
    where artifact_id = ${artifactId} and name = ${name} and seq = ${seq} and not exists (
      select 1 from document_version v
      where v.artifact_id = ${artifactId} and v.name = ${name} and v.seq >= ${createdSeq} and v.created_at_ms > ${nowMs - LIMITS.documentVersionGapMs}
    )
    on conflict do nothing`;
  if (kept.count > 0) await thinOut(tx, log, nowMs);
}

/** Keeps all versions of the last day and then one a day, within the limits of number and size. Requested versions are never removed. */
async function thinOut(tx: Queries, { artifactId, name, createdSeq }: DocumentLog, nowMs: number): Promise<void> {
  await tx`
    delete from document_version v using (
      select seq,
        row_number() over (partition by case when created_at_ms > ${nowMs - DAY_MS} then seq else -1 - created_at_ms / ${DAY_MS} end order by seq desc) as of_day,
        row_number() over (order by seq desc) as nth,
        sum(octet_length(state)) over (order by seq desc) as bytes
      from document_version where artifact_id = ${artifactId} and name = ${name} and automatic
    ) as a
    where v.artifact_id = ${artifactId} and v.name = ${name} and v.seq = a.seq and (
      v.seq < ${createdSeq} or a.of_day > 1 or a.nth > ${LIMITS.documentVersionsMax}
      or (a.nth > 1 and a.bytes > ${LIMITS.documentVersionsBytesMax})
    )`;
}

async function admitVersion(tx: Queries, { artifactId, name, seq, createdSeq }: DocumentLog, bytes: number): Promise<void> {
  const [sum] = await tx<{ versions: number; bytes: number }[]>`
    select count(*) as versions, coalesce(sum(octet_length(state)), 0) as bytes from document_version
    where artifact_id = ${artifactId} and name = ${name} and not automatic and seq >= ${createdSeq} and seq <> ${seq}`;
  if (sum === undefined) return;
  if (sum.versions >= LIMITS.documentVersionsMax || Number(sum.bytes) + bytes > LIMITS.documentVersionsBytesMax) {
    throw new Failure('DOCUMENT_VERSIONS_FULL');
  }
}

/** Columns of `document_version v` for a DocumentVersion. */
function versionColumns(sql: Queries) {
  return sql`v.seq, v.label, v.created_by as "createdBy", v.automatic, octet_length(v.state) as "sizeBytes", v.created_at_ms as "createdAtMs"`;
}
