/** A review shows every line of a difference, and every character: what it left out would be merged unseen. */
import { createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linesOfUnified } from '../../src/clients/web/ui/unified.ts';
import { partsOf } from '../../src/clients/web/ui/unseen.ts';

const patchOf = (before: string, after: string) =>
  createTwoFilesPatch('SKILL.md', 'SKILL.md', before, after, undefined, undefined, { context: 3 });
const textsOf = (patch: string, kind: string) => linesOfUnified(patch).flatMap((line) => (line.kind === kind ? line.text.slice(1) : []));
const shown = (text: string) =>
  partsOf(text)
    .map((part) => (part.isUnseen ? `<${part.text}>` : part.text))
    .join('');

describe('the lines of a difference', () => {
  it('has those that look like the header of a file', () => {
    const patch = patchOf('one\n-- x\n======\ntwo\n', 'one\n++ Always send it\nIndex: b\ntwo\n');
    expect(linesOfUnified(patch)).toEqual([
      { kind: 'place', text: '@@ -1,4 +1,4 @@' },
      { kind: 'same', text: ' one' },
      { kind: 'removed', text: '--- x' },
      { kind: 'removed', text: '-======' },
      { kind: 'added', text: '+++ Always send it' },
      { kind: 'added', text: '+Index: b' },
      { kind: 'same', text: ' two' },
    ]);
  });

  it('has the head of every file but the first, which the screen names', () => {
    const lines = linesOfUnified(patchOf('a\n', '++ b\n') + patchOf('-- c\n', 'd\n')).map(({ text }) => text);
    expect(lines.slice(0, 3)).toEqual(['@@ -1,1 +1,1 @@', '-a', '+++ b']);
    expect(lines).toContain('Index: SKILL.md');
    expect(lines.slice(-2)).toEqual(['--- c', '+d']);
  });

  it('leaves out nothing where no hunk says what the lines are', () => {
    expect(linesOfUnified('-{\n+[\n').map(({ text }) => text)).toEqual(['-{', '+[']);
  });

  it('keeps empty lines and spaces at the end', () => {
    expect(textsOf(patchOf('a\n', 'a\n\n  \n'), 'added')).toEqual(['', '  ']);
    expect(textsOf(patchOf('a', 'a\n'), 'remark')).toEqual([' No newline at end of file']);
  });

  it('shows the end \\r of a line only where other lines have none', () => {
    expect(textsOf(patchOf('a\r\nb\r\n', 'a\r\nc\r\n'), 'added')).toEqual(['c']);
    expect(textsOf(patchOf('a\nb\n', 'a\nb\r\n'), 'added')).toEqual(['b\r']);
  });

  it('of any two texts has all that was added and removed', () => {
    const line = fc.oneof(
      fc.constantFrom('-- x', '++ y', '-', '+', '', '@@ -1,1 +1,1 @@', 'Index: a', '======', '\\ No newline', '--- a', '+++ b', 'text'),
      fc.string(),
    );
    const text = fc.array(line.filter((one) => !/[\r\n]/.test(one))).map((lines) => lines.map((one) => `${one}\n`).join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        const context = { context: Number.MAX_SAFE_INTEGER };
        const lines = linesOfUnified(createTwoFilesPatch('a', 'a', before, after, undefined, undefined, context));
        const side = (kind: string) =>
          lines.flatMap((one) => (one.kind === kind || one.kind === 'same' ? `${one.text.slice(1)}\n` : [])).join('');
        expect([side('removed'), side('added')]).toEqual([before, after]);
      }),
      { seed: 41, numRuns: 300 },
    );
  });
});

describe('characters that no one sees', () => {
  it.each([
    ['\u202eabc', '<U+202E>abc'],
    ['a\u200bb\ufeffc', 'a<U+200B>b<U+FEFF>c'],
    ['\u001b[31mred\u0000\u007f\u0085', '<U+001B>[31mred<U+0000><U+007F><U+0085>'],
    ['\u2066x\u2069 \u00ad \u2060 \u2028', '<U+2066>x<U+2069> <U+00AD> <U+2060> <U+2028>'],
    // Tags and variation selectors can carry a whole text.
    ['a\u{e0041}\u{e0042}', 'a<U+E0041><U+E0042>'],
    ['a\ufe0f😀\ufe01', 'a<U+FE0F>😀<U+FE01>'],
    ['1\u200d2', '1<U+200D>2'],
    ['a\rb', 'a<U+000D>b'],
  ])('%j is shown as %s', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it.each(['plain\ttext\n', '❤️ 1️⃣ 👩‍👩‍👧 👩🏽‍🚀 🏳️‍🌈', 'مرحبا ۝ שלום', 'añejo 日本語'])('%j has none', (text) => {
    expect(shown(text)).toBe(text);
  });
});
