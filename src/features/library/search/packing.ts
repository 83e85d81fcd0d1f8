/** The pieces of a page's text as they are stored: groups of pieces, each deflated JSON behind its length (4 bytes, big-endian). */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { loopTurns } from '../../../platform/loop-turns.ts';
import type { Piece } from './passages-of.ts';

/** What is deflated or read in one turn of the loop. */
const GROUP_CHARS = 32 * 1024;
const LENGTH_BYTES = 4;
/** A fiftieth larger than at the usual level, in three quarters of the time. */
const DEFLATE = { level: 4, memLevel: 9 };
const LANE = 'search';

export async function packed(pieces: readonly Piece[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const group of groupsOf(pieces)) {
    if (parts.length > 0) await loopTurns.next(LANE);
    const deflated = deflateRawSync(JSON.stringify(group.map(({ path, heading, text }) => [path, heading, text])), DEFLATE);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(deflated.length);
    parts.push(length, deflated);
  }
  return Buffer.concat(parts);
}

function groupsOf(pieces: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = [];
  let chars = GROUP_CHARS;
  for (const piece of pieces) {
    if (chars >= GROUP_CHARS) {
      groups.push([]);
      chars = 0;
    }
    groups.at(-1)?.push(piece);
    chars += piece.text.length;
  }
  return groups;
}

/** The first `max` pieces that are wanted. */
export async function unpackedWhere(bytes: Buffer, isWanted: (piece: Piece) => boolean, max: number): Promise<Piece[]> {
  const found: Piece[] = [];
  for (let at = 0; at < bytes.length && found.length < max; ) {
    await loopTurns.next(LANE);
    const from = at + LENGTH_BYTES;
    at = from + bytes.readUInt32BE(at);
    const group = JSON.parse(inflateRawSync(bytes.subarray(from, at)).toString()) as [string, string | null, string][];
    for (const [path, heading, text] of group) {
      const piece = { path, heading, text };
      if (found.length < max && isWanted(piece)) found.push(piece);
    }
  }
  return found;
}
