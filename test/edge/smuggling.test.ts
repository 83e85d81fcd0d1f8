/**
 * Requests that a proxy and the server could parse differently. Each is refused or answered correctly, and bytes of one request are never read
 * as another. `handled` shows the requests that the edge saw.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FakeEdge, OWNER_TOKEN, PUBLIC_ID, rawRequest, startFakeEdge } from './fake-edge.ts';

const HOST = 'Host: localhost\r\n';
const AUTH = `Authorization: Bearer ${OWNER_TOKEN}\r\n`;
const KEY = `/v1/data/${PUBLIC_ID}/json/k`;
const PUT = `PUT ${KEY} HTTP/1.1\r\n${HOST}${AUTH}Content-Type: application/json\r\n`;
const GET = `GET ${KEY} HTTP/1.1\r\n${HOST}\r\n`;
/** The request that an attacker wants to smuggle. */
const SMUGGLED = `DELETE ${KEY} HTTP/1.1\r\n${HOST}${AUTH}\r\n`;
/** More than the parser buffers of an unfinished head, so that it closes and the test needs no timeout. */
const FLOOD = 'x'.repeat(600_000);

let fake: FakeEdge;
beforeAll(async () => {
  fake = await startFakeEdge();
});
afterAll(() => fake.close());
beforeEach(() => {
  fake.handled.length = 0;
});

function statuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));
}

