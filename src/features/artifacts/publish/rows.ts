/** The SQL of uploads (`publish_upload`, `publish_upload_part`) and of the stored contents that publishing names (`stored_object`). */
import type { AgentId, UploadId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { Holder } from '../../people/usage/rows.ts';

/** An account or an agent: who sends uploads and publishes them. */
export type SenderId = UserId | AgentId;

/** Makes the publishes of one account or agent wait for each other until the transaction ends, so that they are dated in their order. */
export async function lockPublishing(tx: Queries, sender: SenderId): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`publish:${sender}`}, 0))`;
}

export interface NewUpload {
  readonly id: UploadId;
  readonly userId: UserId | null;
  readonly agentId: AgentId | null;
  readonly nowMs: number;
  readonly expiresAtMs: number;
}

export async function insertUpload(tx: Queries, upload: NewUpload): Promise<void> {
  await tx`
    insert into publish_upload (id, user_id, agent_id, created_at_ms, expires_at_ms)
    values (${upload.id}, ${upload.userId}, ${upload.agentId}, ${upload.nowMs}, ${upload.expiresAtMs})`;
}

export async function isUploadOpen(sql: Queries, sender: SenderId, id: UploadId, nowMs: number): Promise<boolean> {
  const [row] = await sql`
    select 1 from publish_upload where id = ${id} and coalesce(user_id, agent_id) = ${sender} and expires_at_ms > ${nowMs}`;
  return row !== undefined;
}

/** How many uploads an account or agent has open, and when the first of them expires. */
export async function countOpenUploads(
  tx: Queries,
  sender: SenderId,
  nowMs: number,
): Promise<{ readonly uploads: number; readonly firstExpiryMs: number | null }> {
  const [row] = await tx<{ uploads: number; first_expiry_ms: number | null }[]>`
    select count(*)::int as uploads, min(expires_at_ms) as first_expiry_ms
    from publish_upload where (user_id = ${sender} or agent_id = ${sender}) and expires_at_ms > ${nowMs}`;
  return { uploads: row?.uploads ?? 0, firstExpiryMs: row?.first_expiry_ms ?? null };
}

/** Answers the bytes that its parts counted. */
export async function deleteUpload(tx: Queries, id: UploadId): Promise<number> {
  // A content that is being added to it comes before this or finds it gone.
  await lockUpload(tx, id);
  const [row] = await tx<{ bytes: number }[]>`
    with gone as (delete from publish_upload_part where upload_id = ${id} returning counted_bytes)
    select coalesce(sum(counted_bytes), 0)::bigint as bytes from gone`;
  await tx`delete from publish_upload where id = ${id}`;
  return row?.bytes ?? 0;
}

/** False where the upload has this content already. */
export async function insertPart(sql: Queries, id: UploadId, sha256: string, countedBytes: number): Promise<boolean> {
  const inserted = await sql`
    insert into publish_upload_part (upload_id, sha256, counted_bytes) values (${id}, decode(${sha256}, 'hex'), ${countedBytes})
    on conflict (upload_id, sha256) do nothing`;
  return inserted.count > 0;
}

export async function hasPart(sql: Queries, id: UploadId, sha256: string): Promise<boolean> {
  const [row] = await sql`select 1 from publish_upload_part where upload_id = ${id} and sha256 = decode(${sha256}, 'hex')`;
  return row !== undefined;
}

/** What an upload holds beside the content `sha256`. */
export async function countOtherParts(
  sql: Queries,
  id: UploadId,
  sha256: string,
): Promise<{ readonly parts: number; readonly bytes: number }> {
  const [row] = await sql<{ parts: number; bytes: number }[]>`
    select count(*)::int as parts, coalesce(sum(o.size_bytes), 0)::bigint as bytes
    from publish_upload_part p join stored_object o on o.sha256 = p.sha256
    where p.upload_id = ${id} and p.sha256 <> decode(${sha256}, 'hex')`;
  return row ?? { parts: 0, bytes: 0 };
}

export interface TakeOver {
  readonly id: UploadId;
  readonly sender: SenderId;
  readonly digests: readonly string[];
  readonly nowMs: number;
}

/**
 * Counts as sent in this upload what other open uploads of the account hold of `digests`. Each content counts in the newest upload that holds it,
 * which expires last. Answers by how much the account's bytes change. The account's counters are locked.
 */
export async function takeOverParts(tx: Queries, { id, sender, digests, nowMs }: TakeOver): Promise<number> {
  const [row] = await tx<{ bytes: number }[]>`
    with earlier as (
      select p.upload_id, p.sha256, p.counted_bytes
      from publish_upload u join publish_upload_part p on p.upload_id = u.id
      where (u.user_id = ${sender} or u.agent_id = ${sender}) and u.expires_at_ms > ${nowMs} and u.id <> ${id}
        and p.sha256 in (select decode(hex, 'hex') from unnest(${[...digests]}::text[]) as d (hex))
    ), uncounted as (
      update publish_upload_part p set counted_bytes = 0 from earlier e where p.upload_id = e.upload_id and p.sha256 = e.sha256
    ), taken as (
      insert into publish_upload_part (upload_id, sha256, counted_bytes)
      select distinct ${id}, e.sha256, o.size_bytes from earlier e join stored_object o on o.sha256 = e.sha256
      returning counted_bytes
    )
    select ((select coalesce(sum(counted_bytes), 0) from taken) - (select coalesce(sum(counted_bytes), 0) from earlier))::bigint as bytes`;
  return row?.bytes ?? 0;
}

/** Makes or renews the rows of contents. `sizes`: bytes of each content by its digest. */
export async function stampObjects(sql: Queries, sizes: ReadonlyMap<string, number>, nowMs: number): Promise<void> {
  // Sorted, so that two publishes of the same contents take their row locks in one order.
  const rows = [...sizes].sort(([a], [b]) => (a < b ? -1 : 1));
  await sql`
    insert into stored_object (sha256, size_bytes, stored_at_ms)
    select decode(hex, 'hex'), size_bytes, ${nowMs}
    from unnest(${rows.map(([hex]) => hex)}::text[], ${rows.map(([, bytes]) => bytes)}::bigint[]) as u (hex, size_bytes)
    on conflict (sha256) do update set stored_at_ms = greatest(stored_object.stored_at_ms, excluded.stored_at_ms)`;
}

/**
 * Sizes of the contents that the caller has proved to have: sent in this upload, or part of a version that they may edit.
 * `owns`: workspaces whose own artifacts they may edit. A digest alone must not open somebody else's private file.
 */
export async function possessedSizes(
  sql: Queries,
  { userId, owns }: { readonly userId: UserId | null; readonly owns: readonly WorkspaceId[] },
  uploadId: UploadId | null,
  digests: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql<{ hex: string; size_bytes: number }[]>`
    with mine as materialized (
      select p.id from account me join account p on p.person_id = me.person_id where me.id = ${userId})
    select encode(o.sha256, 'hex') as hex, o.size_bytes
    from stored_object o
    where o.sha256 in (select decode(hex, 'hex') from unnest(${[...digests]}::text[]) as u (hex))
      and (
        exists (select 1 from publish_upload_part p where p.upload_id = ${uploadId} and p.sha256 = o.sha256)
        or exists (
          select 1 from version_file f
          join artifact_version v on v.id = f.version_id
          join artifact a on a.id = v.artifact_id
          where f.sha256 = o.sha256 and (
            a.owner_id in (select id from mine)
            or (a.owner_id is null and a.workspace_id = any(${[...owns]}))
            or exists (
              select 1 from collaborator c where c.artifact_id = a.id and c.user_id in (select id from mine) and c.role = 'editor'))))`;
  return new Map(rows.map((row) => [row.hex, row.size_bytes]));
}

/** Keeps the sweep from removing these objects until the transaction ends, when rows name them. False when one is gone already. */
export async function holdObjects(tx: Queries, digests: ReadonlySet<string>): Promise<boolean> {
  const rows = await tx`
    select 1 from stored_object
    where sha256 in (select decode(hex, 'hex') from unnest(${[...digests]}::text[]) as u (hex))
    for key share`;
  return rows.length === digests.size;
}

/** `holder`: for whom its contents count. */
export function listExpiredUploads(sql: Queries, nowMs: number): Promise<{ readonly id: UploadId; readonly holder: Holder }[]> {
  return sql<{ id: UploadId; holder: Holder }[]>`
    select u.id, coalesce(u.user_id, p.workspace_id) as holder
    from publish_upload u left join service_principal p on p.id = u.agent_id
    where u.expires_at_ms <= ${nowMs} order by u.expires_at_ms, u.id`;
}

/** The upload, locked until the transaction ends; false where it is gone. */
export async function lockUpload(tx: Queries, id: UploadId): Promise<boolean> {
  const [row] = await tx`select 1 from publish_upload where id = ${id} for update`;
  return row !== undefined;
}
