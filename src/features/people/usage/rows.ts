/**
 * The SQL of what an account stores: `account_usage`, `storage_release`, `storage_reservation` and `artifact_content`.
 * Rows are locked in the order artifact, `account_usage`, `storage_reservation`, `storage_release`; the group commit takes no `account_usage`.
 */
import type { ArtifactId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Queries } from '../../deps.ts';
import type { Usage } from './rules.ts';

const HOUR_MS = 3_600_000;

/** For whom something counts: the account that owns the artifact, or the workspace of an artifact that nobody owns. */
export type Holder = UserId | WorkspaceId;

/**
 * What a person stores by all linked accounts, or a workspace; null where there is no such account or workspace. Reservations that have
 * expired do not count.
 */
export async function readUsage(sql: Queries, accountId: Holder, nowMs: number): Promise<Usage | null> {
  const [row] = await sql<Usage[]>`
    with holder as (
      select a.id, a.tier from account me join account a on a.person_id = me.person_id where me.id = ${accountId}
      union all
      select w.id, workspace_tier(w.id) from workspace w where w.id = ${accountId}
    )
    select
      (array_agg(a.tier order by array_position(array['team', 'pro', 'free'], a.tier)))[1] as tier,
      coalesce(sum(u.artifacts), 0)::int as artifacts, sum(r.bytes)::bigint as "removedBytes",
      (coalesce(sum(u.bytes), 0) - sum(r.bytes) - sum(s.bytes))::bigint as bytes
    from holder a left join account_usage u on u.account_id = a.id
    cross join lateral (
      select coalesce(sum(e.bytes), 0) as bytes from storage_release e where e.account_id = a.id
    ) r
    cross join lateral (
      select coalesce(sum(s.bytes), 0) as bytes from storage_reservation s where s.account_id = a.id and s.expires_at_ms <= ${nowMs}
    ) s
    having count(*) > 0`;
  return row ?? null;
}

/**
 * Makes changes of the counters of a person's accounts, or of a workspace, wait for each other until the transaction ends; of several holders in
 * one order. Read in a later statement.
 */
export async function lockUsage(tx: Queries, ...holders: readonly Holder[]): Promise<void> {
  await tx`
    insert into account_usage (account_id)
    select a.id from account me join account a on a.person_id = me.person_id where me.id = any(${[...holders]}::text[])
    union
    select w.id from workspace w where w.id = any(${[...holders]}::text[])
    order by id
    on conflict (account_id) do update set bytes = account_usage.bytes`;
}

/** Call it with the row locked. */
export async function addUsage(tx: Queries, accountId: Holder, bytes: number, artifacts = 0): Promise<void> {
  if (bytes === 0 && artifacts === 0) return;
  await tx`
    update account_usage set bytes = bytes + ${bytes}, artifacts = artifacts + ${artifacts} where account_id = ${accountId}`;
}

/** Counts bytes as removed: at once against the account's maximum, in a day against what it may have in the object store. */
export async function addRelease(tx: Queries, accountId: Holder, bytes: number, nowMs: number): Promise<void> {
  if (bytes === 0) return;
  await tx`
    insert into storage_release (account_id, hour_ms, bytes) values (${accountId}, ${nowMs - (nowMs % HOUR_MS)}, ${bytes})
    on conflict (account_id, hour_ms) do update set bytes = storage_release.bytes + excluded.bytes`;
}

/** Removed bytes of which every object that nothing names has been swept. */
export async function foldReleases(sql: Queries, releasedBeforeMs: number): Promise<number> {
  const folded = await sql`
    with old as (
      delete from storage_release where hour_ms + ${HOUR_MS} <= ${releasedBeforeMs} returning account_id, bytes
    ), sums as (
      select account_id, sum(bytes) as bytes from old group by account_id
    )
    update account_usage u set bytes = u.bytes - sums.bytes from sums where u.account_id = sums.account_id`;
  return folded.count;
}

export interface Reservation {
  readonly id: string;
  readonly accountId: Holder;
  readonly bytes: number;
  readonly expiresAtMs: number;
}

