import type { FileHandle } from 'node:fs/promises';

const READ_BYTES = 256 * 1024;

/** From `start` to `end`, both included, through one buffer. */
export async function* readFileRange(file: FileHandle, start: number, end: number, { close = true } = {}): AsyncGenerator<Uint8Array> {
  try {
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, Math.max(1, end - start + 1)));
    let at = start;
    while (at <= end) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at + 1), at);
      if (bytesRead === 0) throw new Error('a copy in the cache of objects is shorter than its object');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    if (close) await file.close();
  }
}
