/** Invalid requests to `/v1/data`, each with its error code. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callData, type DataArtifact, publishArtifact } from '../support/data-client.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';

let easel: TestEasel;
let artifact: DataArtifact;
beforeAll(async () => {
  easel = await startTestEasel();
  artifact = await publishArtifact(easel, await easel.newUser());
});
afterAll(() => easel.close());

interface Outcome {
  readonly status: number;
  readonly code: string | undefined;
}

/** Sends a raw body. */
async function raw(method: string, path: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Outcome> {
  const init = { method, token: artifact.owner.token, headers: { 'content-type': 'application/json', ...headers } };
  const sent = typeof body === 'string' ? body : new Uint8Array(body);
  const reply = await easel.fetch(`/v1/data/${artifact.id}${path}`, { ...init, body: sent });
  const { code } = (await reply.json()) as { code?: string };
  return { status: reply.status, code };
}

async function stored(path: string): Promise<unknown> {
  const { body } = await callData(easel, artifact, 'GET', path, { token: artifact.owner.token });
  return body.data;
}

const INVALID_JSON = { status: 400, code: 'INVALID_JSON' };

/** Every endpoint that takes any JSON, and one with a schema of its own. */
const TAKERS = [
  ['PUT', '/json/k'],
  ['PATCH', '/json/k'],
  ['POST', '/tables/t'],
  ['POST', '/batch'],
] as const;

describe.each(TAKERS)('%s %s', (method, path) => {
  test.each([
    ['a depth bomb of arrays', '['.repeat(200_000)],
    ['a depth bomb of arrays that is whole', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['a depth bomb of objects', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
    ['a member twice', '{"a":1,"a":2}'],
    ['a member twice, of another spelling', '{"requests":[],"\\u0072equests":[]}'],
    ['__proto__ twice', '{"__proto__":1,"__proto__":2}'],
    ['NaN', '{"a":NaN}'],
    ['Infinity', '[-Infinity]'],
    ['a comment', '{"a":1} // one'],
    ['single quotes', "{'a':1}"],
    ['a lone surrogate in bytes', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['gzip', gzipSync('{"a":1}')],
    ['a control character in a string', '{"a":"\u0001"}'],
    ['nothing', ''],
  ] as readonly (readonly [string, string | Uint8Array])[])('%s', async (_name, body) => {
    expect(await raw(method, path, body)).toEqual(INVALID_JSON);
  });

  test.each(['application/json; charset=utf-16', 'application/json; charset=latin1', 'text/plain', 'application/xml'])(
    'as %s',
    async (type) => {
      expect(await raw(method, path, '{}', { 'content-type': type })).toEqual({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
    },
  );
});

describe('names', () => {
  test.each([
    // uWebSockets itself answers a head that is too large, and closes the connection.
    ['a key of 1 MB', `/json/${'k'.repeat(1024 * 1024)}`, [431, 505]],
    ['a key of 257', `/json/${'k'.repeat(257)}`, [400]],
    ['a key that is not UTF-8', '/json/%ed%a0%80', [400]],
    ['a key with NUL', '/json/a%00b', [400]],
    ['a schema of a table of 65', `/tables/${'t'.repeat(65)}/_schema`, [400]],
    ['a schema of a table that quotes', '/tables/t%22%3B--/_schema', [400]],
  ])('%s', async (_name, path, expected) => {
    const answered = await easel
      .fetch(`/v1/data/${artifact.id}${path}`, {
        method: 'PUT',
        token: artifact.owner.token,
        body: '{"columns":[]}',
        headers: { 'content-type': 'application/json' },
      })
      .then(
        ({ status }) => status,
        // For a head that is too large the connection is closed, which fetch may notice before the answer.
        () => 431,
      );
    expect(expected).toContain(answered);
    expect((await easel.fetch('/healthz')).status).toBe(200);
  });

  test('a member of 1 MB is a member', async () => {
    const body = { ['m'.repeat(1024 * 1024 - 10)]: 1 };
    expect(await raw('PUT', '/json/long', JSON.stringify(body))).toMatchObject({ status: 201 });
    expect(((await stored('/json/long')) as { value: unknown }).value).toEqual(body);
  });

  test('__proto__ is a name like any other, and changes nothing else', async () => {
    const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    expect((await raw('PUT', '/json/proto', text)).status).toBe(201);
    expect((await raw('PATCH', '/json/proto', text, { 'content-type': 'application/merge-patch+json' })).status).toBe(200);
    const reply = await easel.fetch(`/v1/data/${artifact.id}/json/proto`, { token: artifact.owner.token });
    expect(await reply.text()).toContain(text);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect((await raw('POST', '/tables/proto', text)).status).toBeLessThan(500);
    const operation = JSON.stringify({ op: 'increment', path: '$.__proto__.polluted' });
    expect((await raw('PATCH', '/json/proto', operation)).status).toBeLessThan(500);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('text that a database cannot hold', () => {
  test.each([
    ['a lone surrogate', '"\\ud800"'],
    ['a surrogate pair the wrong way round', '"\\udc00\\ud800"'],
    ['NUL', '"a\\u0000b"'],
  ])('%s is kept by a key and refused by a row', async (_name, text) => {
    expect((await raw('PUT', '/json/odd', text)).status).toBeLessThan(300);
    const reply = await easel.fetch(`/v1/data/${artifact.id}/json/odd`, { token: artifact.owner.token });
    expect(await reply.text()).toContain(text);
    expect(await raw('POST', '/tables/t', `{"a":{"b":[${text}]}}`)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(await raw('POST', '/tables/t', `{${text}:1}`)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
  });

  test('a number beyond every double is kept as it was written by whatever does not calculate with it', async () => {
    const read = async (query = '') => {
      const reply = await easel.fetch(`/v1/data/${artifact.id}/json/huge${query}`, { token: artifact.owner.token });
      return (/"value":(.*),"updatedAt"/.exec(await reply.text()) ?? [])[1];
    };
    expect((await raw('PUT', '/json/huge', '[1e999,12345678901234567890]')).status).toBe(201);
    expect(await read()).toBe('[1e999,12345678901234567890]');
    expect([await read('?path=$[1]'), await read('?path=$[0]')]).toEqual(['12345678901234567890', '1e999']);
    const patches = [
      ['application/json', '{"op":"append","value":0.12345678901234567890}'],
      [
        'application/json-patch+json',
        '[{"op":"test","path":"/1","value":12345678901234567890},{"op":"add","path":"/-","value":{"n":-1e999}}]',
      ],
    ] as const;
    for (const [type, body] of patches) {
      const init = { method: 'PATCH', token: artifact.owner.token, headers: { 'content-type': type }, body };
      expect((await easel.fetch(`/v1/data/${artifact.id}/json/huge`, init)).status).toBe(200);
    }
    expect(await read()).toBe('[1e999,12345678901234567890,0.12345678901234567890,{"n":-1e999}]');
    for (const atomic of [true, false]) {
      const body = `{"big":1e999,"atomic":${atomic},"id":98765432109876543210}`;
      const merge =
        '{"method":"PATCH","path":"/json/huge","headers":{"content-type":"application/merge-patch+json"},"body":{"n":77777777777777777777}}';
      const requests = `[{"method":"PUT","path":"/json/huge","body":${body}},${merge}]`;
      expect((await raw('POST', '/batch', `{"requests":${requests},"atomic":${atomic}}`)).status).toBe(200);
      expect(await read()).toBe(`${body.slice(0, -1)},"n":77777777777777777777}`);
    }
    const rows = '{"requests":[{"method":"POST","path":"/tables/t","body":{"a":1e999}}],"atomic":true}';
    expect(await raw('POST', '/batch', rows)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect((await raw('POST', '/tables/t', '{"a":1e999}')).status).toBe(400);
  });
});