/** Makes a reservation or changes one. */
export async function putReservation(tx: Queries, { id, accountId, bytes, expiresAtMs }: Reservation): Promise<void> {
  await tx`
    insert into storage_reservation (id, account_id, bytes, expires_at_ms) values (${id}, ${accountId}, ${bytes}, ${expiresAtMs})
    on conflict (id) do update set bytes = excluded.bytes, expires_at_ms = excluded.expires_at_ms`;
}

/** Whose reservation it is and what it reserves; null where there is none. */
export async function readReservation(
  sql: Queries,
  id: string,
): Promise<{ readonly accountId: Holder; readonly bytes: number; readonly expiresAtMs: number } | null> {
  const [row] = await sql<{ accountId: Holder; bytes: number; expiresAtMs: number }[]>`
    select account_id as "accountId", bytes, expires_at_ms as "expiresAtMs" from storage_reservation where id = ${id}`;
  return row ?? null;
}

/** What it reserved; 0 where there is none of this account. */
export async function takeReservation(tx: Queries, id: string, accountId: Holder): Promise<number> {
  const [row] = await tx<{ bytes: number }[]>`
    delete from storage_reservation where id = ${id} and account_id = ${accountId} returning bytes`;
  return row?.bytes ?? 0;
}

export function expiredReservations(sql: Queries, nowMs: number, rowsMax: number): Promise<{ readonly id: string }[]> {
  return sql<{ id: string }[]>`select id from storage_reservation where expires_at_ms <= ${nowMs} limit ${rowsMax}`;
}

