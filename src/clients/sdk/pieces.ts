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
  /** Whether another attempt makes sense after this error, of an upload that has begun or has not. */
  isPassing(error: unknown, hasBegun: boolean): boolean;
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
  let upload: Upload | undefined;
  let failures = 0;
  // Where the connection was lost, the service may have more than it could tell.
  let isKnown = true;
  while (upload?.file === undefined || upload.file === null) {
    const hadBytes = upload?.offset ?? 0;
    try {
      if (upload === undefined) upload = await calls.begin();
      else if (!isKnown) upload = await calls.get(upload.id);
      else upload = await sendNext(upload, sizeBytes, calls);
      // A connection that is cut again and again may still bring something each time.
      if (isKnown || upload.offset > hadBytes) failures = 0;
      isKnown = true;
      onOffset(upload.offset);
    } catch (error) {
      failures += 1;
      if (failures > ATTEMPTS_MAX || !calls.isPassing(error, upload !== undefined)) throw error;
      await calls.wait(Math.min(WAIT_MS_MAX, WAIT_MS_FIRST * 2 ** (failures - 1)));
      isKnown = false;
    }
  }
  return upload.file;
}

async function sendNext({ id, offset, pieceBytesMax }: Upload, sizeBytes: number, calls: PieceCalls): Promise<Upload> {
  const end = Math.min(sizeBytes, offset + Math.min(PIECE_BYTES, pieceBytesMax));
  const sent = await calls.send(id, offset, end);
  if (sent.file === null && sent.offset <= offset) throw new Error(`The service takes no more than ${offset} bytes.`);
  return sent;
}

/** Statuses after which another attempt may succeed: no answer, too many calls, a gateway or the service is not there. */
export function isPassingStatus(status: number, code: string): boolean {
  return [0, 408, 429, 502, 503, 504].includes(status) || code === 'UPLOAD_OFFSET_CONFLICT';
}
