/**
 * Uploads in pieces. A piece is an object like any other, so that whichever node gets the next one appends it. What has arrived before a
 * connection was lost is kept as a shorter piece. The last piece puts the file together, checks it as a whole, and records it.
 */
import type { z } from 'zod';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type UploadId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { assetUpload } from '../../../../protocol/library/asset-uploads.ts';
import { ClientGone } from '../../../edge/exchange.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { ShareQueue } from '../../../platform/share-queue.ts';
import type { SpooledFile } from '../../../storage/spool.ts';
import { mediaTypeOf } from '../../artifacts/publish/media-types.ts';
import { requireBlobType } from '../../data/blobs/rules.ts';
import { receiveFile } from '../../data/blobs/storing.ts';
import { callHolders } from '../../data/tables/reads.ts';
import type { Queries } from '../../deps.ts';
import { addRelease, addUsage, type Holder, lockUsage, takeReservation } from '../../people/usage/rows.ts';
import { reserve, settleReserved } from '../../people/usage/storage.ts';
import { type AssetCall, type AssetDeps, placeFile, recordFile, requireFileRoom } from './files.ts';
import { type Library, requireFewer } from './library.ts';
import { presentLoose } from './present.ts';
import { findFile } from './rows.ts';
import { isPictured } from './thumbnails/rules.ts';
import {
  appendPiece,
  claimUpload,
  completeUpload,
  countUnfinished,
  deleteComplete,
  deleteUpload,
  findBegun,
  findSame,
  findUpload,
  insertUpload,
  listExpired,
  listPieces,
  type Piece,
  type UploadRow,
  unclaimUpload,
} from './upload-rows.ts';

/** Storing a piece, or the whole, takes less; where its process dies, another caller may begin after this. */
const CLAIM_MS = 2 * 60_000;
/** The daily sweep has certainly run by then; it ends the reservation with the upload. */
const SWEPT_MS = 26 * 60 * 60 * 1000;
/** Bounds a statement of the sweep, which goes on until none is left. */
const EXPIRED_AT_ONCE = 1000;

export function uploadActions(deps: AssetDeps) {
  const { sql } = deps;
  const joins = joinQueue();
  return {
    async beginUpload(library: Library, call: AssetCall<'beginUpload'>) {
      const { body, nowMs } = call;
      const file = { ...fileOf(body), sha256: body.sha256 ?? null };
      await requireFileRoom(sql, library);
      const { row, isNew } = await sql.begin(async (tx) => {
        // Of uploads that are begun together each sees those before it.
        await lockUsage(tx, library.holder);
        const same = await findSame(tx, library, file, nowMs);
        if (same !== null) return { row: same, isNew: false };
        const id = newId('upload');
        const expiresAtMs = nowMs + LIMITS.assetUploadTtlMs;
        await reserve(tx, { id, accountId: library.holder, bytes: file.sizeBytes, expiresAtMs: expiresAtMs + SWEPT_MS }, nowMs);
        const open = await countUnfinished(tx, library.creator, nowMs);
        requireFewer(open, LIMITS.assetUploadsOpenMax, 'unfinished uploads of one person: finish or cancel some');
        await insertUpload(tx, library, { ...file, id, expiresAtMs }, nowMs);
        return {
          row: { ...file, id, holder: library.holder, offsetBytes: 0, fileId: null, createdBy: library.creator, expiresAtMs },
          isNew: true,
        };
      });
      return { reply: isNew ? 'created' : 'resumed', body: await present(deps, row) } as const;
    },
    async getUpload(library: Library, { params, nowMs }: AssetCall<'getUpload'>) {
      return { reply: 'ok', body: await present(deps, await requireUpload(sql, library, params.uploadId, nowMs)) } as const;
    },
    async sendPiece(library: Library, call: AssetCall<'sendPiece'>) {
      const { params, body } = call;
      let upload = await requireBegun(sql, library, params.uploadId, call.nowMs);
      requirePlace(upload, call.query.offset, body.lengthBytes);
      if (body.lengthBytes > 0) upload = await receivePiece(deps, library, call, upload);
      if (upload.fileId === null && upload.offsetBytes === upload.sizeBytes) {
        const all = upload;
        upload = await joins.run(callHolders(call), () => complete(deps, library, call, all));
      }
      return { reply: 'ok', body: await present(deps, upload) } as const;
    },
    async cancelUpload(library: Library, { params, nowMs }: AssetCall<'cancelUpload'>) {
      const { id, holder } = await requireUpload(sql, library, params.uploadId, nowMs);
      await discard(deps, id, holder);
      return { reply: 'ok', body: { success: true } } as const;
    },
  };
}