interface NamedContent {
  /** Lowercase hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** Bytes of the contents that an artifact does not have yet. */
export async function newContentBytes(sql: Queries, id: ArtifactId, contents: readonly NamedContent[]): Promise<number> {
  const { digests, sizes } = distinct(contents);
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(sum(u.size_bytes), 0)::bigint as bytes
    from unnest(${digests}::text[], ${sizes}::bigint[]) as u (hex, size_bytes)
    where not exists (select from artifact_content c where c.artifact_id = ${id} and c.sha256 = decode(u.hex, 'hex'))`;
  return row?.bytes ?? 0;
}

/** Counts the files of a new version, whose artifact is locked. Answers the bytes that they add. */
export async function countVersion(tx: Queries, id: ArtifactId, files: readonly NamedContent[]): Promise<number> {
  const { digests, sizes } = distinct(files);
  const [row] = await tx<{ bytes: number }[]>`
    with counted as (
      insert into artifact_content (artifact_id, sha256, size_bytes, versions)
      select ${id}, decode(hex, 'hex'), size_bytes, 1 from unnest(${digests}::text[], ${sizes}::bigint[]) as u (hex, size_bytes)
      on conflict (artifact_id, sha256) do update set versions = artifact_content.versions + 1
      returning size_bytes, versions
    )
    select coalesce(sum(size_bytes) filter (where versions = 1), 0)::bigint as bytes from counted`;
  return (row?.bytes ?? 0) + recordBytes(files.length);
}

/** Counts a version as deleted, before its rows are, in a transaction that holds the artifact. Answers the bytes that are free then. */
export async function uncountVersion(tx: Queries, id: ArtifactId, versionId: string): Promise<number> {
  const [files] = await tx<{ count: number }[]>`select count(*)::int as count from version_file where version_id = ${versionId}`;
  await tx`
    update artifact_content set versions = versions - 1
    where artifact_id = ${id} and sha256 in (select sha256 from version_file where version_id = ${versionId})`;
  const [row] = await tx<{ bytes: number }[]>`
    with gone as (delete from artifact_content where artifact_id = ${id} and versions = 0 returning size_bytes)
    select coalesce(sum(size_bytes), 0)::bigint as bytes from gone`;
  return (row?.bytes ?? 0) + recordBytes(files?.count ?? 0);
}

/** What versions count beside their contents. */
function recordBytes(files: number): number {
  return files * LIMITS.versionFileRecordBytes;
}

export async function countVersions(tx: Queries, id: ArtifactId): Promise<{ readonly versions: number; readonly drafts: number }> {
  const [row] = await tx<{ versions: number; drafts: number }[]>`
    select count(*)::int as versions, (count(*) filter (where is_draft))::int as drafts from artifact_version where artifact_id = ${id}`;
  return row ?? { versions: 0, drafts: 0 };
}

/** What one artifact counts, read from what it has. */
export async function artifactBytes(tx: Queries, id: ArtifactId): Promise<number> {
  const [row] = await tx<{ bytes: number }[]>`
    select (
      (select coalesce(sum(size_bytes), 0) from artifact_content where artifact_id = ${id})
      + (select count(*) * ${LIMITS.versionFileRecordBytes}::bigint from artifact_version v join version_file f on f.version_id = v.id
         where v.artifact_id = ${id})
      + (select coalesce(sum(size_bytes), 0) from blob where artifact_id = ${id})
      + (select coalesce(sum(size_bytes), 0) from dataset_version where artifact_id = ${id}))::bigint as bytes`;
  return row?.bytes ?? 0;
}

/** For whom an artifact counts; null where it is gone. */
export async function holderOf(sql: Queries, id: ArtifactId): Promise<Holder | null> {
  const [row] = await sql<{ holder: Holder | null }[]>`select coalesce(owner_id, workspace_id) as holder from artifact where id = ${id}`;
  return row?.holder ?? null;
}

export interface Recount {
  /** As the counters have it. */
  readonly bytes: number;
  readonly artifacts: number;
  /** As it is. */
  readonly trueBytes: number;
  readonly trueArtifacts: number;
}

/** Compares the counters with what they count, in one statement, which sees one moment. Call it with the row locked. */
export async function recount(tx: Queries, accountId: Holder): Promise<Recount | null> {
  const [row] = await tx<Recount[]>`
    with own as materialized (
      select id from artifact where owner_id = ${accountId} or (owner_id is null and workspace_id = ${accountId})),
    file as materialized (
      select v.artifact_id, f.sha256, f.size_bytes
      from own join artifact_version v on v.artifact_id = own.id join version_file f on f.version_id = v.id
    )
    select
      (u.bytes - (select coalesce(sum(bytes), 0) from storage_release where account_id = u.account_id))::bigint as bytes,
      u.artifacts,
      ((select coalesce(sum(size_bytes), 0) from (select distinct artifact_id, sha256, size_bytes from file) as content)
        + (select count(*) * ${LIMITS.versionFileRecordBytes}::bigint from file)
        + (select coalesce(sum(b.size_bytes), 0) from own join blob b on b.artifact_id = own.id)
        + (select coalesce(sum(d.size_bytes), 0) from own join dataset_version d on d.artifact_id = own.id)
        + (select coalesce(sum(size_bytes), 0) from asset_file where owner_id = u.account_id)
        + (select coalesce(sum(size_bytes), 0) from asset_file where workspace_id = u.account_id)
        + (select coalesce(sum(p.counted_bytes), 0)
           from publish_upload l join publish_upload_part p on p.upload_id = l.id left join service_principal s on s.id = l.agent_id
           where coalesce(l.user_id, s.workspace_id) = u.account_id)
        + (select coalesce(sum(bytes), 0) from storage_reservation where account_id = u.account_id))::bigint as "trueBytes",
      (select count(*)::int from own) as "trueArtifacts"
    from account_usage u where u.account_id = ${accountId}`;
  return row ?? null;
}

export async function correctUsage(tx: Queries, accountId: Holder, { bytes, artifacts, trueBytes, trueArtifacts }: Recount): Promise<void> {
  await addUsage(tx, accountId, trueBytes - bytes, trueArtifacts - artifacts);
}

/** Accounts and workspaces after `after`, in the order of their ids. */
export async function listHolders(sql: Queries, after: string, rowsMax: number): Promise<Holder[]> {
  const rows = await sql<{ id: Holder }[]>`
    select id from (
      (select id from account where id > ${after} order by id limit ${rowsMax})
      union all (select id from workspace where id > ${after} order by id limit ${rowsMax})
    ) as holder order by id limit ${rowsMax}`;
  return rows.map(({ id }) => id);
}

function distinct(contents: readonly NamedContent[]): { readonly digests: string[]; readonly sizes: number[] } {
  const sizes = new Map(contents.map(({ sha256, sizeBytes }) => [sha256, sizeBytes]));
  // Sorted, so that two writers take their row locks in one order.
  const digests = [...sizes.keys()].sort();
  return { digests, sizes: digests.map((digest) => sizes.get(digest) ?? 0) };
}
