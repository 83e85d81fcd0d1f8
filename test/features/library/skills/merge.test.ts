/** A merge joins what git joins, and nothing that git calls a conflict. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { Failure } from '../../../../protocol/core/errors.ts';
import { mergeSources } from '../../../../src/features/library/skills/merge.ts';

const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
const paragraphs = (...lines: readonly string[]) => `${lines.join('\n\n')}\n`;

function mergeOf(live: string, base: string, proposed: string): string | null {
  try {
    return mergeSources(live, base, proposed);
  } catch (error) {
    if (error instanceof Failure && error.code === 'VERSION_CONFLICT') return null;
    throw error;
  }
}

describe('a merge of paragraphs', () => {
  const base = paragraphs('# S', 'One.', 'Two.', 'Three.');
  it('joins changes of neighbours, between which is an empty line', () => {
    expect(mergeOf(paragraphs('# S', 'ONE.', 'Two.', 'Three.'), base, paragraphs('# S', 'One.', 'TWO.', 'Three.'))).toBe(
      paragraphs('# S', 'ONE.', 'TWO.', 'Three.'),
    );
    expect(mergeOf(paragraphs('# S', 'One.', 'Two.', 'THREE.'), base, paragraphs('# S', 'One.', 'New.', 'Two.', 'Three.'))).toBe(
      paragraphs('# S', 'One.', 'New.', 'Two.', 'THREE.'),
    );
  });

  it('joins no changes of lines that touch, and none of the same line', () => {
    expect(mergeOf('ONE\ntwo\nthree\n', 'one\ntwo\nthree\n', 'one\nTWO\nthree\n')).toBeNull();
    expect(mergeOf(paragraphs('# S', 'One.', 'New.', 'Two.', 'Three.'), base, paragraphs('# S', 'One.', 'TWO.', 'Three.'))).toBeNull();
    expect(mergeOf(paragraphs('# S', 'a', 'Two.', 'Three.'), base, paragraphs('# S', 'b', 'Two.', 'Three.'))).toBeNull();
  });

  it('marks a conflict by signs that the texts themselves have not', () => {
    const refused = () => mergeSources('<<<<<<< live version\n=======\n', 'a\n', 'b\n');
    expect(refused).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({
          conflict: '<<<<<<<< live version\n<<<<<<< live version\n=======\n========\nb\n>>>>>>>> proposed change\n',
        }),
      }),
    );
  });
});

/** Git is no part of Easel: the root of Node 24 in CI has none, and its run repeats what depends on Node. The run before it has it. */
const hasGit = spawnSync('git', ['--version']).status === 0;
if (!hasGit) console.warn('Git was not found: merges were not compared with its own.');
else describe('beside git merge-file', besideGit);

function besideGit(): void {
  const folder = mkdtempSync(join(tmpdir(), 'merge-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const byGit = (live: string, base: string, proposed: string): string | null => {
    const names = Object.entries({ live, base, proposed }).map(([name, content]) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    });
    const { status, stdout } = spawnSync('git', ['merge-file', '-p', ...names]);
    return status === 0 ? stdout.toString() : null;
  };
  const edits = (word: fc.Arbitrary<string>) =>
    fc.array(fc.record({ at: fc.nat(30), cut: fc.nat(2), put: fc.array(fc.oneof(word, fc.constant('')), { maxLength: 2 }) }), {
      minLength: 1,
      maxLength: 3,
    });
  const edited = (lines: readonly string[], changes: readonly { at: number; cut: number; put: string[] }[]) => {
    const after = [...lines];
    for (const { at, cut, put } of changes) after.splice(at % (after.length + 1), cut, ...put);
    return text(after);
  };

  /** Git finds another alignment where lines repeat, so that a few of its conflicts have only one reading here. */
  it.each([
    { what: 'lines that are all different', words: 1000, falseMax: 5, onlyHereMax: 0 },
    { what: 'lines that repeat', words: 4, falseMax: 15, onlyHereMax: 2 },
  ])('of $what: what is joined is what git joins', ({ words, falseMax, onlyHereMax }) => {
    const word = fc.nat(words).map((no) => `w${no}`);
    const document = fc
      .array(fc.tuple(word, fc.boolean()), { minLength: 3, maxLength: 12 })
      .map((parts) => parts.flatMap(([one, isLast]) => (isLast ? [one] : [one, ''])));
    const counts = { byGit: 0, falseConflicts: 0, onlyHere: 0 };
    fc.assert(
      fc.property(document, edits(word), edits(word), (base, ours, theirs) => {
        const sides = [edited(base, ours), text(base), edited(base, theirs)] as const;
        const expected = byGit(...sides);
        const merged = mergeOf(...sides);
        if (expected !== null) counts.byGit += 1;
        if (expected === null && merged !== null) counts.onlyHere += 1;
        if (expected !== null && merged === null) counts.falseConflicts += 1;
        if (expected !== null && merged !== null) expect(merged).toBe(expected);
      }),
      { seed: 7, numRuns: 400 },
    );
    expect(counts.byGit).toBeGreaterThan(100);
    expect((100 * counts.falseConflicts) / counts.byGit).toBeLessThan(falseMax);
    expect(counts.onlyHere).toBeLessThanOrEqual(onlyHereMax);
  });
}