describe('a request whose body could be measured in two ways is refused and the connection closed', () => {
  test.each([
    ['Content-Length and Transfer-Encoding', `${PUT}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
    ['Transfer-Encoding and Content-Length', `${PUT}Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n${SMUGGLED}`],
    ['two equal Content-Lengths', `${PUT}Content-Length: 1\r\nContent-Length: 1\r\n\r\n1${SMUGGLED}`],
    ['two different Content-Lengths', `${PUT}Content-Length: 1\r\nContent-Length: 3\r\n\r\n111${SMUGGLED}`],
    ['a list of Content-Lengths', `${PUT}Content-Length: 1, 1\r\n\r\n1${SMUGGLED}`],
    ['a signed Content-Length', `${PUT}Content-Length: +1\r\n\r\n1${SMUGGLED}`],
    ['a negative Content-Length', `${PUT}Content-Length: -1\r\n\r\n1${SMUGGLED}`],
    ['a hexadecimal Content-Length', `${PUT}Content-Length: 0x1\r\n\r\n1${SMUGGLED}`],
    ['an empty Content-Length', `${PUT}Content-Length:\r\n\r\n${SMUGGLED}`],
    ['a Content-Length beyond 64 bits', `${PUT}Content-Length: 18446744073709551617\r\n\r\n1${SMUGGLED}`],
    ['chunked', `${PUT}Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n${SMUGGLED}`],
    ['chunked with an extension', `${PUT}Transfer-Encoding: chunked\r\n\r\n1;a=b\r\n1\r\n0\r\n\r\n${SMUGGLED}`],
    ['chunked with a trailer', `${PUT}Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n${SMUGGLED}`],
    ['a bad chunk size', `${PUT}Transfer-Encoding: chunked\r\n\r\nzz\r\n1\r\n0\r\n\r\n${SMUGGLED}`],
    ['a huge chunk size', `${PUT}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF1\r\n1\r\n0\r\n\r\n${SMUGGLED}`],
    ['an unknown coding', `${PUT}Transfer-Encoding: xchunked\r\n\r\n1\r\n1\r\n0\r\n\r\n${SMUGGLED}`],
    ['identity', `${PUT}Transfer-Encoding: identity\r\n\r\n${SMUGGLED}`],
    ['two Transfer-Encodings', `${PUT}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
    ['an empty Transfer-Encoding', `${PUT}Transfer-Encoding:\r\n\r\n${SMUGGLED}`],
    ['two Hosts', `GET ${KEY} HTTP/1.1\r\n${HOST}Host: other\r\n\r\n${SMUGGLED}`],
  ])('%s', async (_name, bytes) => {
    const { text, closed } = await rawRequest(fake.port, bytes);
    expect(closed).toBe(true);
    expect(statuses(text).filter((status) => status < 400)).toEqual([]);
    expect(fake.handled).toEqual([]);
  });

  test.each([
    ['chunked', `${PUT}Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n`, 411, 'LENGTH_REQUIRED'],
    ['two Content-Lengths', `${PUT}Content-Length: 1\r\nContent-Length: 1\r\n\r\n1`, 400, 'INVALID_REQUEST'],
  ])('%s alone is told why', async (_name, bytes, status, code) => {
    const { text, closed } = await rawRequest(fake.port, bytes);
    expect(closed).toBe(true);
    expect(statuses(text)).toEqual([status]);
    expect(text).toContain(`"code":"${code}"`);
  });
});

describe('a malformed head is never answered as if it were well formed', () => {
  test.each([
    ['a space before the colon of Content-Length', `${PUT}Content-Length : 1\r\n\r\n1${SMUGGLED}`],
    ['a space before the colon of Transfer-Encoding', `${PUT}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
    ['a folded header', `GET ${KEY} HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n${SMUGGLED}`],
    ['a folded Content-Length', `${PUT}Content-Length:\r\n 1\r\n\r\n1${SMUGGLED}`],
    ['NUL in a value', `GET ${KEY} HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n${SMUGGLED}`],
    ['a bare CR in a value', `GET ${KEY} HTTP/1.1\r\n${HOST}X: a\rb\r\n\r\n${SMUGGLED}`],
    ['a bare LF in a value', `GET ${KEY} HTTP/1.1\r\n${HOST}X: a\nTransfer-Encoding: chunked\r\n\r\n${SMUGGLED}`],
    ['bare LFs as line ends', `GET ${KEY} HTTP/1.1\nHost: localhost\n\n${SMUGGLED}`],
    ['no Host', `GET ${KEY} HTTP/1.1\r\n\r\n${SMUGGLED}`],
    ['more headers than are kept', `GET ${KEY} HTTP/1.1\r\n${HOST}${'X: y\r\n'.repeat(200)}\r\n${SMUGGLED}`],
    ['a head that does not end', `GET ${KEY} HTTP/1.1\r\n${HOST}X: ${'y'.repeat(600_000)}`],
    ['an absolute target', `GET http://localhost${KEY} HTTP/1.1\r\n${HOST}\r\n${SMUGGLED}`],
    ['an asterisk', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n${SMUGGLED}`],
    ['CONNECT', `CONNECT localhost:80 HTTP/1.1\r\n${HOST}\r\n${SMUGGLED}`],
    ['HTTP/1.0', `GET ${KEY} HTTP/1.0\r\n${HOST}\r\n${SMUGGLED}`],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['control characters in the target', `GET ${KEY}\x01 HTTP/1.1\r\n${HOST}\r\n${SMUGGLED}`],
  ])('%s', async (_name, bytes) => {
    const { text, closed } = await rawRequest(fake.port, bytes + FLOOD);
    expect(closed).toBe(true);
    expect(statuses(text).filter((status) => status < 400)).toEqual([]);
    expect(fake.handled).toEqual([]);
  });

  test.each(['localhost/x', 'local host', 'a@b', '<script>', 'localhost:99999999', 'a..b?c', '[::1', '\xff\xfe', 'a,b'])(
    'Host: %s',
    async (host) => {
      const { text } = await rawRequest(fake.port, `GET ${KEY} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, '"request_id"');
      expect(statuses(text)).toEqual([400]);
      expect(fake.handled).toEqual([]);
    },
  );

  test('a lowercase method is another method', async () => {
    const { text } = await rawRequest(fake.port, `get ${KEY} HTTP/1.1\r\n${HOST}\r\n`, '"request_id"');
    expect(statuses(text)).toEqual([405]);
  });
});

describe('the connection stays in step', () => {
  test('pipelined reads are answered in order', async () => {
    const second = GET.replace('/k ', '/k2 ');
    const { text } = await rawRequest(fake.port, GET + second + GET.replace(KEY, '/v1/nothing'), 'NOT_FOUND');
    expect(statuses(text)).toEqual([200, 200, 404]);
    expect(fake.handled).toEqual(['json.get', 'json.get']);
  });

  test('the body of a GET is not taken for the next request', async () => {
    const body = SMUGGLED;
    const withBody = `GET ${KEY} HTTP/1.1\r\n${HOST}Content-Length: ${body.length}\r\n\r\n${body}`;
    const { text } = await rawRequest(fake.port, withBody + GET.replace(KEY, '/v1/nothing'), 'NOT_FOUND');
    expect(statuses(text)).toEqual([200, 404]);
    expect(fake.handled).toEqual(['json.get']);
  });

  test('the body of a refused PUT is not taken for the next request', async () => {
    const body = SMUGGLED;
    const refused = `PUT ${KEY} HTTP/1.1\r\n${HOST}Content-Length: ${body.length}\r\n\r\n${body}`;
    const { text } = await rawRequest(fake.port, refused + GET.replace(KEY, '/v1/nothing'), 'NOT_FOUND');
    expect(statuses(text)).toEqual([401, 404]);
    expect(fake.handled).toEqual([]);
  });

  test('a body that looks like a request is a body', async () => {
    const body = JSON.stringify(SMUGGLED);
    const put = `${PUT}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    const { text } = await rawRequest(fake.port, put, 'handled');
    expect(statuses(text)).toEqual([200]);
    expect(fake.handled).toEqual(['json.put']);
  });

  test('a HEAD carries the length of the GET and no body', async () => {
    const head = GET.replace('GET', 'HEAD');
    const { text } = await rawRequest(fake.port, head + GET, '{');
    expect(statuses(text)).toEqual([200, 200]);
    const [first = '', second = ''] = text.split('HTTP/1.1 200 OK').slice(1);
    expect(first.endsWith('\r\n\r\n')).toBe(true);
    expect(/Content-Length: (\d+)/i.exec(first)?.[1]).toBe(/Content-Length: (\d+)/i.exec(second)?.[1]);
  });

  test('a value of a header cannot end the header', async () => {
    const edge = await startFakeEdge({
      handlers: { 'accounts.account': () => ({ reply: 'ok', body: {}, headers: { 'X-Name': 'a\r\nSet-Cookie: b=c' } }) },
    });
    const answer = await fetch(edge.url('/v1/account'), { headers: { authorization: `Bearer ${OWNER_TOKEN}` } });
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('x-name')).toBe('a  Set-Cookie: b=c');
    edge.close();
  });
});
