/** I4: a sign-in never ends at another origin. */
import { expect, test } from 'vitest';
import { returnPath } from '../../../../src/features/people/oidc/return-to.ts';

const BASE = 'https://easel.example.com';

test.each([
  ['/', '/'],
  ['/pages', '/pages'],
  ['/pages?x=1&y=%2F#top', '/pages?x=1&y=%2F#top'],
  ['/a//b', '/a//b'],
  ['/@name', '/@name'],
  ['/a/../b', '/b'],
  ['https://easel.example.com/pages', '/pages'],
])('%s is a path of this host', (wanted, path) => {
  expect(returnPath(wanted, BASE)).toBe(path);
});

test.each([
  [undefined],
  [''],
  ['pages'],
  ['https://evil.example'],
  ['https://easel.example.com.evil.example/'],
  ['https://easel.example.com@evil.example/'],
  ['https://easel.example.com'],
  ['http://easel.example.com/pages'],
  ['//evil.example'],
  ['///evil.example'],
  ['/\\evil.example'],
  ['\\\\evil.example'],
  ['/%5cevil.example'],
  ['/%5Cevil.example'],
  ['/%2fevil.example'],
  ['/\tevil.example'],
  ['/\t/evil.example'],
  ['\t//evil.example'],
  ['/\n/evil.example'],
  [' //evil.example'],
  ['/.//evil.example'],
  ['/a/..//evil.example'],
  ['/%2e%2e//evil.example'],
  ['javascript:alert(1)'],
  ['data:text/html,x'],
  ['//'],
  ['/\u2028/evil.example'],
])('%j goes to the home page', (wanted) => {
  expect(returnPath(wanted, BASE)).toBe('/');
});
