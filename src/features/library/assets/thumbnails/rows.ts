/** The SQL of `asset_thumbnail`, which is the queue of pictures that are to be made. */
import type { BlobId } from '../../../../../protocol/core/ids.ts';
import type { Queries } from '../../../deps.ts';
import type { Holder } from '../../../people/usage/rows.ts';
import { BEGUN_MAX, VIDEO_TYPES } from './rules.ts';

export async function askForPicture(tx: Queries, id: BlobId, holder: Holder, nowMs: number): Promise<void> {
  await tx`
    insert into asset_thumbnail (file_id, holder, asked_at_ms, due_at_ms) values (${id}, ${holder}, ${nowMs}, ${nowMs})
    on conflict do nothing`;
}

export interface Claimed {
  readonly fileId: BlobId;
  /** Including the one that begins now. */
  readonly attempts: number;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Lowercase hex. */
  readonly sha256: string;
}

/** What can be pictured here beside images and PDFs. */
export interface Drawable {
  readonly videos: boolean;
}

/** SQL condition: the picture `w` can be made here. */
function isDrawable(sql: Queries, { videos }: Drawable) {
  if (videos) return sql`true`;
  return sql`not exists (select from asset_file v where v.id = w.file_id and v.mime_type = any(${VIDEO_TYPES}::text[]))`;
}

type Lease = Drawable & { readonly nowMs: number; readonly untilMs: number };

/** Leases the next picture until `untilMs`: that of the holder whose last turn is the longest ago. Null when none is due. */
export async function takeNext(sql: Queries, { nowMs, untilMs, videos }: Lease): Promise<Claimed | null> {
  const [row] = await sql<Claimed[]>`
    with taken as (
      update asset_thumbnail set attempts = attempts + 1, tried_at_ms = ${nowMs}, due_at_ms = ${untilMs}
      where file_id = (
        select w.file_id from asset_thumbnail w
        where w.due_at_ms <= ${nowMs} and w.attempts < ${BEGUN_MAX} and ${isDrawable(sql, { videos })}
        order by (select max(h.tried_at_ms) from asset_thumbnail h where h.holder = w.holder) nulls first, w.asked_at_ms, w.file_id
        limit 1 for update of w skip locked
      )
      returning file_id, attempts
    )
    select f.id as "fileId", t.attempts, f.mime_type as "mimeType", f.size_bytes as "sizeBytes", encode(f.sha256, 'hex') as sha256
    from taken t join asset_file f on f.id = t.file_id`;
  return row ?? null;
}

/** In a transaction that holds the object. `sha256`: lowercase hex. */
export async function writePicture(tx: Queries, { fileId }: Claimed, sha256: string): Promise<void> {
  await tx`update asset_thumbnail set sha256 = decode(${sha256}, 'hex'), due_at_ms = null where file_id = ${fileId}`;
}

/** `dueAtMs` null: no further attempt. */
export async function writeFailure(sql: Queries, { fileId, attempts }: Claimed, dueAtMs: number | null): Promise<void> {
  await sql`
    update asset_thumbnail set due_at_ms = ${dueAtMs} where file_id = ${fileId} and attempts = ${attempts} and sha256 is null`;
}

/** Gives back an attempt that ended for no fault of the file. */
export async function giveBack(sql: Queries, { fileId, attempts }: Claimed, nowMs: number): Promise<void> {
  await sql`
    update asset_thumbnail set attempts = attempts - 1, due_at_ms = ${nowMs}
    where file_id = ${fileId} and attempts = ${attempts} and sha256 is null`;
}

/** When the next attempt that can be made here is due, Unix ms; null when none is. */
export async function nextDueMs(sql: Queries, drawable: Drawable): Promise<number | null> {
  const [row] = await sql<{ at: number | null }[]>`
    select min(w.due_at_ms) as at from asset_thumbnail w
    where w.due_at_ms is not null and w.attempts < ${BEGUN_MAX} and ${isDrawable(sql, drawable)}`;
  return row?.at ?? null;
}
