/** Stores a file of this machine in an asset library, in pieces: after a lost connection it goes on where it stopped, and so does the same command begun again. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import mime from 'mime';
import { ApiError, NetworkError } from '../sdk/client.ts';
import { isPassingStatus, sendInPieces } from '../sdk/pieces.ts';
import { waitFor } from '../sdk/wait.ts';
import type { AssetLibrary } from './asset-library.ts';
import { readGiven } from './given-files.ts';
import { startProgress } from './progress.ts';
import type { Session } from './session.ts';

/** Smaller files are there before a progress is read. */
const SHOWN_BYTES_MIN = 1024 * 1024;

/** A service that is not there at the beginning is told at once. */
function isPassing(error: unknown, hasBegun: boolean): boolean {
  if (!hasBegun) return false;
  if (error instanceof NetworkError) return true;
  return error instanceof ApiError && isPassingStatus(error.status, error.code);
}

export async function storeAsset(session: Session, library: AssetLibrary, file: string) {
  const bytes = await readGiven(file);
  const filename = basename(file);
  const sizeBytes = bytes.length;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const mimeType = mime.getType(filename) ?? 'application/octet-stream';
  const progress = startProgress(session, sizeBytes < SHOWN_BYTES_MIN ? 0 : 1, sizeBytes);
  let shownBytes = 0;
  const calls = {
    begin: async () => (await library.beginUpload({ filename, mimeType, sizeBytes, sha256 })).body,
    get: async (id: string) => (await library.getUpload(id)).body,
    send: async (id: string, start: number, end: number) => (await library.sendPiece(id, start, bytes.subarray(start, end))).body,
    isPassing,
    async wait(ms: number) {
      session.remark('The connection was lost; trying again.');
      await waitFor(ms, session.shell.signal);
    },
  };
  try {
    return await sendInPieces(sizeBytes, calls, (offset) => {
      if (offset > shownBytes) progress.sent(offset - shownBytes, offset === sizeBytes ? 1 : 0);
      shownBytes = Math.max(shownBytes, offset);
    });
  } finally {
    progress.end();
  }
}
