/** Uploads of the web app, against a service that a test plays: what is sent when one is cancelled, and when one is tried again. */
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { putAside, tryAgain, upload, uploads } from '../../src/clients/web/state/asset-uploads.ts';

interface Asked {
  readonly call: string;
  readonly key: string | null;
}

type Service = (call: string) => object | number | Promise<object | number>;

const CONTENT = 'a line of a file';
const ID = 'upl_1';
const begun = { id: ID, offset: 0, pieceBytesMax: 1024, file: null };
const stored = { ...begun, offset: CONTENT.length, file: { id: 'blob_1', filename: 'a.txt' } };
const BEGIN = 'POST /v1/assets/uploads';
const PIECE = `PATCH /v1/assets/uploads/${ID}?offset=0`;
const MAKE = 'POST /v1/assets/deliverables';

let asked: Asked[] = [];
/** A number is a status that refuses. */
let service: Service = () => 404;

async function answerTo(call: string, key: string | null): Promise<Response> {
  asked.push({ call, key });
  const answer = await service(call);
  if (typeof answer === 'number') return Response.json({ code: 'REFUSED', error: 'refused' }, { status: answer });
  return Response.json(answer);
}

class PlayedRequest {
  readonly upload = {};
  status = 0;
  responseText = '';
  onload = () => undefined;
  onloadend = () => undefined;
  #call = '';
  open(method: string, url: string): void {
    this.#call = `${method} ${url}`;
  }
  setRequestHeader = () => undefined;
  abort = () => undefined;
  async send(): Promise<void> {
    const reply = await answerTo(this.#call, null);
    this.status = reply.status;
    this.responseText = await reply.text();
    this.onload();
    this.onloadend();
  }
}

vi.stubGlobal('fetch', (url: string, { method = 'GET', headers }: RequestInit) =>
  answerTo(`${method} ${url}`, new Headers(headers).get('idempotency-key')),
);
vi.stubGlobal('XMLHttpRequest', PlayedRequest);
afterAll(() => vi.unstubAllGlobals());
beforeEach(() => {
  asked = [];
});

const calls = () => asked.map(({ call }) => call);
const file = () => new File([CONTENT], 'a.txt', { type: 'text/plain' });

async function failed(): Promise<number> {
  await expect.poll(() => uploads.value[0]?.problem?.code).toBe('REFUSED');
  return uploads.value[0]?.key ?? -1;
}

test('an upload that is cancelled while it begins is ended at the service, and nothing of it is sent', async () => {
  let answer = (_: object) => undefined as unknown;
  service = (call) => (call === BEGIN ? new Promise((resolve) => (answer = resolve)) : call === MAKE ? {} : stored);
  upload(undefined, [file()]);
  await expect.poll(calls).toEqual([BEGIN]);
  putAside(uploads.value[0]?.key ?? -1);
  answer(begun);
  await expect.poll(calls).toEqual([BEGIN, `DELETE /v1/assets/uploads/${ID}`]);
  // The next one has its turn once this one is over.
  service = () => 400;
  upload(undefined, [file()]);
  putAside(await failed());
  expect(calls()).toEqual([BEGIN, `DELETE /v1/assets/uploads/${ID}`, BEGIN]);
});

test('a file whose last step failed is not sent again, and a lost answer is asked for under the same key', async () => {
  let made = 0;
  service = (call) => {
    if (call !== MAKE) return call === BEGIN ? begun : stored;
    made += 1;
    return made === 1 ? 502 : { id: 'file_1' };
  };
  upload(undefined, [file()]);
  tryAgain(await failed());
  await expect.poll(() => uploads.value).toEqual([]);
  expect(calls()).toEqual([BEGIN, PIECE, MAKE, MAKE]);
  expect(asked[3]?.key).toBe(asked[2]?.key);
});

test('another attempt goes on with the upload that has begun, and begins one only where that is gone', async () => {
  let isGone = false;
  service = (call) => {
    if (call === BEGIN) return begun;
    return call.startsWith('GET') ? (isGone ? 404 : begun) : 400;
  };
  const look = `GET /v1/assets/uploads/${ID}`;
  upload(undefined, [file()]);
  tryAgain(await failed());
  await expect.poll(calls).toEqual([BEGIN, PIECE, look, PIECE]);
  isGone = true;
  tryAgain(await failed());
  await expect.poll(calls).toEqual([BEGIN, PIECE, look, PIECE, look, BEGIN, PIECE]);
});
