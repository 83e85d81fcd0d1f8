/** The SQL of `asset_deliverable` and `asset_file`. `account_usage` is locked before either. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { type BlobId, type CollectionId, type DeliverableId, newId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { Holder } from '../../people/usage/rows.ts';
import { type Library, ownership, within } from './library.ts';

const INT_MAX = 2_147_483_647;

export interface DeliverableRow {
  readonly id: DeliverableId;
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly versionNo: number;
  readonly hasPicture: boolean;
  readonly createdBy: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface FileRow {
  readonly id: BlobId;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly hasPicture: boolean;
  readonly createdBy: string;
  readonly createdAtMs: number;
}

export type VersionRow = FileRow & { readonly versionNo: number };

function deliverables(sql: Queries) {
  return sql`
    select l.id, l.name, v.mime_type as "mimeType", v.size_bytes as "sizeBytes", v.version_no as "versionNo", v.has_picture as "hasPicture",
      l.created_by as "createdBy", l.created_at_ms as "createdAtMs", l.updated_at_ms as "updatedAtMs"
    from asset_deliverable l cross join lateral (
      select f.mime_type, f.size_bytes, f.version_no, t.sha256 is not null as has_picture
      from asset_file f left join asset_thumbnail t on t.file_id = f.id
      where f.deliverable_id = l.id order by f.version_no desc limit 1
    ) v`;
}

function files(sql: Queries) {
  return sql`
    select l.id, l.filename, l.mime_type as "mimeType", l.size_bytes as "sizeBytes", t.sha256 is not null as "hasPicture",
      l.created_by as "createdBy", l.created_at_ms as "createdAtMs", l.version_no as "versionNo"
    from asset_file l left join asset_thumbnail t on t.file_id = l.id`;
}

function inCollection(sql: Queries, collection: CollectionId | undefined) {
  if (collection === undefined) return sql``;
  return sql`and exists (select from asset_collection_item i where i.collection_id = ${collection} and i.deliverable_id = l.id)`;
}

export function listDeliverables(sql: Queries, library: Library, collection: CollectionId | undefined, after: PageKey, rowsMax: number) {
  return sql<DeliverableRow[]>`
    ${deliverables(sql)} where ${within(sql, library)} ${inCollection(sql, collection)} and (l.created_at_ms, l.id) < (${after.number}, ${after.id})
    order by l.created_at_ms desc, l.id desc limit ${rowsMax}`;
}

export function listLoose(sql: Queries, library: Library, after: PageKey, rowsMax: number) {
  return sql<FileRow[]>`
    ${files(sql)} where ${within(sql, library)} and l.deliverable_id is null and (l.created_at_ms, l.id) < (${after.number}, ${after.id})
    order by l.created_at_ms desc, l.id desc limit ${rowsMax}`;
}

export async function countDeliverables(sql: Queries, library: Library, collection: CollectionId | undefined): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from asset_deliverable l where ${within(sql, library)} ${inCollection(sql, collection)}`;
  return row?.total ?? 0;
}

export interface Contents {
  readonly files: number;
  readonly loose: number;
  readonly bytes: number;
}

/** A library has at most `LIMITS.assetFilesMax` files, so that they are counted when they are asked for. */
export async function contentsOf(sql: Queries, library: Library): Promise<Contents> {
  const [row] = await sql<Contents[]>`
    select count(*)::int as files, (count(*) filter (where l.deliverable_id is null))::int as loose,
      coalesce(sum(l.size_bytes), 0)::bigint as bytes
    from asset_file l where ${within(sql, library)}`;
  return row ?? { files: 0, loose: 0, bytes: 0 };
}

/** Throws FILE_NOT_FOUND. `lock`: changes of it wait for each other until the transaction ends. */
export async function requireDeliverable(sql: Queries, library: Library, id: DeliverableId, lock = false): Promise<DeliverableRow> {
  if (lock) await sql`select 1 from asset_deliverable l where l.id = ${id} and ${within(sql, library)} for update`;
  const [row] = await sql<DeliverableRow[]>`${deliverables(sql)} where l.id = ${id} and ${within(sql, library)}`;
  if (row === undefined) throw new Failure('FILE_NOT_FOUND');
  return row;
}

