/** Sends a file in pieces, and goes on by itself after a lost connection: at the offset that the service names. Runs in Node and in browsers. */

export interface Upload {
  readonly id: string;
  /** Bytes that the service has. */
  readonly offset: number;
  readonly pieceBytesMax: number;
  readonly file: { readonly id: string; readonly filename: string } | null;
}

export interface PieceCalls {
  begin(): Promise<Upload>;
  get(id: string): Promise<Upload>;
  /** Sends the bytes from `start` to before `end`. */
  send(id: string, start: number, end: number): Promise<Upload>;
  /** Whether another attempt makes sense after this error. */
  isPassing(error: unknown): boolean;
  /** Rejects where the sender gives up. */
  wait(ms: number): Promise<void>;
}

/** Smaller than the service takes, so that little is sent again where it cannot keep what has arrived. */
const PIECE_BYTES = 2 * 1024 * 1024;
const WAIT_MS_FIRST = 500;
const WAIT_MS_MAX = 30_000;
/** In a row without a new byte: some five minutes. */
const ATTEMPTS_MAX = 15;

/** `onOffset`: hears what has arrived, also what had before. Answers the stored file. Throws the last error where it gives up. */
export async function sendInPieces(
  sizeBytes: number,
  calls: PieceCalls,
  onOffset: (bytes: number) => void,
): Promise<NonNullable<Upload['file']>> {
  let upload = await calls.begin();
  let failures = 0;
  let isKnown = true;
  while (upload.file === null) {
    const before = upload.offset;
    onOffset(before);
    try {
      if (!isKnown) upload = await calls.get(upload.id);
      else {
        const end = Math.min(sizeBytes, before + Math.min(PIECE_BYTES, upload.pieceBytesMax));
        upload = await calls.send(upload.id, before, end);
        if (upload.file === null && upload.offset <= before) throw new Error(`The service takes no more than ${before} bytes.`);
      }
      isKnown = true;
      if (upload.offset > before) failures = 0;
    } catch (error) {
      failures += 1;
      if (failures > ATTEMPTS_MAX || !calls.isPassing(error)) throw error;
      await calls.wait(Math.min(WAIT_MS_MAX, WAIT_MS_FIRST * 2 ** (failures - 1)));
      // Where the connection was lost, the service may have more than it could tell.
      isKnown = false;
    }
  }
  onOffset(sizeBytes);
  return upload.file;
}

/** Statuses after which another attempt may succeed: no answer, too many calls, a gateway or the service is not there. */
export function isPassingStatus(status: number, code: string): boolean {
  return [0, 408, 429, 502, 503, 504].includes(status) || code === 'UPLOAD_OFFSET_CONFLICT';
}
