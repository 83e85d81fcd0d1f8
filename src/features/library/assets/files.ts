/** What is done with the files of a library. */
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { BlobId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { BaseCall } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import type { Spool, SpooledFile } from '../../../storage/spool.ts';
import { stampObjects } from '../../artifacts/publish/rows.ts';
import { type FileMeta, receiveForm } from '../../data/blobs/storing.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { addRelease, addUsage, lockUsage } from '../../people/usage/rows.ts';
import { checkRoom, settle, whileReserved } from '../../people/usage/storage.ts';
import type { AuditedCall } from '../../workspaces/audit/audit.ts';
import { requireCollection } from './collection-rows.ts';
import { camelPage, type Library, note, requireFewer, requireKeeper } from './library.ts';
import { deliverableEtag, presentDeliverable, presentLoose, presentVersion } from './present.ts';
import {
  appendVersion,
  contentsOf,
  countDeliverables,
  countVersions,
  type DeliverableRow,
  deleteDeliverable,
  deleteFile,
  deleteOldVersions,
  type FileRow,
  insertDeliverable,
  insertFile,
  listDeliverables,
  listLoose,
  listVersions,
  type NewFile,
  type Removed,
  renameDeliverable,
  requireDeliverable,
  requireLoose,
} from './rows.ts';
import { askForPicture } from './thumbnails/rows.ts';
import { isPictured } from './thumbnails/rules.ts';

type Op = Extract<keyof Endpoints, `assets.${string}`> extends `assets.${infer Name}` ? Name : never;
export type AssetCall<Name extends Op> = BaseCall<Endpoints[`assets.${Name}`]>;

export interface AssetDeps extends Pick<ServiceDeps, 'sql' | 'objects' | 'clock' | 'config'> {
  readonly spool: Spool;
  /** Hears that a file wants a picture. */
  readonly pictures: { wake(): void };
}

export function readingFiles({ sql, config }: AssetDeps) {
  return {
    async list(library: Library, { query }: AssetCall<'list'>) {
      const { collection, limit } = query;
      if (collection !== undefined) await requireCollection(sql, library, collection);
      const after = decodeCursor(query.cursor);
      const found: (DeliverableRow | FileRow)[] = await listDeliverables(sql, library, collection, after, limit + 1);
      if (collection === undefined) found.push(...(await listLoose(sql, library, after, limit + 1)));
      found.sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1));
      const { items, page } = cutPage(found, limit, (row) => ({ number: row.createdAtMs, id: row.id }));
      const { bytes, loose } = await contentsOf(sql, library);
      const total = query.count && { total: (await countDeliverables(sql, library, collection)) + (collection === undefined ? loose : 0) };
      const body = {
        deliverables: items.flatMap((row) => ('versionNo' in row && 'name' in row ? [presentDeliverable(config, row)] : [])),
        loose: items.flatMap((row) => ('filename' in row ? [presentLoose(config, row)] : [])),
        usedBytes: bytes,
        ...camelPage(page),
        ...total,
      };
      return { reply: 'ok', body } as const;
    },
    async get(library: Library, { params }: AssetCall<'get'>) {
      return shown(config, await requireDeliverable(sql, library, params.fileId));
    },
    async versions(library: Library, { params, query }: AssetCall<'versions'>) {
      const { id } = await requireDeliverable(sql, library, params.fileId);
      const rows = await listVersions(sql, id, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.versionNo, id: row.id }));
      const total = query.count && { total: await countVersions(sql, id) };
      const versions = items.map((row) => presentVersion(config, id, row));
      return { reply: 'ok', body: { versions, ...camelPage(page), ...total } } as const;
    },
  };
}

