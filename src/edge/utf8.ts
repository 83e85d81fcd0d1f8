/**
 * A text as uWebSockets.js must get it. The addon for Node 22 and newer writes a string whose characters are all Latin-1 as Latin-1, so such a
 * string goes to it as bytes. A text in ASCII, as most answers are, stays a string, which costs no copy.
 */
export function utf8(text: Uint8Array | string): Uint8Array | string {
  return typeof text === 'string' && Buffer.byteLength(text) !== text.length ? Buffer.from(text) : text;
}
