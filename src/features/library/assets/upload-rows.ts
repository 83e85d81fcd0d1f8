/** The SQL of `asset_upload` and `asset_upload_piece`. `account_usage` is locked before either. */
import type { BlobId, UploadId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { Holder } from '../../people/usage/rows.ts';
import { type Library, ownership, within } from './library.ts';

export interface UploadRow {
  readonly id: UploadId;
  readonly holder: Holder;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Lowercase hex. */
  readonly sha256: string | null;
  readonly offsetBytes: number;
  readonly fileId: BlobId | null;
  /** Who has begun it, and will have stored the file. */
  readonly createdBy: string;
  readonly expiresAtMs: number;
}

function uploads(sql: Queries) {
  return sql`
    select l.id, l.holder, l.filename, l.mime_type as "mimeType", l.size_bytes as "sizeBytes", encode(l.sha256, 'hex') as sha256,
      l.offset_bytes as "offsetBytes", l.file_id as "fileId", l.created_by as "createdBy", l.expires_at_ms as "expiresAtMs"
    from asset_upload l`;
}

/** SQL condition: the caller may see and cancel it, and it has not expired. */
function isOpen(sql: Queries, library: Library, nowMs: number) {
  const kept = library.keeps === null ? sql`true` : sql`l.created_by = any(${[...library.keeps]}::text[])`;
  return sql`${within(sql, library)} and ${kept} and l.expires_at_ms > ${nowMs}`;
}

export async function findUpload(sql: Queries, library: Library, id: UploadId, nowMs: number): Promise<UploadRow | null> {
  const [row] = await sql<UploadRow[]>`${uploads(sql)} where l.id = ${id} and ${isOpen(sql, library, nowMs)}`;
  return row ?? null;
}

/** One that the caller has begun. `locked`: until the transaction ends. */
export async function findBegun(sql: Queries, library: Library, id: UploadId, nowMs: number, locked: boolean): Promise<UploadRow | null> {
  const lock = locked ? sql`for update of l` : sql``;
  const [row] = await sql<UploadRow[]>`
    ${uploads(sql)} where l.id = ${id} and l.created_by = any(${[...library.own]}::text[]) and ${isOpen(sql, library, nowMs)} ${lock}`;
  return row ?? null;
}

export type NewUpload = Pick<UploadRow, 'id' | 'filename' | 'mimeType' | 'sizeBytes' | 'sha256' | 'expiresAtMs'>;

/** The caller's newest unfinished upload of the same file. */
export async function findSame(tx: Queries, library: Library, file: Omit<NewUpload, 'id' | 'expiresAtMs'>, nowMs: number) {
  if (file.sha256 === null) return null;
  const [row] = await tx<UploadRow[]>`
    ${uploads(tx)} where ${isOpen(tx, library, nowMs)} and l.created_by = ${library.creator} and l.file_id is null and l.sha256 = decode(${file.sha256}, 'hex')
      and l.size_bytes = ${file.sizeBytes} and l.filename = ${file.filename} and l.mime_type = ${file.mimeType}
    order by l.created_at_ms desc limit 1`;
  return row ?? null;
}

/** Unfinished uploads of a person or an agent. */
export async function countUnfinished(tx: Queries, creator: string, nowMs: number): Promise<number> {
  const [row] = await tx<{ uploads: number }[]>`
    select count(*)::int as uploads from asset_upload where created_by = ${creator} and file_id is null and expires_at_ms > ${nowMs}`;
  return row?.uploads ?? 0;
}

export async function insertUpload(tx: Queries, library: Library, upload: NewUpload, nowMs: number): Promise<void> {
  const { id, filename, mimeType, sizeBytes, sha256, expiresAtMs } = upload;
  await tx`
    insert into asset_upload (
      owner_id, workspace_id, id, holder, filename, mime_type, size_bytes, sha256, created_by, created_at_ms, expires_at_ms
    ) values (
      ${ownership(tx, library)}, ${id}, ${library.holder}, ${filename}, ${mimeType}, ${sizeBytes}, decode(${sha256}, 'hex'), ${library.creator},
      ${nowMs}, ${expiresAtMs}
    )`;
}

/** Whether nobody else stores something of it until `untilMs`, and it still has this offset. */
export async function claimUpload(sql: Queries, { id, offsetBytes }: UploadRow, nowMs: number, untilMs: number): Promise<boolean> {
  const claimed = await sql`
    update asset_upload set busy_until_ms = ${untilMs}
    where id = ${id} and offset_bytes = ${offsetBytes} and file_id is null and coalesce(busy_until_ms, 0) <= ${nowMs}`;
  return claimed.count > 0;
}

/** Ends a claim until `untilMs`. False where it is over already. */
export async function unclaimUpload(sql: Queries, id: UploadId, untilMs: number): Promise<boolean> {
  const ended = await sql`update asset_upload set busy_until_ms = null where id = ${id} and busy_until_ms = ${untilMs}`;
  return ended.count > 0;
}

export interface Piece {
  readonly sizeBytes: number;
  /** Lowercase hex. */
  readonly sha256: string;
}

/** Appends a stored piece to a locked upload. */
export async function appendPiece(tx: Queries, { id, offsetBytes }: UploadRow, { sizeBytes, sha256 }: Piece): Promise<void> {
  await tx`
    insert into asset_upload_piece (upload_id, offset_bytes, size_bytes, sha256)
    values (${id}, ${offsetBytes}, ${sizeBytes}, decode(${sha256}, 'hex'))`;
  await tx`update asset_upload set offset_bytes = ${offsetBytes + sizeBytes}, busy_until_ms = null where id = ${id}`;
}

export function listPieces(sql: Queries, id: UploadId) {
  return sql<Piece[]>`
    select size_bytes as "sizeBytes", encode(sha256, 'hex') as sha256 from asset_upload_piece where upload_id = ${id} order by offset_bytes`;
}

/** The upload has become a file; its pieces are no longer needed. */
export async function completeUpload(tx: Queries, id: UploadId, fileId: BlobId): Promise<void> {
  await tx`delete from asset_upload_piece where upload_id = ${id}`;
  await tx`update asset_upload set file_id = ${fileId}, busy_until_ms = null where id = ${id}`;
}

export interface EndedUpload extends Pick<UploadRow, 'offsetBytes' | 'sizeBytes' | 'fileId'> {
  readonly busyUntilMs: number | null;
}

/** With its pieces. Answers what it was; null where it is gone already. */
export async function deleteUpload(tx: Queries, id: UploadId): Promise<EndedUpload | null> {
  const [row] = await tx<EndedUpload[]>`
    delete from asset_upload where id = ${id}
    returning offset_bytes as "offsetBytes", size_bytes as "sizeBytes", file_id as "fileId", busy_until_ms as "busyUntilMs"`;
  return row ?? null;
}

export function listExpired(sql: Queries, nowMs: number, rowsMax: number) {
  return sql<Pick<UploadRow, 'id' | 'holder'>[]>`
    select id, holder from asset_upload where expires_at_ms <= ${nowMs} order by expires_at_ms limit ${rowsMax}`;
}

/** Those that have expired and are files by now: they reserve nothing. Answers how many. */
export async function deleteComplete(sql: Queries, nowMs: number, rowsMax: number): Promise<number> {
  const deleted = await sql`
    delete from asset_upload where id in (
      select id from asset_upload where expires_at_ms <= ${nowMs} and file_id is not null limit ${rowsMax} for update skip locked
    )`;
  return deleted.count;
}
