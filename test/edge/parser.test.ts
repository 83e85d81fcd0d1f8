/**
 * The answers of uWebSockets' own parser, which differ between the binary for Node 20 and those for Node 22 and newer. README lists the same.
 * In both cases such a request never reaches a handler, and the connection is closed.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FakeEdge, PUBLIC_ID, rawRequest, startFakeEdge } from './fake-edge.ts';

const NEWER = Number(process.versions.node.split('.')[0]) >= 22;

const KEY = `/v1/data/${PUBLIC_ID}/json/k`;
const START = `GET ${KEY} HTTP/1.1\r\nHost: localhost\r\n`;
/** More than the older parser buffers of an unreadable head, so that it closes and the test needs no timeout. */
const FLOOD = 'x'.repeat(600_000);
const HEAD_BYTES_MAX = 16 * 1024;

let fake: FakeEdge;
beforeAll(async () => {
  fake = await startFakeEdge();
});
afterAll(() => fake.close());
beforeEach(() => {
  fake.handled.length = 0;
});

/** A head of exactly so many bytes. */
function headOf(bytes: number): string {
  return `${START}X: ${'y'.repeat(bytes - START.length - 'X: \r\n\r\n'.length)}\r\n\r\n`;
}

function statuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));
}

describe('a head of up to 16 KB gets our answer', () => {
  test.each([4096, 4097, 8000, HEAD_BYTES_MAX])('%i bytes', async (bytes) => {
    expect(headOf(bytes)).toHaveLength(bytes);
    const { text } = await rawRequest(fake.port, headOf(bytes), 'handled');
    expect(statuses(text)).toEqual([200]);
    expect(fake.handled).toEqual(['json.get']);
  });

  test('also where most of it is the target', async () => {
    const { text } = await rawRequest(fake.port, START.replace('/k ', `/${'k'.repeat(15_000)} `).concat('\r\n'), '"request_id"');
    expect(statuses(text)).toEqual([400]);
    expect(text).toContain('KEY_INVALID');
  });

  test('a larger one that does not end is refused', async () => {
    const { text, closed } = await rawRequest(fake.port, headOf(HEAD_BYTES_MAX + 1).slice(0, -2) + FLOOD);
    expect({ statuses: statuses(text), closed, handled: fake.handled }).toEqual({ statuses: [431], closed: true, handled: [] });
  });
});

describe('what the newer parser refuses by itself, with a page of its own', () => {
  test.each([
    ['two Hosts', START.concat('Host: other\r\n\r\n'), 400],
    ['no Host', `GET ${KEY} HTTP/1.1\r\n\r\n`, 400],
    ['a space before a colon', START.concat('X : y\r\n\r\n'), 400],
    ['a name with a space', START.concat('a b: c\r\n\r\n'), 400],
    ['a folded header', START.concat('X: a\r\n b\r\n\r\n'), 400],
    ['NUL in a value', START.concat('X: a\0b\r\n\r\n'), 400],
    ['a bare LF in a value', START.concat('X: a\nb\r\n\r\n'), 400],
    ['99 headers', START.concat('X: y\r\n'.repeat(98), '\r\n'), 431],
  ])('%s', async (_name, bytes, status) => {
    const { text, closed } = await rawRequest(fake.port, NEWER ? bytes : bytes + FLOOD);
    expect(closed).toBe(true);
    expect(fake.handled).toEqual([]);
    if (NEWER) expect([statuses(text), text.includes('request_id')]).toEqual([[status], false]);
    else expect(statuses(text).filter((answered) => answered < 400)).toEqual([]);
  });

  test('a head of more than 16 KB in one packet, which the older hands over', async () => {
    const { text } = await rawRequest(fake.port, headOf(HEAD_BYTES_MAX + 1), NEWER ? undefined : 'handled');
    expect(statuses(text)).toEqual([NEWER ? 431 : 200]);
  });

  test('98 headers are not too many', async () => {
    const { text } = await rawRequest(fake.port, START.concat('X: y\r\n'.repeat(97), '\r\n'), 'handled');
    expect(statuses(text)).toEqual([200]);
  });
});

test('a request with two Hosts is refused with a reason, by the parser or by us', async () => {
  const { text, closed } = await rawRequest(fake.port, START.concat('Host: other\r\n\r\n'));
  expect([closed, statuses(text)]).toEqual([true, [400]]);
  expect(text).toContain(NEWER ? 'Bad Request' : '"code":"INVALID_REQUEST"');
});