/** Ends uploads that have expired; their pieces stay in the object store until its sweep. Answers how many. */
export async function expireAssetUploads(deps: Pick<AssetDeps, 'sql' | 'clock'>, signal: AbortSignal): Promise<number> {
  const nowMs = deps.clock.nowMs();
  let ended = 0;
  let found = 0;
  do {
    found = await deleteComplete(deps.sql, nowMs, EXPIRED_AT_ONCE);
    ended += found;
  } while (found === EXPIRED_AT_ONCE && !signal.aborted);
  do {
    const expired = await listExpired(deps.sql, nowMs, EXPIRED_AT_ONCE);
    found = expired.length;
    for (const { id, holder } of expired) {
      if (signal.aborted) return ended;
      if (await discard(deps, id, holder)) ended += 1;
    }
  } while (found === EXPIRED_AT_ONCE);
  return ended;
}

/** Throws FILE_TOO_LARGE, INVALID_MIME_TYPE. */
function fileOf({ filename, mimeType, sizeBytes }: AssetCall<'beginUpload'>['body']) {
  if (sizeBytes > LIMITS.blobBytesMax) {
    throw new Failure('FILE_TOO_LARGE', { message: `A file may have ${LIMITS.blobBytesMax} bytes.`, param: 'sizeBytes' });
  }
  // A sender that does not know the type follows the name, and the bytes are checked against it.
  const given = mimeType === 'application/octet-stream' ? mediaTypeOf(filename, undefined) : mimeType;
  return { filename, mimeType: requireBlobType(given), sizeBytes };
}

/** Throws UPLOAD_NOT_FOUND. */
async function requireUpload(sql: Queries, library: Library, id: UploadId, nowMs: number): Promise<UploadRow> {
  const row = await findUpload(sql, library, id, nowMs);
  if (row === null) throw new Failure('UPLOAD_NOT_FOUND', { param: 'uploadId' });
  return row;
}

/** Only who has begun an upload sends its bytes: the file is theirs. Throws UPLOAD_NOT_FOUND. */
async function requireBegun(sql: Queries, library: Library, id: UploadId, nowMs: number, locked = false): Promise<UploadRow> {
  const row = await findBegun(sql, library, id, nowMs, locked);
  if (row === null) throw new Failure('UPLOAD_NOT_FOUND', { param: 'uploadId' });
  return row;
}

/** Before the piece is received. Throws UPLOAD_OFFSET_CONFLICT, INVALID_REQUEST. */
function requirePlace(upload: UploadRow, offset: number, bytes: number): void {
  const { offsetBytes, sizeBytes } = upload;
  if (offset !== offsetBytes) throw offsetConflict(upload, offset);
  const rest = sizeBytes - offset;
  if (bytes > rest) {
    throw new Failure('INVALID_REQUEST', {
      param: 'body',
      message: `The file has ${sizeBytes} bytes, of which ${rest} are missing, not ${bytes}.`,
    });
  }
  if (bytes < rest && bytes < LIMITS.assetPieceBytesMin) {
    throw new Failure('INVALID_REQUEST', {
      param: 'body',
      message: `A piece that is not the last has ${LIMITS.assetPieceBytesMin} bytes at least, not ${bytes}.`,
      hint: 'Send a larger piece, or all that is missing.',
    });
  }
}

function offsetConflict({ offsetBytes }: UploadRow, offset: number): Failure {
  const message =
    offset === offsetBytes
      ? `Another piece is being stored at ${offset}.`
      : `The piece begins at ${offset}, but ${offsetBytes} bytes have arrived.`;
  return new Failure('UPLOAD_OFFSET_CONFLICT', { param: 'offset', message });
}