export function changingFiles(deps: AssetDeps) {
  const { sql, config } = deps;
  return {
    async create(library: Library, call: AssetCall<'create'>) {
      const row = await sql.begin(async (tx) => {
        const file = await takeLoose(tx, library, call.body.blobId);
        const name = call.body.name ?? file.filename.slice(0, LIMITS.nameCharsMax);
        // Of the linked account that has the file, so that the two stay together where the accounts part.
        const id = await insertDeliverable(tx, { ...library, holder: file.holder }, name, file.id, call.nowMs);
        await note(tx, library, call, { action: 'asset.create', target: { type: 'file', id, name } });
        return requireDeliverable(tx, library, id);
      });
      return { reply: 'created', body: presentDeliverable(config, row) } as const;
    },
    async addVersion(library: Library, call: AssetCall<'addVersion'>) {
      const { params, body, nowMs } = call;
      const row = await sql.begin(async (tx) => {
        await lockUsage(tx, library.holder);
        const before = await requireDeliverable(tx, library, params.fileId, true);
        requireKeeper(library, before.createdBy);
        const file = await takeLoose(tx, library, body.blobId);
        const holder = await appendVersion(tx, before, file.id, nowMs);
        if (holder !== file.holder) {
          await addUsage(tx, file.holder, -file.sizeBytes);
          await addUsage(tx, holder, file.sizeBytes);
        }
        await release(tx, await deleteOldVersions(tx, before.id, LIMITS.assetVersionsKept), nowMs);
        const target = { type: 'file', id: before.id, name: before.name };
        await note(tx, library, call, { action: 'asset.version', target, detail: { version_no: before.versionNo + 1 } });
        return requireDeliverable(tx, library, before.id);
      });
      return { reply: 'created', body: presentDeliverable(config, row) } as const;
    },
    async update(library: Library, call: AssetCall<'update'>) {
      const { params, body, nowMs } = call;
      const row = await sql.begin(async (tx) => {
        const before = await requireDeliverable(tx, library, params.fileId, true);
        requireKeeper(library, before.createdBy);
        checkConditions({ etag: deliverableEtag(before), updatedAtMs: before.updatedAtMs }, call);
        await renameDeliverable(tx, before.id, body.name, nowMs);
        const target = { type: 'file', id: before.id, name: body.name };
        await note(tx, library, call, { action: 'asset.update', target, detail: { name: { from: before.name, to: body.name } } });
        return requireDeliverable(tx, library, before.id);
      });
      return shown(config, row);
    },
    async remove(library: Library, call: AssetCall<'remove'>) {
      const { params, nowMs } = call;
      await sql.begin(async (tx) => {
        await lockUsage(tx, library.holder);
        const row = await requireDeliverable(tx, library, params.fileId, true);
        requireKeeper(library, row.createdBy);
        checkConditions({ etag: deliverableEtag(row), updatedAtMs: row.updatedAtMs }, call);
        await release(tx, await deleteDeliverable(tx, row.id), nowMs);
        await note(tx, library, call, { action: 'asset.delete', target: { type: 'file', id: row.id, name: row.name } });
      });
      return { reply: 'ok', body: { success: true } } as const;
    },
    async removeLoose(library: Library, call: AssetCall<'removeLoose'>) {
      await sql.begin(async (tx) => {
        await lockUsage(tx, library.holder);
        const row = await takeLoose(tx, library, call.params.blobId as BlobId);
        await deleteFile(tx, row.id);
        await release(tx, [{ holder: row.holder, bytes: row.sizeBytes }], call.nowMs);
        await note(tx, library, call, { action: 'asset.delete', target: { type: 'file', id: row.id, name: row.filename } });
      });
      return { reply: 'ok', body: { success: true } } as const;
    },
    async upload(library: Library, call: AssetCall<'upload'>) {
      const { body, contentType } = call;
      const bytes = Math.max(0, body.lengthBytes - LIMITS.multipartOverheadBytesMax);
      // Early refusals, before the file is sent; what decides is the transaction that records it.
      await checkRoom(sql, library.holder, { bytes, artifacts: 0 }, call.nowMs);
      await requireFileRoom(sql, library);
      const { file, ...meta } = await receiveForm(deps.spool, body, contentType);
      try {
        const row = await storeUpload(deps, library, call, meta, file);
        if (isPictured(row.mimeType)) deps.pictures.wake();
        return { reply: 'created', body: presentLoose(config, row) } as const;
      } finally {
        await file.dispose();
      }
    },
  };
}

async function storeUpload(
  deps: AssetDeps,
  library: Library,
  call: AssetCall<'upload'>,
  meta: FileMeta,
  file: SpooledFile,
): Promise<FileRow> {
  const { sql, clock } = deps;
  const { sha256, sizeBytes } = file;
  return whileReserved(deps, library.holder, sizeBytes, async (held) => {
    await placeFile(deps, file);
    return sql.begin(async (tx) => {
      const nowMs = clock.nowMs();
      await settle(tx, library.holder, held, { bytes: sizeBytes, artifacts: 0 }, nowMs);
      return recordFile(tx, library, call, { ...meta, sizeBytes, sha256 }, nowMs);
    });
  });
}

/** Puts a received file into the object store, before a row names it. */
export async function placeFile({ sql, clock, objects }: AssetDeps, { sha256, sizeBytes, path }: SpooledFile): Promise<void> {
  // Stamped before the bytes arrive: the sweep skips objects that were stamped within the last day.
  await stampObjects(sql, new Map([[sha256, sizeBytes]]), clock.nowMs());
  await objects.putFile(sha256, path, sizeBytes);
}

/** Records a stored file as a loose one, in the transaction that has counted it. Throws what has ended the access of the call. */
export async function recordFile(
  tx: Queries,
  library: Library,
  call: Pick<BaseCall, 'refusal'> & AuditedCall,
  file: NewFile,
  nowMs: number,
): Promise<FileRow> {
  if (call.refusal !== undefined) throw call.refusal;
  await requireFileRoom(tx, library);
  const row = await insertFile(tx, library, file, nowMs);
  if (isPictured(row.mimeType)) await askForPicture(tx, row.id, library.holder, nowMs);
  const target = { type: 'file', id: row.id, name: row.filename };
  await note(tx, library, call, { action: 'asset.upload', target, detail: { size_bytes: row.sizeBytes, mime_type: row.mimeType } });
  return row;
}

/** Throws ASSET_LIMIT_EXCEEDED. */
export async function requireFileRoom(sql: Queries, library: Library): Promise<void> {
  requireFewer((await contentsOf(sql, library)).files, LIMITS.assetFilesMax, 'files in a library, with all their versions');
}

/** A loose file that the caller may use, locked. Throws BLOB_NOT_FOUND, FORBIDDEN. */
async function takeLoose(tx: Queries, library: Library, id: BlobId) {
  const file = await requireLoose(tx, library, id);
  requireKeeper(library, file.createdBy);
  return file;
}

async function release(tx: Queries, removed: readonly Removed[], nowMs: number): Promise<void> {
  for (const { holder, bytes } of removed) await addRelease(tx, holder, bytes, nowMs);
}

function shown(config: AssetDeps['config'], row: DeliverableRow) {
  return { reply: 'ok', body: presentDeliverable(config, row), etag: deliverableEtag(row) } as const;
}
