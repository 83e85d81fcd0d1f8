import { describe, expect, it } from 'vitest';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { Cleaning } from '../../../../src/features/library/ask/cleaning.ts';

const source = (text: string) => ({ artifactId: 'art_x' as ArtifactId, title: text, url: '', heading: null, text });
const SOURCES = [source('One.'), source('Two.')];

function cleaned(pieces: readonly string[]) {
  const cleaning = new Cleaning(SOURCES);
  const given = pieces.map((piece) => cleaning.push(piece)).join('') + cleaning.end();
  expect(cleaning.text).toBe(given);
  return { text: given, cited: cleaning.cited.map(({ title }) => title) };
}

describe('the answer of a model', () => {
  it.each([
    ['marks that exist, numbered as they come', 'B [2], A [1][2].', 'B [1], A [2][1].', 2],
    ['no marks that do not exist', 'A [1]. C [7] [0] [99, 2].', 'A [1]. C [2].', 2],
    ['no links', 'See [here](https://evil.example/?q=secret) ![x](http://evil.example/p.png) now', 'See here x now', 0],
    ['no addresses', 'https://evil.example/x and HTTPS://one.example/a, www.evil.example', '… and … …', 0],
    ['no addresses without a scheme', '//evil.test/z and (//evil.test) or [x](//evil.test/y), “//evil.test”', '… and (…) or x, “…', 0],
    ['what only looks like one', 'a//b, evil.test/w, 7 // 2 and s3://bucket', 'a//b, evil.test/w, 7 // 2 and s3://bucket', 0],
    ['other brackets', 'a[i] and [note] and [', 'a[i] and [note] and [', 0],
  ])('has %s, however it is cut', (_, given, expected, cited) => {
    for (const size of [1, 3, given.length]) {
      const pieces = given.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const result = cleaned(pieces);
      expect([size, result.text]).toEqual([size, expected]);
      expect(result.cited).toHaveLength(cited);
    }
  });
});
