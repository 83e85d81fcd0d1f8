/** The SQL of `thumbnail`. */
import type { ArtifactId, VersionId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

/** Asks for pictures of what is live of these artifacts, where nobody has asked for it before. */
export async function askFor(sql: Queries, ids: readonly ArtifactId[], nowMs: number): Promise<void> {
  await sql`
    insert into thumbnail (artifact_id, version_id, holder, asked_at_ms, due_at_ms)
    select a.id, a.live_version_id, coalesce(a.owner_id, a.workspace_id), ${nowMs}, ${nowMs}
    from artifact a
    where a.id = any(${ids as ArtifactId[]}) and a.deleted_at_ms is null and a.live_version_id is not null
    order by a.id
    on conflict (artifact_id) do update set
      version_id = excluded.version_id, holder = excluded.holder, asked_at_ms = excluded.asked_at_ms, attempts = 0,
      due_at_ms = excluded.due_at_ms, sha256 = null
    where thumbnail.version_id <> excluded.version_id`;
}

export interface Claimed {
  readonly artifactId: ArtifactId;
  readonly versionId: VersionId;
  /** Including the one that begins now. */
  readonly attempts: number;
}

/**
 * Leases the next picture to make until `untilMs`: that of the holder whose last turn is the longest ago, so that who has many pages delays
 * nobody who has one. Null when none is due.
 */
export async function takeNext(sql: Queries, { nowMs, untilMs }: { nowMs: number; untilMs: number }): Promise<Claimed | null> {
  const [row] = await sql<Claimed[]>`
    update thumbnail set attempts = attempts + 1, tried_at_ms = ${nowMs}, due_at_ms = ${untilMs}
    where artifact_id = (
      select w.artifact_id from thumbnail w
      where w.due_at_ms <= ${nowMs}
      order by (select max(h.tried_at_ms) from thumbnail h where h.holder = w.holder) nulls first, w.asked_at_ms, w.artifact_id
      limit 1 for update of w skip locked
    )
    returning artifact_id as "artifactId", version_id as "versionId", attempts`;
  return row ?? null;
}

/** The slug under which the version is live; null where it is no longer. */
export async function liveSlug(sql: Queries, { artifactId, versionId }: Claimed): Promise<string | null> {
  const [row] = await sql<{ slug: string }[]>`
    select slug from artifact where id = ${artifactId} and live_version_id = ${versionId} and deleted_at_ms is null`;
  return row?.slug ?? null;
}

/** Whoever looks at the artifact again asks for what is live then. */
export async function forget(sql: Queries, { artifactId, versionId }: Claimed): Promise<void> {
  await sql`delete from thumbnail where artifact_id = ${artifactId} and version_id = ${versionId}`;
}

/** In a transaction that holds the object. `sha256`: lowercase hex. */
export async function writePicture(tx: Queries, { artifactId, versionId }: Claimed, sha256: string): Promise<void> {
  await tx`
    update thumbnail set sha256 = decode(${sha256}, 'hex'), due_at_ms = null
    where artifact_id = ${artifactId} and version_id = ${versionId}`;
}

/** `dueAtMs` null: no further attempt. */
export async function writeFailure(sql: Queries, { artifactId, versionId, attempts }: Claimed, dueAtMs: number | null): Promise<void> {
  await sql`
    update thumbnail set due_at_ms = ${dueAtMs}
    where artifact_id = ${artifactId} and version_id = ${versionId} and attempts = ${attempts} and sha256 is null`;
}

/** Gives back an attempt that ended for no fault of the page. */
export async function giveBack(sql: Queries, { artifactId, versionId, attempts }: Claimed, nowMs: number): Promise<void> {
  await sql`
    update thumbnail set attempts = attempts - 1, due_at_ms = ${nowMs}
    where artifact_id = ${artifactId} and version_id = ${versionId} and attempts = ${attempts} and sha256 is null`;
}

/** When the next attempt is due, Unix ms; null when none is. */
export async function nextDueMs(sql: Queries): Promise<number | null> {
  const [row] = await sql<{ at: number | null }[]>`select min(due_at_ms) as at from thumbnail where due_at_ms is not null`;
  return row?.at ?? null;
}

export interface Shown {
  readonly versionId: VersionId;
  /** Of the picture, lowercase hex; null while it is not made. */
  readonly sha256: string | null;
}

/** What is asked for or made of the version that is live; null where nobody has asked for it. */
export async function readThumbnail(sql: Queries, id: ArtifactId): Promise<Shown | null> {
  const [row] = await sql<Shown[]>`
    select t.version_id as "versionId", encode(t.sha256, 'hex') as sha256
    from thumbnail t join artifact a on a.id = t.artifact_id and a.live_version_id = t.version_id
    where t.artifact_id = ${id}`;
  return row ?? null;
}
