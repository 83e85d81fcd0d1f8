/** Cuts the text of pages into passages: pieces of some 800 characters, each below one heading. */
import type { PageText } from './page-text.ts';

export interface Piece {
  readonly path: string;
  readonly heading: string | null;
  readonly text: string;
}

const CHARS = 800;
/** A piece that is begun and is shorter than this is not ended before the next block. */
const CHARS_MIN = 200;

export function piecesOf(path: string, { blocks }: PageText): Piece[] {
  const pieces: Piece[] = [];
  let heading: string | null = null;
  let text = '';
  const flush = () => {
    if (text !== '' || (heading !== null && pieces.at(-1)?.heading !== heading)) pieces.push({ path, heading, text });
    text = '';
  };
  for (const block of blocks) {
    if (block.heading !== heading || (text.length >= CHARS_MIN && text.length + block.text.length > CHARS)) flush();
    heading = block.heading;
    for (let rest = block.text; rest !== ''; ) {
      const room = CHARS - text.length;
      const end = rest.length <= room ? rest.length : cutAt(rest, Math.max(room, CHARS_MIN));
      text = text === '' ? rest.slice(0, end).trim() : `${text} ${rest.slice(0, end).trim()}`;
      rest = rest.slice(end).trim();
      if (rest !== '') flush();
    }
  }
  flush();
  return pieces;
}

/** Behind a sentence where there is one in the second half, else behind a word, else in the middle of one, but not of a character. */
function cutAt(text: string, charsMax: number): number {
  const part = text.slice(0, charsMax);
  const sentence = Math.max(part.lastIndexOf('. '), part.lastIndexOf('? '), part.lastIndexOf('! '), part.lastIndexOf('。'));
  if (sentence >= charsMax / 2) return sentence + 1;
  const space = part.lastIndexOf(' ');
  if (space >= charsMax / 2) return space;
  return /[\ud800-\udbff]$/.test(part) ? charsMax - 1 : charsMax;
}
