/** Publishing by digest: the uploads between its two phases. */
import type { PublishRequest } from '../../../../protocol/artifacts/publish.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type UploadId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { addRelease, addUsage, lockUsage } from '../../people/usage/rows.ts';
import { settle, whileReserved } from '../../people/usage/storage.ts';
import { sha256Of, storeContents } from './contents.ts';
import { mediaTypeOf } from './media-types.ts';
import { requirePaths } from './paths.ts';
import {
  countOpenUploads,
  countOtherParts,
  deleteUpload,
  hasPart,
  insertPart,
  insertUpload,
  isUploadOpen,
  listExpiredUploads,
  lockPublishing,
  lockUpload,
  possessedSizes,
  type SenderId,
  takeOverParts,
} from './rows.ts';
import { type DeclaredFile, requireFewUploads, requireRoom, requireSizes, type SizedFile, withSizes } from './rules.ts';
import type { Sender } from './target.ts';

type Digests = NonNullable<PublishRequest['files_digest']>;

/** Throws INVALID_REQUEST naming wrong paths. */
export function readDigestFiles(sent: Digests): DeclaredFile[] {
  const paths = requirePaths(
    sent.map((file) => file.path),
    'files_digest',
  );
  return sent.map((file, index) => {
    const path = paths[index] ?? file.path;
    return { path, mime: mediaTypeOf(path, file.mime), sha256: file.sha256 };
  });
}

/**
 * First phase: begins an upload and answers which contents are missing. Contents that the caller sent in another unpublished upload count
 * as sent, so that an interrupted publish resumes. Throws RATE_LIMITED for an account with too many unfinished uploads.
 */
export async function openUpload(deps: Pick<ServiceDeps, 'sql' | 'clock'>, sender: Sender, files: readonly DeclaredFile[]) {
  const id = newId('upload');
  const digests = [...new Set(files.map((file) => file.sha256))];
  await deps.sql.begin(async (tx) => {
    await lockPublishing(tx, sender.id);
    const nowMs = deps.clock.nowMs();
    requireFewUploads(await countOpenUploads(tx, sender.id, nowMs), nowMs);
    const { userId, agentId, holder } = sender;
    await insertUpload(tx, { id, userId, agentId, nowMs, expiresAtMs: nowMs + LIMITS.uploadTtlMs });
    await lockUsage(tx, holder);
    await addUsage(tx, holder, await takeOverParts(tx, { id, sender: sender.id, digests, nowMs }));
  });
  const possessed = await possessedSizes(deps.sql, sender, id, digests);
  return { missing: digests.filter((digest) => !possessed.has(digest)), upload_id: id };
}

/** Takes one content. Throws UPLOAD_NOT_FOUND, INVALID_REQUEST when the digest is not that of the bytes, FILE_TOO_LARGE. */
export async function receiveContent(
  deps: Pick<ServiceDeps, 'sql' | 'objects' | 'clock'>,
  sender: Sender,
  id: UploadId,
  sha256: string,
  bytes: Uint8Array,
): Promise<void> {
  await requireUpload(deps.sql, sender.id, id, deps.clock.nowMs());
  if ((await sha256Of(bytes)) !== sha256) {
    throw new Failure('INVALID_REQUEST', { param: 'sha256', message: 'sha256: is not the SHA-256 of the bytes sent.' });
  }
  if (await hasPart(deps.sql, id, sha256)) return;
  requireRoom(await countOtherParts(deps.sql, id, sha256), bytes.length);
  await whileReserved(deps, sender.holder, bytes.length, async (held) => {
    await storeContents(deps, new Map([[sha256, bytes]]));
    await deps.sql.begin(async (tx) => {
      // Locked, so that the upload cannot be published or expire in between, and contents that come together cannot exceed its bound.
      if (!(await lockUpload(tx, id))) throw new Failure('UPLOAD_NOT_FOUND', { param: 'upload_id' });
      requireRoom(await countOtherParts(tx, id, sha256), bytes.length);
      const isNew = await insertPart(tx, id, sha256, bytes.length);
      await settle(tx, sender.holder, held, { bytes: isNew ? bytes.length : 0, artifacts: 0 }, deps.clock.nowMs());
    });
  });
}

/** Ends the uploads that have expired; their contents stay in the object store until the sweep. Answers how many. */
export async function expireUploads({ sql, clock }: Pick<ServiceDeps, 'sql' | 'clock'>, signal: AbortSignal): Promise<number> {
  const nowMs = clock.nowMs();
  let ended = 0;
  for (const { id, holder } of await listExpiredUploads(sql, nowMs)) {
    if (signal.aborted) break;
    const isEnded = await sql.begin(async (tx) => {
      // Another process may have been quicker.
      if (!(await lockUpload(tx, id))) return false;
      await lockUsage(tx, holder);
      await addRelease(tx, holder, await deleteUpload(tx, id), nowMs);
      return true;
    });
    if (isEnded) ended += 1;
  }
  return ended;
}

/** Second phase: the files with their sizes. Throws UPLOAD_NOT_FOUND, or INVALID_REQUEST naming the first content not sent. */
export async function resolveUpload(
  deps: Pick<ServiceDeps, 'sql' | 'clock'>,
  sender: Sender,
  id: UploadId,
  files: readonly DeclaredFile[],
): Promise<SizedFile[]> {
  await requireUpload(deps.sql, sender.id, id, deps.clock.nowMs());
  const digests = [...new Set(files.map((file) => file.sha256))];
  const possessed = await possessedSizes(deps.sql, sender, id, digests);
  const sized = withSizes(files, possessed);
  requireSizes(sized, 'files_digest');
  return sized;
}

async function requireUpload(sql: Queries, sender: SenderId, id: UploadId, nowMs: number): Promise<void> {
  if (!(await isUploadOpen(sql, sender, id, nowMs))) throw new Failure('UPLOAD_NOT_FOUND', { param: 'upload_id' });
}