/** Throws BLOB_NOT_FOUND. */
export async function requireLoose(tx: Queries, library: Library, id: BlobId): Promise<FileRow & { readonly holder: Holder }> {
  const [row] = await tx<(FileRow & { holder: Holder })[]>`
    select l.id, l.filename, l.mime_type as "mimeType", l.size_bytes as "sizeBytes", false as "hasPicture", l.created_by as "createdBy",
      l.created_at_ms as "createdAtMs", coalesce(l.owner_id, l.workspace_id) as holder
    from asset_file l where l.id = ${id} and l.deliverable_id is null and ${within(tx, library)} for update`;
  if (row === undefined) {
    throw new Failure('BLOB_NOT_FOUND', {
      param: 'blobId',
      message: 'There is no such loose file: it may be a file of the library already, or of another one.',
      hint: 'GET …/assets lists the loose files; upload the bytes again to use them once more.',
    });
  }
  return row;
}

export interface NewFile {
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Lowercase hex. */
  readonly sha256: string;
}

export async function insertFile(tx: Queries, library: Library, file: NewFile, nowMs: number): Promise<FileRow> {
  const { filename, mimeType, sizeBytes, sha256 } = file;
  const id = newId('blob');
  await tx`
    insert into asset_file (owner_id, workspace_id, id, filename, mime_type, size_bytes, sha256, created_by, created_at_ms)
    values (${ownership(tx, library)}, ${id}, ${filename}, ${mimeType}, ${sizeBytes}, decode(${sha256}, 'hex'), ${library.creator}, ${nowMs})`;
  return { id, filename, mimeType, sizeBytes, hasPicture: false, createdBy: library.creator, createdAtMs: nowMs };
}

/** A stored file, whatever became of it. */
export async function findFile(sql: Queries, id: BlobId): Promise<FileRow | null> {
  const [row] = await sql<FileRow[]>`${files(sql)} where l.id = ${id}`;
  return row ?? null;
}

export async function deleteFile(tx: Queries, id: BlobId): Promise<void> {
  await tx`delete from asset_file where id = ${id}`;
}

export async function insertDeliverable(tx: Queries, library: Library, name: string, file: BlobId, nowMs: number): Promise<DeliverableId> {
  const id = newId('deliverable');
  await tx`
    insert into asset_deliverable (owner_id, workspace_id, id, name, created_by, created_at_ms, updated_at_ms)
    values (${ownership(tx, library)}, ${id}, ${name}, ${library.creator}, ${nowMs}, ${nowMs})`;
  await tx`update asset_file set deliverable_id = ${id}, version_no = 1 where id = ${file}`;
  return id;
}

/** The file goes to whoever has the deliverable. Answers who that is. */
export async function appendVersion(tx: Queries, { id, versionNo }: DeliverableRow, file: BlobId, nowMs: number): Promise<Holder> {
  const [row] = await tx<{ holder: Holder }[]>`
    update asset_file f set deliverable_id = d.id, version_no = ${versionNo + 1}, created_at_ms = ${nowMs},
      owner_id = d.owner_id, workspace_id = d.workspace_id
    from asset_deliverable d where d.id = ${id} and f.id = ${file}
    returning coalesce(d.owner_id, d.workspace_id) as holder`;
  if (row === undefined) throw new Error(`the deliverable ${id} or its file ${file} is gone, although both are locked`);
  await tx`update asset_deliverable set updated_at_ms = greatest(${nowMs}, updated_at_ms + 1) where id = ${id}`;
  return row.holder;
}

export interface Removed {
  readonly holder: Holder;
  readonly bytes: number;
}

/** Removes all versions but the newest ones. */
export function deleteOldVersions(tx: Queries, id: DeliverableId, kept: number): Promise<Removed[]> {
  return tx<Removed[]>`
    with gone as (
      delete from asset_file where id in (
        select f.id from asset_file f where f.deliverable_id = ${id} order by f.version_no desc offset ${kept}
      ) returning coalesce(owner_id, workspace_id) as holder, size_bytes
    )
    select holder, sum(size_bytes)::bigint as bytes from gone group by holder`;
}

/** With its versions and links. */
export async function deleteDeliverable(tx: Queries, id: DeliverableId): Promise<readonly Removed[]> {
  const removed = await tx<Removed[]>`
    select coalesce(owner_id, workspace_id) as holder, sum(size_bytes)::bigint as bytes
    from asset_file where deliverable_id = ${id} group by 1`;
  await tx`delete from asset_deliverable where id = ${id}`;
  return removed;
}

/** Deleted workspaces whose library has something left. */
export async function listEndedLibraries(sql: Queries, rowsMax: number): Promise<readonly WorkspaceId[]> {
  const rows = await sql<{ id: WorkspaceId }[]>`
    select w.id from workspace w
    where w.deleted_at_ms is not null and (
      exists (select from asset_file f where f.workspace_id = w.id)
      or exists (select from asset_deliverable d where d.workspace_id = w.id)
      or exists (select from asset_collection c where c.workspace_id = w.id))
    order by w.id limit ${rowsMax}`;
  return rows.map(({ id }) => id);
}

