/**
 * XXH32, the hash of placement: HAProxy computes it in plain configuration (`xxh32`), so that a proxy in front chooses as the nodes do. Written
 * here because the packages for it are WebAssembly that loads later, or slower on the short texts that are ids.
 */

const PRIME1 = 0x9e3779b1;
const PRIME2 = 0x85ebca77;
const PRIME3 = 0xc2b2ae3d;
const PRIME4 = 0x27d4eb2f;
const PRIME5 = 0x165667b1;
const STRIPE = 16;

/** Of a text in ASCII, as ids and addresses are. An unsigned number of 32 bits. */
export function xxh32(text: string, seed = 0): number {
  const { length } = text;
  let at = 0;
  let hash = (seed + PRIME5) | 0;
  if (length >= STRIPE) {
    let a = (seed + PRIME1 + PRIME2) | 0;
    let b = (seed + PRIME2) | 0;
    let c = seed | 0;
    let d = (seed - PRIME1) | 0;
    for (; at <= length - STRIPE; at += STRIPE) {
      a = round(a, word(text, at));
      b = round(b, word(text, at + 4));
      c = round(c, word(text, at + 8));
      d = round(d, word(text, at + 12));
    }
    hash = (rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18)) | 0;
  }
  hash = (hash + length) | 0;
  for (; at <= length - 4; at += 4) hash = Math.imul(rotated((hash + Math.imul(word(text, at), PRIME3)) | 0, 17), PRIME4);
  for (; at < length; at += 1) hash = Math.imul(rotated((hash + Math.imul(text.charCodeAt(at), PRIME5)) | 0, 11), PRIME1);
  hash = Math.imul(hash ^ (hash >>> 15), PRIME2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function round(lane: number, input: number): number {
  return Math.imul(rotated((lane + Math.imul(input, PRIME2)) | 0, 13), PRIME1);
}

/** Four characters as a number, the first in the lowest bits. */
function word(text: string, at: number): number {
  return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 8) | (text.charCodeAt(at + 2) << 16) | (text.charCodeAt(at + 3) << 24);
}

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
