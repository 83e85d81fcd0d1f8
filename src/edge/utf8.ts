import { Failure } from '../../protocol/core/errors.ts';

/**
 * A text as uWebSockets.js must get it. The addon for Node 22 and newer writes a string whose characters are all Latin-1 as Latin-1, so such a
 * string goes to it as bytes. A text in ASCII, as most answers are, stays a string, which costs no copy.
 */
export function utf8(text: Uint8Array | string): Uint8Array | string {
  return typeof text === 'string' && Buffer.byteLength(text) !== text.length ? Buffer.from(text) : text;
}

/** Throws INVALID_REQUEST for bytes that are not UTF-8, or that Postgres cannot store as text. */
export function textOfBody(body: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    if (!text.includes('\0')) return text;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  throw new Failure('INVALID_REQUEST', { param: 'body', message: 'body: must be UTF-8 text without NUL characters.' });
}
