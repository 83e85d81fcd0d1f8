/** Blobs over HTTP, with files and with S3 as the object store. Source: contract.md §6, spec.md "Data blobs". */
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { temporaryDir } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, post, published, refusal, sha256 } from '../../../support/requests.ts';
import { startS3, type TestS3 } from '../../../support/s3.ts';
import { GIF, HTML, PDF, PNG, pngOf, SVG, send } from './sample-files.ts';

const FROM_PAGE = { origin: 'http://elsewhere.test' };

describe.each(['files', 'S3'] as const)('blobs on %s', (kind) => {
  let easel: TestEasel;
  let s3: TestS3 | undefined;
  let owner: TestUser;
  let id: ArtifactId;
  let slug: string;
  const folder = temporaryDir();
  const blobs = () => `/v1/data/${id}/blobs`;
  const inSpool = () => readdirSync(join(folder.path, 'objects', 'incoming'));

  beforeAll(async () => {
    if (kind === 'S3') s3 = await startS3();
    easel = await startTestEasel({ settings: { DATA_DIR: folder.path, ...s3?.settings } });
    owner = await easel.newUser('pro');
    await another();
  });
  afterAll(async () => {
    await easel.close();
    await s3?.close();
    folder.remove();
  });

  /** Publishes an artifact without blobs, which `blobs()` then refers to. */
  async function another(): Promise<void> {
    const page = await published(easel, owner);
    id = page.id as ArtifactId;
    slug = page.slug;
  }

  async function token(body: object, headers: Record<string, string> = FROM_PAGE) {
    const asked = post(body);
    const reply = await easel.fetch(`${blobs()}/upload`, { token: owner.token, ...asked, headers: { ...asked.headers, ...headers } });
    expect(reply.status).toBe(200);
    return (await json(reply)).data;
  }

  const put = (url: string, bytes: Buffer) => fetch(url.replace('localhost', '127.0.0.1'), { method: 'PUT', body: new Uint8Array(bytes) });

  async function upload(bytes: Buffer, mimeType = 'image/png', filename = 'dot.png') {
    const reply = await put((await token({ filename, mimeType })).uploadUrl, bytes);
    expect(reply.status).toBe(201);
    return (await json(reply)).data;
  }

  function form(bytes: Buffer, type: string, filename: string): Promise<Response> {
    const data = new FormData();
    data.append('title', 'a field beside the file');
    data.append('file', new Blob([new Uint8Array(bytes)], { type }), filename);
    return easel.fetch(blobs(), { method: 'POST', token: owner.token, body: data });
  }

  const get = (path: string, headers: Record<string, string> = {}) => easel.fetch(path, { token: owner.token, headers });

  test('a file uploaded by token is recorded, listed, read in parts and deleted', async () => {
    const bytes = pngOf(1_300_001);
    const asked = await token({ filename: 'Größe "1".png', mimeType: 'image/PNG', size: bytes.length });
    expect(asked).toEqual({
      uploadUrl: expect.stringContaining(`${blobs()}/_upload/${asked.tokenId}`),
      tokenId: expect.stringMatching(/^upl_[a-z2-7]{24}$/),
      direct: false,
      expiresAt: new Date(easel.clock.nowMs() + 15 * 60_000).toISOString(),
      maxSize: 50 * 1024 * 1024,
    });
    const made = await put(asked.uploadUrl, bytes);
    const { data: blob } = await json(made);
    expect([made.status, blob]).toEqual([
      201,
      {
        id: expect.stringMatching(/^blob_[a-z2-7]{24}$/),
        filename: 'Größe "1".png',
        mimeType: 'image/png',
        sizeBytes: bytes.length,
        contentUrl: expect.stringContaining(`${blobs()}/${blob.id}/content`),
        createdAt: expect.stringMatching(/Z$/),
      },
    ]);
    const path = `${blobs()}/${blob.id}`;
    expect((await json(await get(path))).data).toEqual(blob);
    expect((await json(await get(blobs()))).data).toEqual({ blobs: [blob], count: 1, hasMore: false, nextCursor: null });
    expect((await json(await get(`${blobs()}/storage`))).data).toEqual({
      usedBytes: bytes.length,
      blobCount: 1,
      maxBytes: 500 * 1024 * 1024,
      maxBlobs: 1000,
      availableBytes: 500 * 1024 * 1024 - bytes.length,
    });

    const whole = await get(`${path}/content`);
    expect(sha256(new Uint8Array(await whole.arrayBuffer()))).toBe(sha256(bytes));
    const etag = whole.headers.get('etag') ?? '';
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(bytes.length),
      'content-disposition': `inline; filename="Gr__e _1_.png"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22.png`,
      'cache-control': 'private, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
      'accept-ranges': 'bytes',
    });
    const unchanged = await get(`${path}/content`, { 'if-none-match': etag, range: 'bytes=0-1' });
    expect([unchanged.status, unchanged.headers.has('content-range')]).toEqual([304, false]);
    const part = await get(`${path}/content`, { range: 'bytes=600000-1200000' });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 600000-1200000/${bytes.length}`]);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(600_000, 1_200_001))).toBe(true);
    expect((await get(`${path}/content`, { range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200);
    const outside = await get(`${path}/content`, { range: `bytes=${bytes.length}-` });
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${bytes.length}`]);

    expect((await easel.fetch(path, { method: 'DELETE', token: owner.token })).status).toBe(200);
    for (const gone of [path, `${path}/content`, `${path}/download-url`]) {
      expect(await refusal(get(gone))).toEqual([404, 'BLOB_NOT_FOUND', 'blobId']);
    }
    expect((await json(await get(`${blobs()}/storage`))).data).toMatchObject({ usedBytes: 0, blobCount: 0 });
    expect(inSpool()).toEqual([]);
  });

  test('a form with one file of any size is accepted', async () => {
    for (const sizeBytes of [70, 65_536, 1_048_576, 5_000_003]) {
      const bytes = pngOf(sizeBytes);
      const made = await form(bytes, 'image/png', 'früh.png');
      const { data: blob } = await json(made);
      expect([made.status, blob.filename, blob.sizeBytes]).toEqual([201, 'früh.png', sizeBytes]);
      const content = await get(`${blobs()}/${blob.id}/content`);
      expect(sha256(new Uint8Array(await content.arrayBuffer()))).toBe(sha256(bytes));
    }
    const unnamed = await form(Buffer.from('# Title\n'), 'application/octet-stream', 'note.md');
    expect((await json(unnamed)).data.mimeType).toBe('text/markdown');
  });

  test.each([
    ['no boundary', 'multipart/form-data', '--edge--\r\n'],
    ['no file', 'multipart/form-data; boundary=edge', '--edge\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--edge--\r\n'],
    [
      'a truncated file',
      'multipart/form-data; boundary=edge',
      '--edge\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\nhalf',
    ],
    ['no parts', 'multipart/form-data; boundary=edge', 'nothing like a form'],
    [
      'two files',
      'multipart/form-data; boundary=edge',
      `${['a', 'b'].map((name) => `--edge\r\nContent-Disposition: form-data; name="f"; filename="${name}.txt"\r\n\r\n1\r\n`).join('')}--edge--\r\n`,
    ],
  ])('a form with %s is refused', async (_name, type, body) => {
    const reply = easel.fetch(blobs(), { method: 'POST', token: owner.token, headers: { 'content-type': type }, body });
    expect((await refusal(reply)).slice(0, 2)).toEqual([400, 'INVALID_REQUEST']);
    expect(inSpool()).toEqual([]);
  });

  test.each([
    ['a PNG', PNG, 'image/png', true],
    ['a GIF', GIF, 'image/gif', true],
    ['a PDF', PDF, 'application/pdf', true],
    ['text', Buffer.from('Motorräder: BMW\n'), 'text/plain', true],
    ['text that begins like a bitmap', Buffer.from('BM is a maker'), 'text/plain', true],
    ['CSV in Latin-1', Buffer.from('name;caf\xe9\r\n', 'latin1'), 'text/csv', true],
    ['UTF-16', Buffer.from('\ufeffhello', 'utf16le'), 'text/plain', true],
    ['an empty text', Buffer.alloc(0), 'text/plain', true],
    ['SVG', SVG, 'image/svg+xml', true],
    ['HTML as a picture', HTML, 'image/png', false],
    ['HTML as SVG', HTML, 'image/svg+xml', false],
    ['a GIF as a PNG', GIF, 'image/png', false],
    ['a PNG as text', PNG, 'text/plain', false],
    ['a text with a zero byte late', Buffer.concat([Buffer.alloc(9000, 'a'), Buffer.from([0])]), 'text/plain', false],
    ['an empty picture', Buffer.alloc(0), 'image/png', false],
    ['a PDF as a film', PDF, 'video/mp4', false],
  ])('the bytes must match the type: %s', async (_name, bytes, mimeType, taken) => {
    const { uploadUrl } = await token({ filename: 'file', mimeType });
    const reply = await put(uploadUrl, bytes);
    if (taken) expect([reply.status, (await json(reply)).data?.mimeType]).toEqual([201, mimeType]);
    else expect(await refusal(reply)).toEqual([400, 'INVALID_MIME_TYPE', 'mimeType']);
  });

  test.each(['text/html', 'application/zip', 'application/javascript', 'text/xml', 'image/'])(
    'the type %s is refused',
    async (mimeType) => {
      const reply = easel.fetch(`${blobs()}/upload`, { token: owner.token, ...post({ filename: 'a', mimeType }) });
      expect((await refusal(reply))[1]).toBe(mimeType === 'image/' ? 'INVALID_REQUEST' : 'INVALID_MIME_TYPE');
    },
  );

  test('a file that could run scripts is never displayed as a page', async () => {
    const svg = await upload(SVG, 'image/svg+xml', 'a.svg');
    expect((await get(`${blobs()}/${svg.id}/content`)).headers.get('content-disposition')).toMatch(/^attachment/);
    const text = await upload(HTML, 'text/plain', 'a.html');
    const reply = await get(`${blobs()}/${text.id}/content`);
    expect([reply.headers.get('content-type'), reply.headers.get('x-content-type-options')]).toEqual([
      'text/plain; charset=utf-8',
      'nosniff',
    ]);
  });

  test('a token works once, also for concurrent callers, and for 15 minutes', async () => {
    const raced = await token({ filename: 'a.png', mimeType: 'image/png' });
    const replies = await Promise.all(Array.from({ length: 6 }, () => put(raced.uploadUrl, PNG)));
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
    expect(await refusal(put(raced.uploadUrl, PNG))).toEqual([400, 'UPLOAD_TOKEN_INVALID', 'tokenId']);
    const unknown = raced.uploadUrl.replace(/.{24}$/, 'a'.repeat(24));
    expect(await refusal(put(unknown, PNG))).toEqual([400, 'UPLOAD_TOKEN_INVALID', 'tokenId']);

    const late = await token({ filename: 'a.png', mimeType: 'image/png' });
    easel.clock.advance(15 * 60_000);
    expect(await refusal(put(late.uploadUrl, PNG))).toEqual([400, 'UPLOAD_TOKEN_EXPIRED', 'tokenId']);
  });

  test('after a refusal the same token can be used again', async () => {
    const { uploadUrl } = await token({ filename: 'a.png', mimeType: 'image/png', size: PNG.length });
    expect(await refusal(put(uploadUrl, PNG.subarray(1)))).toEqual([400, 'INVALID_REQUEST', 'size']);
    expect(await refusal(put(uploadUrl, Buffer.alloc(PNG.length, 'x')))).toEqual([400, 'INVALID_MIME_TYPE', 'mimeType']);
    expect((await put(uploadUrl, PNG)).status).toBe(201);
  });

  test('an aborted upload leaves no file behind, and its token still works', async () => {
    const { uploadUrl } = await token({ filename: 'a.png', mimeType: 'image/png' });
    const socket = connect(easel.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`PUT ${new URL(uploadUrl).pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n`);
    socket.write(pngOf(2_000_000));
    await expect.poll(() => inSpool().length).toBe(1);
    socket.destroy();
    await expect.poll(() => inSpool().length).toBe(0);
    await expect.poll(async () => (await put(uploadUrl, PNG)).status).toBe(201);
  });

  test('concurrent uploads never exceed 1000 blobs', async () => {
    await another();
    for (let made = 0; made < 997; made += 1) await record(10);
    const replies = await Promise.all(Array.from({ length: 8 }, () => form(PNG, 'image/png', 'a.png')));
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 201, 201, 413, 413, 413, 413, 413]);
    const asked = easel.fetch(`${blobs()}/upload`, { token: owner.token, ...post({ filename: 'a', mimeType: 'image/png' }) });
    expect((await refusal(asked)).slice(0, 2)).toEqual([413, 'BLOB_LIMIT_EXCEEDED']);

    const seen = new Set<string>();
    let cursor: string | null = null;
    do {
      const { data } = await json(await get(`${blobs()}?limit=100${cursor === null ? '' : `&cursor=${cursor}`}`));
      for (const blob of data.blobs) seen.add(blob.id);
      cursor = data.nextCursor;
    } while (cursor !== null);
    expect(seen.size).toBe(1000);
    expect(await refusal(get(`${blobs()}?cursor=nonsense`))).toEqual([400, 'INVALID_REQUEST', 'cursor']);
  });

  test('concurrent uploads never exceed 500 MB', async () => {
    await another();
    const free = 2 * PNG.length + 5;
    for (let part = 0; part < 10; part += 1) await record(50 * 1024 * 1024 - (part === 0 ? free : 0));
    const replies = await Promise.all(Array.from({ length: 5 }, () => form(PNG, 'image/png', 'a.png')));
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 201, 413, 413, 413]);
    const ask = (size: number) =>
      easel.fetch(`${blobs()}/upload`, { token: owner.token, ...post({ filename: 'a', mimeType: 'image/png', size }) });
    expect((await refusal(ask(6))).slice(0, 2)).toEqual([413, 'STORAGE_LIMIT_EXCEEDED']);
    expect((await refusal(ask(50 * 1024 * 1024 + 1))).slice(0, 2)).toEqual([413, 'FILE_TOO_LARGE']);
    expect((await json(await ask(5))).data.maxSize).toBe(5);
  });

  test('blobs survive when the actor leaves memory', async () => {
    await another();
    const first = await upload(PNG);
    const second = await upload(GIF, 'image/gif', 'b.gif');
    await easel.runtime.discard(id);
    expect((await json(await get(blobs()))).data.blobs).toEqual([first, second]);
  });

  test('a page gets blob URLs on its own origin', async () => {
    const blob = await upload(PNG);
    const headers = { host: new URL(easel.contentUrl(slug)).host, authorization: `Bearer ${owner.token}` };
    const own = await send(`${easel.baseUrl}${blobs()}/${blob.id}`, 'GET', headers);
    expect(JSON.parse(own.body.toString()).data.contentUrl).toBe(`${easel.contentUrl(slug)}${blobs()}/${blob.id}/content`);
  });

  /** Records a blob without storing bytes. */
  async function record(sizeBytes: number): Promise<void> {
    await easel.runtime.ask(id, ({ blobs: part }) =>
      part.add({
        id: `blob_${sha256(`${id} ${part.count}`).slice(0, 24)}`,
        filename: 'large.png',
        mimeType: 'image/png',
        sizeBytes,
        sha256: sha256('x'),
        createdBy: null,
      }),
    );
  }

  // Only S3 offers direct uploads.
  if (kind !== 'S3') return;
  describe('direct uploads', () => {
    const upload = { filename: 'a.png', mimeType: 'image/png' };
    const confirm = (url: string) => fetch(url.replace('localhost', '127.0.0.1'), { method: 'POST' });

    test('the bytes are uploaded, confirmed and then read', async () => {
      const bytes = pngOf(3_000_000);
      const asked = await token({ ...upload, size: bytes.length }, {});
      expect([asked.direct, asked.uploadUrl.startsWith(s3?.settings.S3_ENDPOINT ?? '?')]).toEqual([true, true]);
      expect(await refusal(confirm(asked.confirmUrl))).toEqual([400, 'INVALID_REQUEST', undefined]);
      expect((await put(asked.uploadUrl, bytes)).status).toBe(200);
      const made = await confirm(asked.confirmUrl);
      const { data: blob } = await json(made);
      expect([made.status, blob.sizeBytes]).toEqual([201, bytes.length]);
      expect(sha256(new Uint8Array(await (await get(`${blobs()}/${blob.id}/content`)).arrayBuffer()))).toBe(sha256(bytes));
      expect(await refusal(confirm(asked.confirmUrl))).toEqual([400, 'UPLOAD_TOKEN_INVALID', 'tokenId']);

      // A later upload to the same URL does not change the blob.
      await put(asked.uploadUrl, GIF);
      expect(sha256(new Uint8Array(await (await get(`${blobs()}/${blob.id}/content`)).arrayBuffer()))).toBe(sha256(bytes));

      const { data: link } = await json(await get(`${blobs()}/${blob.id}/download-url`));
      expect([link.direct, link.expiresIn]).toEqual([true, 900]);
      const straight = await send(link.url, 'GET', {});
      expect([straight.status, straight.headers['content-type'], straight.body.equals(bytes)]).toEqual([200, 'image/png', true]);
      expect((await json(await get(`${blobs()}/${blob.id}/download-url`, FROM_PAGE))).data).toEqual({
        url: blob.contentUrl,
        direct: false,
        expiresIn: null,
      });
    });

    test('a file of another size or type than declared is refused, and can be uploaded again', async () => {
      const asked = await token({ ...upload, size: GIF.length }, {});
      await put(asked.uploadUrl, PNG);
      expect(await refusal(confirm(asked.confirmUrl))).toEqual([400, 'INVALID_REQUEST', 'size']);
      await put(asked.uploadUrl, GIF);
      expect(await refusal(confirm(asked.confirmUrl))).toEqual([400, 'INVALID_MIME_TYPE', 'mimeType']);
      expect(inSpool()).toEqual([]);
    });

    test('of concurrent confirmations exactly one records the blob', async () => {
      const asked = await token(upload, {});
      await put(asked.uploadUrl, PNG);
      const replies = await Promise.all(Array.from({ length: 5 }, () => confirm(asked.confirmUrl)));
      expect(replies.map((reply) => reply.status).sort()).toEqual([201, 400, 400, 400, 400]);
    });
  });
});
