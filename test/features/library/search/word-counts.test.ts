/** Words are counted as `eachWord` takes them, however they are spelt and however many there are. */
import { expect, test } from 'vitest';
import { drawFrom } from '../../../../bench/search/corpus.ts';
import { eachWord } from '../../../../src/features/library/search/folding.ts';
import { WordCounts } from '../../../../src/features/library/search/word-counts.ts';

const PIECES = [
  ...['the', 'The', 'THE', 'node', 'Node2', 'a', '7', 'ångström', 'Ångström', 'naïve', 'İstanbul', 'слово', 'λόγος', '東京タワー', 'ไทย'],
  ...['x'.repeat(40), 'y'.repeat(41), 'z'.repeat(3000), 'don’t', 'co-op', 'e\u0301', '\ud83d\ude00', '½', 'ß', 'ﬁne', 'K'],
];
const BETWEEN = [' ', '', '-', '.', '\n', ' — ', '’', '→', '_', '\u00a0'];

function expectSame(texts: readonly string[]): void {
  const expected = new Map<string, number>();
  for (const text of texts) eachWord(text, (word) => expected.set(word, (expected.get(word) ?? 0) + 1));
  const counts = new WordCounts();
  for (const text of texts) counts.add(text);
  expect(counts.words.map((word, place) => [word, counts.times[place]])).toEqual([...expected]);
}

test('as eachWord takes them', () => {
  const draw = drawFrom(1);
  for (let round = 0; round < 300; round += 1) {
    const part = () => `${PIECES[draw(PIECES.length)]}${BETWEEN[draw(BETWEEN.length)]}`;
    expectSame(Array.from({ length: 3 }, () => Array.from({ length: draw(30) }, part).join('')));
  }
});

test('more words than it begins with room for', () => {
  expectSame([0, 1, 0].map((from) => Array.from({ length: 30_000 }, (_, at) => `word${from + at}`).join(' ')));
});

test('words that are only named have a place and no times', () => {
  const counts = new WordCounts();
  expect([counts.placeOf('title'), counts.placeOf('of'.repeat(100)), counts.placeOf('title')]).toEqual([0, 1, 0]);
  counts.add('A title and another Title');
  expect(counts.words.slice(0, 3)).toEqual(['title', 'of'.repeat(100), 'a']);
  expect(['title', 'of'.repeat(100), 'another', 'absent'].map((word) => counts.timesOf(word))).toEqual([2, 0, 1, 0]);
});
