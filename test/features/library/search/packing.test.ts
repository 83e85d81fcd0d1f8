/** The pieces of a page as they are stored, and those from before they were separated. */
import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { Matcher } from '../../../../src/features/library/search/matching.ts';
import { packed, unpackedWhere } from '../../../../src/features/library/search/packing.ts';
import type { Piece } from '../../../../src/features/library/search/passages-of.ts';
import { plainTerm } from './search-stage.ts';

const EVERYTHING = { byHeadings: false, mayBeIn: () => true, mayBeInBytes: () => true };

const PIECES: Piece[] = [
  { path: 'index.html', heading: null, text: 'An otter — “wet” and naïve — swims.' },
  { path: 'index.html', heading: 'Badgers', text: 'They dig. 東京' },
  { path: 'más/página.md', heading: 'Otters', text: '' },
];

function meaning(word: string, byHeadings: boolean): Matcher {
  return new Matcher([plainTerm(word)], { byHeadings });
}

test('pieces come back as they were, of long pages too', async () => {
  const pieces = Array.from({ length: 300 }, (_, at) => ({
    path: `${at % 7}.html`,
    heading: at % 2 ? `Part ${at}` : null,
    text: `${at} ${'ñ—x'.repeat(90)}`,
  }));
  for (const some of [PIECES, pieces, []]) expect(await unpackedWhere(await packed(some), EVERYTHING, Infinity)).toEqual(some);
  expect(await unpackedWhere(await packed(pieces), EVERYTHING, 170)).toEqual(pieces.slice(0, 170));
});

test('what a page says cannot end a piece', async () => {
  const [piece] = await unpackedWhere(
    await packed([{ path: 'a\u001fb.html', heading: 'c\u001e', text: '\u001ed\u001fe' }]),
    EVERYTHING,
    Infinity,
  );
  expect(piece).toEqual({ path: 'a b.html', heading: 'c ', text: ' d e' });
});

test('pieces that were stored as JSON are read as before', async () => {
  const deflated = deflateRawSync(JSON.stringify(PIECES.map(({ path, heading, text }) => [path, heading, text])));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(deflated.length);
  const stored = Buffer.concat([length, deflated]);
  expect(await unpackedWhere(stored, EVERYTHING, Infinity)).toEqual(PIECES);
  expect(await unpackedWhere(stored, meaning('otters', true), Infinity)).toEqual([PIECES[2]]);
  expect(await unpackedWhere(stored, meaning('otters', false), Infinity)).toEqual([]);
});

test('only pieces with one of the words come back, and those whose headings have one where these count', async () => {
  const stored = await packed(PIECES);
  const found = async (word: string, byHeadings: boolean) =>
    (await unpackedWhere(stored, meaning(word, byHeadings), Infinity)).map((piece) => PIECES.findIndex(({ text }) => text === piece.text));
  expect(await found('otter', false)).toEqual([0]);
  expect(await found('naive', false)).toEqual([0]);
  expect(await found('東京', false)).toEqual([1]);
  expect(await found('badgers', false)).toEqual([]);
  expect(await found('badgers', true)).toEqual([1]);
  expect(await found('index', true)).toEqual([]);
});