/** Stores what arrives of a piece. Throws ClientGone where that is not all of it. Answers the upload as it is then. */
async function receivePiece(deps: AssetDeps, library: Library, call: AssetCall<'sendPiece'>, upload: UploadRow): Promise<UploadRow> {
  const { file, gone } = await spoolPiece(deps, call);
  try {
    await whileClaimed(deps, upload, async (hasStored) => {
      await placeFile(deps, file);
      hasStored(file.sizeBytes);
      await deps.sql.begin(async (tx) => {
        if (call.refusal !== undefined) throw call.refusal;
        const now = await requireBegun(tx, library, upload.id, deps.clock.nowMs(), true);
        if (now.offsetBytes !== upload.offsetBytes || now.fileId !== null) throw offsetConflict(now, upload.offsetBytes);
        await appendPiece(tx, now, file);
      });
    });
  } finally {
    await file.dispose();
  }
  if (gone !== undefined) throw gone;
  return { ...upload, offsetBytes: upload.offsetBytes + file.sizeBytes };
}

/** All of the body, or what has come of it before its sender was gone. Throws ClientGone where that is too little to keep. */
async function spoolPiece({ spool }: AssetDeps, { body }: AssetCall<'sendPiece'>) {
  const writer = await spool.create();
  let gone: ClientGone | undefined;
  try {
    for await (const chunk of body) await writer.write(chunk);
  } catch (error) {
    if (!(error instanceof ClientGone) || writer.sizeBytes < LIMITS.assetPieceBytesMin) {
      await writer.abandon();
      throw error;
    }
    gone = error;
  }
  return { file: await writer.finish(), gone };
}

/**
 * One caller at a time stores something of an upload, so that no more is stored than it has reserved. `work` tells what it has put into the
 * object store, which counts as removed where it fails. Throws UPLOAD_OFFSET_CONFLICT.
 */
async function whileClaimed<T>(deps: AssetDeps, upload: UploadRow, work: (hasStored: (bytes: number) => void) => Promise<T>): Promise<T> {
  const nowMs = deps.clock.nowMs();
  const untilMs = nowMs + CLAIM_MS;
  if (!(await claimUpload(deps.sql, upload, nowMs, untilMs))) throw offsetConflict(upload, upload.offsetBytes);
  let storedBytes = 0;
  try {
    return await work((bytes) => {
      storedBytes = bytes;
    });
  } catch (error) {
    // The caller needs the first failure; a claim that cannot be given back ends by itself.
    await Promise.allSettled([giveBackClaim(deps, upload, untilMs, storedBytes)]);
    throw error;
  }
}

async function giveBackClaim({ sql, clock }: AssetDeps, { id, holder }: UploadRow, untilMs: number, storedBytes: number): Promise<void> {
  await sql.begin(async (tx) => {
    await lockUsage(tx, holder);
    const isGivenBack = await unclaimUpload(tx, id, untilMs);
    // Who has ended a claimed upload has counted for it.
    const isCounted = !isGivenBack && clock.nowMs() < untilMs;
    if (!isCounted) await countRemoved(tx, holder, storedBytes, clock.nowMs());
  });
}

/** Makes the file of an upload that has all of its bytes. Throws INVALID_MIME_TYPE and INVALID_REQUEST, which end it. */
async function complete(deps: AssetDeps, library: Library, call: AssetCall<'sendPiece'>, upload: UploadRow): Promise<UploadRow> {
  // What decides is the transaction that records it; joining takes long, and can be asked for again and again.
  await requireFileRoom(deps.sql, library);
  return whileClaimed(deps, upload, async (hasStored) => {
    const pieces = await listPieces(deps.sql, upload.id);
    const file = await joined(deps, upload, pieces).catch(async (error: unknown) => {
      // Its bytes are wrong, whoever sends the last piece again.
      if (error instanceof Failure) await discard(deps, upload.id, upload.holder, { isOurs: true });
      throw error;
    });
    try {
      await placeFile(deps, file);
      // A single piece is the file itself.
      if (pieces.length > 1) hasStored(file.sizeBytes);
      const done = await record(deps, library, call, upload, file, pieces.length);
      if (isPictured(upload.mimeType)) deps.pictures.wake();
      return done;
    } finally {
      await file.dispose();
    }
  });
}

