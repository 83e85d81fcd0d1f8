import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../../protocol/core/errors.ts';
import { checkPath, requirePaths } from '../../../../src/features/artifacts/publish/paths.ts';

describe('paths of files', () => {
  test.each([
    'index.html',
    'a/b/c.js',
    'Ünïcödé/日本語.html',
    'with space.txt',
    '100%.html',
    'a%20b.html',
    '.well-known/x',
    'a..b',
    '...',
    'a.',
    '~x',
  ])('takes %j', (path) => {
    expect(checkPath(path)).toEqual({ ok: true, path: path.normalize('NFC') });
  });

  test.each([
    ['', 'empty'],
    ['/index.html', 'leading slash'],
    ['a//b', 'empty segments'],
    ['a/', 'empty segments'],
    ['.', '".."'],
    ['..', '".."'],
    ['a/../b', '".."'],
    ['a/./b', '".."'],
    ['a\\b', 'backslashes'],
    ['a\u0000b', 'control'],
    ['a\nb', 'control'],
    ['a\u0085b', 'control'],
    ['a\ud800b', 'control'],
    ['%2e%2e/x', 'percent-encoded'],
    ['a%2Fb', 'percent-encoded'],
    ['a%5cb', 'percent-encoded'],
    ['a%00b', 'percent-encoded'],
    ['a%252e%252e', 'percent-encoded'],
    ['a%25252fb', 'percent-encoded'],
    ['x'.repeat(513), '512'],
  ])('refuses %j', (path, problem) => {
    const check = checkPath(path);
    expect(check.ok ? 'taken' : check.problem).toContain(problem);
  });

  test('normalises decomposed characters', () => {
    expect(checkPath('cafe\u0301.html')).toEqual({ ok: true, path: 'caf\u00e9.html' });
  });

  test('names every wrong path with its position', () => {
    const error = failureOf(() => requirePaths(['ok', '/no', 'ok', 'dir', 'dir/file', '..'], 'files'));
    expect(error.code).toBe('INVALID_REQUEST');
    expect(error.details.issues?.map((issue) => issue.path)).toEqual(['files.1.path', 'files.5.path', 'files.2.path', 'files.3.path']);
    expect(error.details.param).toBe('files.1.path');
  });

  test('refuses two spellings of one normalised path', () => {
    expect(failureOf(() => requirePaths(['caf\u00e9', 'cafe\u0301'], 'files')).details.param).toBe('files.1.path');
    expect(requirePaths(['A.txt', 'a.txt'], 'files')).toEqual(['A.txt', 'a.txt']);
  });

  test('an accepted path stays below its root, however often it is decoded', () => {
    const nasty = fc.constantFrom('.', '..', '/', '\\', '%', '2e', '2f', '%2e', '%2F', '%25', '%5c', 'a', '\u0000', 'é', '');
    fc.assert(
      fc.property(fc.array(fc.oneof(nasty, fc.string({ unit: 'grapheme', maxLength: 3 })), { maxLength: 12 }), (parts) => {
        const check = checkPath(parts.join(''));
        if (!check.ok) return;
        expect(checkPath(check.path)).toEqual(check);
        let path = check.path;
        for (let round = 0; round < 4; round += 1) {
          expect(new URL(`https://x.test/root/${path.split('/').map(encodeURIComponent).join('/')}`).pathname).toMatch(/^\/root\//);
          expect(path.split('/')).not.toContain('..');
          expect(path).not.toMatch(/\\|\0/);
          path = decoded(path);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

function decoded(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function failureOf(run: () => unknown): Failure {
  try {
    run();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