/** All that a workspace has, with links and pictures. */
export async function deleteLibrary(tx: Queries, workspaceId: WorkspaceId): Promise<{ readonly files: number; readonly bytes: number }> {
  const [removed] = await tx<{ files: number; bytes: number }[]>`
    with gone as (delete from asset_file where workspace_id = ${workspaceId} returning size_bytes)
    select count(*)::int as files, coalesce(sum(size_bytes), 0)::bigint as bytes from gone`;
  await tx`delete from asset_deliverable where workspace_id = ${workspaceId}`;
  await tx`delete from asset_collection where workspace_id = ${workspaceId}`;
  return removed ?? { files: 0, bytes: 0 };
}

export async function renameDeliverable(tx: Queries, id: DeliverableId, name: string, nowMs: number): Promise<void> {
  await tx`update asset_deliverable set name = ${name}, updated_at_ms = greatest(${nowMs}, updated_at_ms + 1) where id = ${id}`;
}

export function listVersions(sql: Queries, id: DeliverableId, after: PageKey, rowsMax: number) {
  return sql<VersionRow[]>`
    ${files(sql)} where l.deliverable_id = ${id} and l.version_no < ${Math.min(after.number, INT_MAX)}
    order by l.version_no desc limit ${rowsMax}`;
}

export async function countVersions(sql: Queries, id: DeliverableId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from asset_file where deliverable_id = ${id}`;
  return row?.total ?? 0;
}

/** Who reads a file, beyond everybody. */
export interface Reader {
  readonly accounts: readonly string[];
  readonly workspaces: readonly string[];
  /** Workspaces that share this file with the reader. */
  readonly sharedBy: readonly string[];
  /** What a share link opens for the reader. */
  readonly linked: DeliverableId | null;
}

export interface ReadableFile {
  readonly id: BlobId;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Of its picture, lowercase hex. */
  readonly picture: string | null;
}

/**
 * The newest version of a deliverable, the given one, or a loose file; null where the reader may not know of it. Older versions and loose files
 * are for whoever has the library.
 */
export async function findReadable(sql: Queries, id: string, version: number | undefined, reader: Reader): Promise<ReadableFile | null> {
  const hasFile = sql`(f.owner_id = any(${[...reader.accounts]}::text[]) or f.workspace_id = any(${[...reader.workspaces]}::text[]))`;
  const rows = id.startsWith('blob_')
    ? await sql<ReadableFile[]>`${readable(sql)} where f.id = ${id} and f.deliverable_id is null and ${hasFile}`
    : await sql<ReadableFile[]>`
      ${readable(sql)} join asset_deliverable d on d.id = f.deliverable_id
      where d.id = ${id} and ${version === undefined ? isOpen(sql, reader) : sql`f.version_no = ${version} and ${isTheirs(sql, reader)}`}
      order by f.version_no desc limit 1`;
  return rows[0] ?? null;
}

/**
 * A version that was the newest one when somebody chose it, for who may open its deliverable now: that there is a newer one meanwhile takes nothing
 * from them.
 */
export async function findChosen(sql: Queries, id: DeliverableId, file: BlobId, reader: Reader): Promise<ReadableFile | null> {
  const [row] = await sql<ReadableFile[]>`
    ${readable(sql)} join asset_deliverable d on d.id = f.deliverable_id where d.id = ${id} and f.id = ${file} and ${isOpen(sql, reader)}`;
  return row ?? null;
}

/** Whether the reader has the library of deliverable `d`. */
function isTheirs(sql: Queries, { accounts, workspaces }: Reader) {
  return sql`(d.owner_id = any(${[...accounts]}::text[]) or d.workspace_id = any(${[...workspaces]}::text[]))`;
}

/** Whether the reader may open the newest version of deliverable `d`. */
function isOpen(sql: Queries, reader: Reader) {
  const { sharedBy, linked } = reader;
  return sql`(${isTheirs(sql, reader)} or d.workspace_id = any(${[...sharedBy]}::text[]) or d.id = ${linked})`;
}

function readable(sql: Queries) {
  return sql`
    select f.id, f.filename, f.mime_type as "mimeType", f.size_bytes as "sizeBytes", encode(f.sha256, 'hex') as sha256,
      encode(t.sha256, 'hex') as picture
    from asset_file f left join asset_thumbnail t on t.file_id = f.id`;
}
