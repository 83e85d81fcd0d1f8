/** What is read of a page: however it is nested or cut, the text can be kept. */
import { expect, test } from 'vitest';
import { HtmlText, LinesText } from '../../../../src/features/library/search/page-text.ts';

const textsOf = (reader: HtmlText | LinesText) => reader.end().blocks.map(({ text }) => text);

test('a page 100 000 elements deep is read as far as browsers nest, and its text before that is kept', () => {
  const reader = new HtmlText(10_000);
  reader.write(`<p>before</p>${'<b>'.repeat(100_000)}deep`);
  reader.write('</i>'.repeat(100_000));
  expect(reader.isFull).toBe(true);
  expect(textsOf(reader)).toEqual(['before']);
});

test('many elements one after the other are not deep, whether they are ended or not', () => {
  const reader = new HtmlText(100_000);
  reader.write(`${'<p>one<br>'.repeat(1000)}${'<li>two'.repeat(1000)}${'<i>three</i> '.repeat(1000)}last`);
  expect(reader.isFull).toBe(false);
  expect(textsOf(reader).at(-1)).toMatch(/last$/);
});

test.each([
  ['HTML', (chars: number) => new HtmlText(chars)],
  ['plain text', (chars: number) => new LinesText(chars, false)],
])('%s: neither NUL nor half an emoji is left where a text is cut', (_, readerOf) => {
  const cut = readerOf(4);
  cut.write('abc😀def');
  expect(textsOf(cut)).toEqual(['abc']);
  const nul = readerOf(100);
  nul.write('one\u0000two \ud83dthree');
  expect(textsOf(nul)).toEqual(['one two three']);
});

test('a soft hyphen is no part of a text', () => {
  const reader = new HtmlText(100);
  reader.write('<p>Donau&shy;dampf\u00adschiff\u00ad &shy;ab');
  expect(textsOf(reader)).toEqual(['Donaudampfschiff ab']);
});
