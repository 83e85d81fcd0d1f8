/**
 * The pieces of a page's text as they are stored: groups of pieces, each behind its length (4 bytes, big-endian, of which the first bit is set) and
 * deflated: UTF-8 with a separator between two pieces, and another one between the path, the heading and the text of each.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { loopTurns } from '../../../platform/loop-turns.ts';
import type { Piece } from './passages-of.ts';

/** What is deflated or read in one turn of the loop. */
const GROUP_CHARS = 32 * 1024;
const LENGTH_BYTES = 4;
/** A twentieth larger than at the usual level, in two thirds of the time. */
const DEFLATE = { level: 2, memLevel: 9 };
/** The text of most groups at once: zlib's own chunks of 16 KB have to be joined. */
const INFLATE = { chunkSize: 40 * 1024 };
const LANE = 'search';

/** Information separators of ASCII: nothing that is shown. */
const PIECE_END = 0x1e;
const FIELD_END = 0x1f;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the separators
const SEPARATORS = /[\u001e\u001f]/g;
const SEPARATED = 0x8000_0000;

export async function packed(pieces: readonly Piece[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const group of groupsOf(pieces)) {
    if (parts.length > 0) await loopTurns.next(LANE);
    const deflated = deflateRawSync(group.map(joined).join(String.fromCharCode(PIECE_END)), DEFLATE);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(SEPARATED + deflated.length);
    parts.push(length, deflated);
  }
  return Buffer.concat(parts);
}

function joined({ path, heading, text }: Piece): string {
  return [path, heading ?? '', text].map((field) => field.replace(SEPARATORS, ' ')).join(String.fromCharCode(FIELD_END));
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

/** Which pieces are wanted, by their text, and by their headings where these count. */
export interface Wanted {
  readonly byHeadings: boolean;
  mayBeIn(text: string): boolean;
  /** `bytes`: UTF-8, from `from` on and before `to`. */
  mayBeInBytes(bytes: Buffer, from: number, to: number): boolean;
}

/** The first `max` pieces that are wanted. */
export async function unpackedWhere(bytes: Buffer, wanted: Wanted, max: number): Promise<Piece[]> {
  const found: Piece[] = [];
  for (let at = 0; at < bytes.length && found.length < max; ) {
    await loopTurns.next(LANE);
    const from = at + LENGTH_BYTES;
    const head = bytes.readUInt32BE(at);
    at = from + (head % SEPARATED);
    const group = inflateRawSync(bytes.subarray(from, at), INFLATE);
    for (const piece of head >= SEPARATED ? wantedOf(group, wanted) : wantedOfJson(group, wanted)) {
      found.push(piece);
      if (found.length === max) break;
    }
  }
  return found;
}

/** Only what is wanted becomes a string: a page has dozens of pieces, of which a few are. */
function* wantedOf(group: Buffer, wanted: Wanted): Generator<Piece> {
  for (let at = 0; at < group.length; ) {
    const end = endOf(group, PIECE_END, at, group.length);
    const pathEnd = endOf(group, FIELD_END, at, end);
    const headingEnd = endOf(group, FIELD_END, pathEnd + 1, end);
    if (wanted.mayBeInBytes(group, (wanted.byHeadings ? pathEnd : headingEnd) + 1, end)) {
      const heading = group.toString('utf8', pathEnd + 1, headingEnd);
      yield {
        path: group.toString('utf8', at, pathEnd),
        heading: heading === '' ? null : heading,
        text: group.toString('utf8', headingEnd + 1, end),
      };
    }
    at = end + 1;
  }
}

function endOf(bytes: Buffer, separator: number, from: number, to: number): number {
  const at = bytes.indexOf(separator, from);
  return at === -1 || at > to ? to : at;
}

/** Pages that were indexed before pieces were separated: `[[path, heading, text]]`. */
function* wantedOfJson(group: Buffer, wanted: Wanted): Generator<Piece> {
  for (const [path, heading, text] of JSON.parse(group.toString()) as [string, string | null, string][])
    if (wanted.mayBeIn(text) || (wanted.byHeadings && heading !== null && wanted.mayBeIn(heading))) yield { path, heading, text };
}
