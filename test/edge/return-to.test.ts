import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownPath } from '../../src/edge/return-to.ts';

const HOST = 'https://easel.example';

test.each(['/', '/account', '/device?user_code=BCDF-GHJK', '/invite/abc#top', '/a/%2F/b', '/a?next=//x', '/x@y', '/a:b'])(
  'keeps the path %s',
  (path) => {
    expect(ownPath(path)).toBe(path);
  },
);

// I4
test.each([
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  'https://evil.example',
  'https:evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  '/%5cevil.example',
  '/%2Fevil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  ' //evil.example',
  '/ /evil.example',
  '/.//evil.example',
  '/./\\evil.example',
  '/x/..//evil.example',
  '/x/../\\evil.example',
  '/.%2f%2fevil.example/..//evil.example',
  'evil.example',
  '@evil.example',
  '',
  '/\u2044evil.example',
  `/${'x'.repeat(5000)}`,
])('[I4] does not go to %j', (wanted) => {
  expect(ownPath(wanted, '/safe')).toBe('/safe');
});

test('[I4] whatever is asked for, the browser stays on this host, also where a proxy decodes the path first', () => {
  const pieces = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    '%2f',
    '%5C',
    '%09',
    '\t',
    '@',
    ':',
    '?',
    '#',
    'evil.example',
    'https:',
    ' ',
    '\u0000',
    'a',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(pieces, { maxLength: 8 }).map((all) => all.join('')),
      ),
      (wanted) => {
        const path = ownPath(wanted);
        expect(new URL(path, HOST).origin).toBe(HOST);
        expect(path).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/);
        expect(path).not.toMatch(/^\/(?:%2f|%5c)/i);
        expect(ownPath(path)).toBe(path);
      },
    ),
    { numRuns: 3000 },
  );
});
