/** Words are gone through by hand for speed: that must find what a pattern finds. */
import { expect, test } from 'vitest';
import { Beginnings } from '../../../../src/features/library/search/beginnings.ts';
import { eachWord, folded, isUnspaced, wordsOf } from '../../../../src/features/library/search/folding.ts';
import { LinesText } from '../../../../src/features/library/search/page-text.ts';
import { Random } from '../../../support/random.ts';

const LETTERS = [...' .,-_aAbZ09éÉñİıßẞΣσς’“—…→│\u0301\u212a漢字ひらกข😀\u00ad\u0000\ud800Жж²½'];

function texts(seed: number, count: number): string[] {
  const draw = new Random(seed);
  return Array.from({ length: count }, () => Array.from({ length: draw.integer(16) }, () => draw.pick(LETTERS)).join(''));
}

/** As `eachWord` says it, by a pattern alone. */
function patterned(text: string): { word: string; start: number; end: number }[] {
  return [...text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu)].flatMap(({ 0: raw, index }) => {
    if (!isUnspaced(raw)) return raw.length > 40 ? [] : [{ word: folded(raw), start: index, end: index + raw.length }];
    return Array.from({ length: Math.max(1, raw.length - 1) }, (_, at) => ({
      word: folded(raw.slice(at, at + 2)),
      start: index + at,
      end: index + Math.min(at + 2, raw.length),
    }));
  });
}

test('the words of a text are those that a pattern finds, at the same places', () => {
  for (const text of [...texts(1, 20_000), `${'a'.repeat(41)} ${'b'.repeat(40)}`, 'Ärger, naïve “quotes”—don’t']) {
    const found: unknown[] = [];
    eachWord(text, (word, start, end) => found.push({ word, start, end }));
    expect(found, JSON.stringify(text)).toEqual(patterned(text));
  }
});

test('a text that has a word is never left for its beginnings', () => {
  let count = 0;
  for (const text of texts(2, 20_000)) {
    for (const word of wordsOf(text)) {
      if (word === '') continue;
      count += 1;
      const beginning = isUnspaced(word) ? word : word.slice(0, 2);
      const beginnings = new Beginnings(['zzz', beginning]);
      expect(beginnings.isIn(text), JSON.stringify({ text, beginning })).toBe(true);
      const bytes = Buffer.from(`uno ${text} x`);
      expect(beginnings.isInBytes(bytes, 4, bytes.length - 2), JSON.stringify({ text, beginning })).toBe(true);
    }
  }
  expect(count).toBeGreaterThan(10_000);
  const none = new Beginnings(['uno', 'x', 'жуж']);
  for (const text of ['bruno box', 'Un o', 'ажуж', 'un — “bo”', '']) {
    expect(none.isIn(text)).toBe(false);
    expect(none.isInBytes(Buffer.from(`uno ${text} uno`), 4, 4 + Buffer.byteLength(text))).toBe(false);
  }
});

test('a run of white space and of what nobody sees is one space, and what Postgres refuses is left out', () => {
  for (const text of texts(3, 20_000).filter((each) => !/[_`*|~[\]<>#]/.test(each))) {
    const reader = new LinesText(1000, false);
    reader.write(`begin ${text.replaceAll('\n', ' ')} end`);
    const whole = `begin ${text} end`.replaceAll('\u00ad', '');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: files in UTF-16 have NUL beside every letter
    const plain = whole.replace(/[\s\u0000\u200b\ufeff]+/gu, ' ').replace(/\p{Surrogate}/gu, '');
    expect(reader.end().blocks.map((block) => block.text)).toEqual([plain]);
  }
});

test('letters are folded to what is typed without them, and nothing but letters and digits is left', () => {
  expect(['Größe', 'GRÖSSE', 'Ørsted', 'Łódź', 'Æon', 'ﬁsh', 'ｒｅｌｅａｓｅ', 'ıstanbul', 'İstanbul', 'm²'].map(folded)).toEqual([
    'grosse',
    'grosse',
    'orsted',
    'lodz',
    'aeon',
    'fish',
    'release',
    'istanbul',
    'istanbul',
    'm2',
  ]);
  for (const text of ['½', '⑴', '㏂', 'ŀ', 'ﷺ', '℀', 'ǆ', '１／２']) expect(wordsOf(text).join('')).toMatch(/^[\p{L}\p{N}]*$/u);
  // 18 letters each.
  expect(wordsOf('ﷺ'.repeat(40))).toEqual([]);
});
