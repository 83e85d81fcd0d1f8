/** Every answer allows what its preflight allowed; else the browser hides the answer to a write that was made. */
import { expect, onTestFinished, test } from 'vitest';
import { Failure } from '../../protocol/core/errors.ts';
import { OTHER_TOKEN, OWNER_TOKEN, PRIVATE_ID, PUBLIC_ID, rawRequest, startFakeEdge } from './fake-edge.ts';

const UNKNOWN_ID = `art_${'u'.repeat(24)}`;
const TOKEN_ID = `upl_${'k'.repeat(24)}`;
const JSON_TYPE = 'Content-Type: application/json\r\n';
const bearer = (token: string) => `Authorization: Bearer ${token}\r\n`;

/** Name, status, request line, further header lines, body. */
type Kind = readonly [name: string, status: number, target: string, headers: string, body: string];

const KINDS = (id: string): readonly Kind[] => [
  ['an upload by its token', 201, `PUT /v1/data/${id}/blobs/_upload/${TOKEN_ID}`, '', 'bytes'],
  ['a refused upload', 400, `PUT /v1/data/${id}/blobs/_upload/upl_${'x'.repeat(24)}`, '', 'bytes'],
  ['a read', 200, `GET /v1/data/${id}/json/shown`, '', ''],
  ['no credential', 401, `PUT /v1/data/${id}/json/shown`, JSON_TYPE, '1'],
  ['a bad credential', 401, `GET /v1/data/${id}/json/shown`, bearer('so_9'), ''],
  ['a stranger who writes', 403, `PUT /v1/data/${id}/json/shown`, JSON_TYPE + bearer(OTHER_TOKEN), '1'],
  ['a path that is not there', 404, `GET /v1/data/${id}/nothing/here`, '', ''],
  ['a malformed id', 404, `GET /v1/data/${id}/blobs/not-an-id`, '', ''],
  ['a malformed token', 400, `PUT /v1/data/${id}/blobs/_upload/not-an-id`, '', 'bytes'],
  ['a wrong method', 405, `PATCH /v1/data/${id}/blobs`, JSON_TYPE, '{}'],
  ['no length', 411, `PUT /v1/data/${id}/json/shown`, `${JSON_TYPE}Transfer-Encoding: chunked\r\n`, ''],
  ['a large body', 413, `PUT /v1/data/${id}/json/shown`, `${JSON_TYPE + bearer(OWNER_TOKEN)}Content-Length: 99999999\r\n`, ''],
  ['another media type', 415, `PUT /v1/data/${id}/json/shown`, `Content-Type: image/png\r\n${bearer(OWNER_TOKEN)}`, '1'],
];

interface CorsAnswer {
  readonly status: number;
  readonly origin: string | undefined;
  readonly credentials: string | undefined;
}

function corsOf(text: string): CorsAnswer {
  const value = (name: string) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(text)?.[1];
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
  return { status, origin: value('Access-Control-Allow-Origin'), credentials: value('Access-Control-Allow-Credentials') };
}

async function stage(lookUp: boolean) {
  const fake = await startFakeEdge({
    ...(lookUp && { lookUp: () => new Promise<void>((resolve) => setImmediate(resolve)) }),
    handlers: {
      'blobs.put': async ({ params, body }) => {
        if (params.tokenId !== TOKEN_ID) throw new Failure('UPLOAD_TOKEN_EXPIRED');
        for await (const _chunk of body as AsyncIterable<Uint8Array>);
        return { reply: 'created', body: {} };
      },
    },
  });
  onTestFinished(() => fake.close());
  const send = async (host: string, origin: string, [, , target, headers, body]: Kind) => {
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
    const { text } = await rawRequest(
      fake.port,
      `${target} HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\nConnection: close\r\n${headers}${length}\r\n${body}`,
      '\r\n\r\n',
    );
    return corsOf(text);
  };
  const preflight = (host: string, origin: string, kind: Kind) => {
    const [method = '', path] = kind[2].split(' ');
    return send(host, origin, ['', 204, `OPTIONS ${path}`, `Access-Control-Request-Method: ${method}\r\n`, '']);
  };
  const content = `localhost:${fake.port}`;
  return { fake, send, preflight, api: `127.0.0.1:${fake.port}`, own: `shown.${content}`, other: `hidden.${content}` };
}

const LOOKED_UP = [
  ['in memory', false],
  ['looked up', true],
] as const;

test.each(LOOKED_UP)("on the API's host each kind of answer keeps what its preflight promised, the artifact %s", async (_where, lookUp) => {
  const { send, preflight, api, own, other } = await stage(lookUp);
  for (const kind of KINDS(PUBLIC_ID)) {
    const [name, status] = kind;
    for (const [origin, allowed] of [
      [`http://${own}`, { origin: `http://${own}`, credentials: 'true' }],
      [`http://${other}`, { origin: '*', credentials: undefined }],
      ['https://elsewhere.example', { origin: '*', credentials: undefined }],
      ['null', { origin: '*', credentials: undefined }],
    ] as const) {
      expect([name, origin, await send(api, origin, kind)]).toEqual([name, origin, { status, ...allowed }]);
      if (name !== 'a path that is not there') {
        expect([name, origin, await preflight(api, origin, kind)]).toEqual([name, origin, { status: 204, ...allowed }]);
      }
    }
  }
});

test.each(LOOKED_UP)("on the page's own host each kind of answer keeps it too, the artifact %s", async (_where, lookUp) => {
  const { send, own } = await stage(lookUp);
  // A malformed request is refused before its host is read.
  for (const kind of KINDS(PUBLIC_ID).filter(([, status]) => status !== 411)) {
    const [name, status] = kind;
    const answer = await send(own, `http://${own}`, kind);
    expect([name, answer]).toEqual([name, { status, origin: `http://${own}`, credentials: 'true' }]);
  }
});

test.each(LOOKED_UP)('neither a private nor a missing artifact reveals its page, the artifact %s', async (_where, lookUp) => {
  const { send, preflight, api, other } = await stage(lookUp);
  for (const id of [PRIVATE_ID, UNKNOWN_ID]) {
    const kind: Kind = ['', 0, `GET /v1/data/${id}/json/shown`, bearer(OWNER_TOKEN), ''];
    for (const answer of [await send(api, `http://${other}`, kind), await preflight(api, `http://${other}`, kind)]) {
      expect(answer).toMatchObject({ origin: '*', credentials: undefined });
    }
  }
});

test('what is too much for the limit keeps it', async () => {
  const { fake, send, api, own } = await stage(false);
  fake.limit.remaining = 0;
  const kind: Kind = ['', 429, `GET /v1/data/${PUBLIC_ID}/json/shown`, '', ''];
  expect(await send(api, `http://${own}`, kind)).toEqual({ status: 429, origin: `http://${own}`, credentials: 'true' });
});