/** The whole file in the spool, checked. */
async function joined({ objects, spool }: AssetDeps, { mimeType, sha256 }: UploadRow, pieces: readonly Piece[]): Promise<SpooledFile> {
  async function* bytes() {
    for (const piece of pieces) yield* objects.readRange(piece.sha256, 0, piece.sizeBytes - 1);
  }
  const file = await receiveFile(spool, bytes(), mimeType);
  if (sha256 === null || sha256 === file.sha256) return file;
  await file.dispose();
  throw new Failure('INVALID_REQUEST', { param: 'sha256', message: `sha256: the bytes that were sent have the digest ${file.sha256}.` });
}

function record(
  { sql, clock }: AssetDeps,
  library: Library,
  call: AssetCall<'sendPiece'>,
  { id, holder, filename, mimeType, createdBy }: UploadRow,
  { sha256, sizeBytes }: SpooledFile,
  pieces: number,
): Promise<UploadRow> {
  return sql.begin(async (tx) => {
    const nowMs = clock.nowMs();
    await lockUsage(tx, holder);
    const now = await requireBegun(tx, library, id, nowMs, true);
    if (now.fileId !== null) return now;
    await settleReserved(tx, { id, accountId: holder }, sizeBytes, nowMs);
    // A single piece is the file itself. Of several there is a second copy until the sweep.
    if (pieces > 1) await countRemoved(tx, holder, sizeBytes, nowMs);
    const row = await recordFile(tx, { ...library, holder, creator: createdBy }, call, { filename, mimeType, sizeBytes, sha256 }, nowMs);
    await completeUpload(tx, id, row.id);
    return { ...now, fileId: row.id };
  });
}

/** Counts bytes as removed that never counted as stored. */
async function countRemoved(tx: Queries, holder: Holder, bytes: number, nowMs: number): Promise<void> {
  await addUsage(tx, holder, bytes);
  await addRelease(tx, holder, bytes, nowMs);
}

/** Ends an upload; the file of a complete one stays. `isOurs`: its claim, where it has one. False where it is gone already. */
function discard(
  { sql, clock }: Pick<AssetDeps, 'sql' | 'clock'>,
  id: UploadId,
  holder: Holder,
  { isOurs }: { readonly isOurs: boolean } = { isOurs: false },
): Promise<boolean> {
  return sql.begin(async (tx) => {
    await lockUsage(tx, holder);
    const gone = await deleteUpload(tx, id);
    if (gone === null) return false;
    await addUsage(tx, holder, -(await takeReservation(tx, id, holder)));
    const nowMs = clock.nowMs();
    const isBusy = !isOurs && gone.busyUntilMs !== null && gone.busyUntilMs > nowMs;
    if (gone.fileId === null) await countRemoved(tx, holder, isBusy ? mostStored(gone) : gone.offsetBytes, nowMs);
    return true;
  });
}

/** What the object store may have of an upload while somebody stores a piece of it, or the whole beside its pieces. */
function mostStored({ offsetBytes, sizeBytes }: Pick<UploadRow, 'offsetBytes' | 'sizeBytes'>): number {
  return offsetBytes === sizeBytes ? 2 * sizeBytes : sizeBytes;
}

/** Joins read and hash a whole file each, and have it in the spool meanwhile. */
function joinQueue(): ShareQueue {
  const running = { total: LIMITS.assetJoinsMax, network: LIMITS.callerAssetJoinsMax, caller: LIMITS.callerAssetJoinsMax };
  const waiting = {
    total: LIMITS.assetJoinsWaitingMax,
    network: LIMITS.callerAssetJoinsWaitingMax,
    caller: LIMITS.callerAssetJoinsWaitingMax,
  };
  return new ShareQueue({
    running: { ...running, artifact: running.total },
    waiting: { ...waiting, artifact: waiting.total },
    full: (exhausted) => {
      const whose = exhausted === 'total' ? '' : 'of this caller ';
      return new Failure('UNAVAILABLE', { message: `Too many files ${whose}are being put together.`, retryAfterS: 5 });
    },
  });
}

async function present({ sql, config }: AssetDeps, row: UploadRow): Promise<z.input<typeof assetUpload>> {
  const { id, filename, mimeType, sizeBytes, offsetBytes, fileId, expiresAtMs } = row;
  const file = fileId === null ? null : await findFile(sql, fileId);
  return {
    ...{ id, filename, mimeType, sizeBytes, offset: offsetBytes, pieceBytesMax: LIMITS.assetPieceBytesMax },
    expiresAt: dateTime(expiresAtMs),
    file: file && presentLoose(config, file),
  };
}
