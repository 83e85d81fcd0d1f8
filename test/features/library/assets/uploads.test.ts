/** Uploads in pieces: they go on after lost connections, at the right offset, for who has begun them, within the quota. */
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TIERS } from '../../../../protocol/business/tiers.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { expireAssetUploads } from '../../../../src/features/library/assets/uploads.ts';
import { startTestEasel, type TestEasel, type TestStorage, type TestUser, testStorage } from '../../../support/easel.ts';
import { json, post, refusal, sha256 } from '../../../support/requests.ts';
import { startS3 } from '../../../support/s3.ts';
import { workspaceOf } from '../../../support/workspaces.ts';
import { leaveRoom, shownUsage } from '../../people/usage/storage-stage.ts';
import { type By, MINE } from './asset-stage.ts';

const PIECE = LIMITS.assetPieceBytesMin;
const DAY_MS = 24 * 3_600_000;

let storage: TestStorage;
let easel: TestEasel;
beforeAll(async () => {
  storage = await testStorage();
  easel = await startTestEasel({ storage });
  // The sweep of the start, which would correct the counters that these tests set.
  await easel.sweep();
});
afterAll(async () => {
  await easel.close();
  await storage.remove();
});

const textOf = (pieces: number) => Buffer.from(randomBytes((PIECE * pieces) / 2).toString('hex'));

function begin(by: By, content: Buffer, given: object = {}, base = MINE) {
  const body = { filename: 'log.txt', mimeType: 'text/plain', sizeBytes: content.length, ...given };
  return easel.fetch(`${base}/uploads`, { token: by.token, ...post(body) });
}

function send(by: By, id: string, offset: number, piece: Buffer, base = MINE) {
  return easel.fetch(`${base}/uploads/${id}?offset=${offset}`, {
    method: 'PATCH',
    token: by.token,
    headers: { 'content-type': 'application/offset+octet-stream' },
    body: new Uint8Array(piece),
  });
}

const state = async (by: By, id: string, base = MINE) => json(await easel.fetch(`${base}/uploads/${id}`, { token: by.token }));
const bytesOf = async (by: By, url: string) =>
  Buffer.from(await (await easel.fetch(new URL(url).pathname, { token: by.token })).arrayBuffer());

/** What this service has received of files that are not complete. */
function spooledBytes(): number {
  const incoming = join(storage.settings.DATA_DIR ?? '', 'objects', 'incoming');
  return readdirSync(incoming).reduce((sum, name) => sum + (statSync(join(incoming, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** Announces a whole piece and sends a part of it, which has arrived when this settles. */
async function sendPart(by: By, path: string, announced: number, part: Buffer): Promise<Socket> {
  const socket = connect(easel.port, '127.0.0.1');
  const head = [`PATCH ${path} HTTP/1.1`, `Host: 127.0.0.1:${easel.port}`, `Authorization: Bearer ${by.token}`];
  head.push('Content-Type: application/offset+octet-stream', `Content-Length: ${announced}`, '', '');
  socket.write(head.join('\r\n'));
  socket.write(part);
  await expect.poll(spooledBytes, { timeout: 60_000 }).toBe(part.length);
  return socket;
}

test('a file comes in pieces, and is a loose file once the last has arrived, also for a sender who missed the answer', async () => {
  const user = await easel.newUser();
  const content = textOf(3);
  const begun = await json(await begin(user, content, { sha256: sha256(content) }));
  expect(begun).toMatchObject({ offset: 0, sizeBytes: content.length, pieceBytesMax: LIMITS.assetPieceBytesMax, file: null });
  const first = await json(await send(user, begun.id, 0, content.subarray(0, PIECE)));
  expect([first.offset, first.file]).toEqual([PIECE, null]);
  const done = await json(await send(user, begun.id, PIECE, content.subarray(PIECE)));
  expect(done).toMatchObject({ offset: content.length, file: { filename: 'log.txt', sizeBytes: content.length } });
  expect(await state(user, begun.id)).toEqual(done);
  expect(await json(await send(user, begun.id, content.length, Buffer.alloc(0)))).toEqual(done);
  expect((await bytesOf(user, done.file.contentUrl)).equals(content)).toBe(true);
  const { loose } = await json(await easel.fetch(MINE, { token: user.token }));
  expect(loose).toEqual([done.file]);
  expect((await shownUsage(easel, user)).bytes).toBe(content.length);
});

test('a piece at another offset, or twice, is refused and changes nothing', async () => {
  const user = await easel.newUser();
  const content = textOf(3);
  const { id } = await json(await begin(user, content));
  for (const piece of [content.subarray(0, PIECE - 1), Buffer.concat([content, content])])
    expect(await refusal(send(user, id, 0, piece))).toEqual([400, 'INVALID_REQUEST', 'body']);
  const piece = content.subarray(0, PIECE);
  expect(await refusal(send(user, id, PIECE, piece))).toEqual([409, 'UPLOAD_OFFSET_CONFLICT', 'offset']);
  expect((await send(user, id, 0, piece)).status).toBe(200);
  expect(await refusal(send(user, id, 0, piece))).toEqual([409, 'UPLOAD_OFFSET_CONFLICT', 'offset']);
  const [code, tooMuch, tooLittle] = [400, content, content.subarray(PIECE, PIECE + 10)];
  expect((await refusal(send(user, id, PIECE, tooMuch)))[0]).toBe(code);
  expect((await refusal(send(user, id, PIECE, tooLittle)))[0]).toBe(code);
  expect((await state(user, id)).offset).toBe(PIECE);
  // Of two that are sent at once, one appends.
  const both = await Promise.all([1, 2].map(() => send(user, id, PIECE, content.subarray(PIECE, 2 * PIECE))));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  const done = await json(await send(user, id, 2 * PIECE, content.subarray(2 * PIECE)));
  expect((await bytesOf(user, done.file.contentUrl)).equals(content)).toBe(true);
});

test('a connection that is cut keeps what has arrived, and beginning the same file again goes on there', async () => {
  const user = await easel.newUser();
  const content = textOf(6);
  const given = { sha256: sha256(content) };
  const { id } = await json(await begin(user, content, given));
  const socket = await sendPart(user, `${MINE}/uploads/${id}?offset=0`, content.length, content.subarray(0, 2 * PIECE));
  socket.destroy();
  await expect.poll(async () => (await state(user, id)).offset).toBe(2 * PIECE);
  const again = await begin(user, content, given);
  expect([again.status, await json(again)]).toMatchObject([200, { id, offset: 2 * PIECE }]);
  const other = await begin(user, content, { ...given, filename: 'other.txt' });
  expect(other.status).toBe(201);
  const done = await json(await send(user, id, 2 * PIECE, content.subarray(2 * PIECE)));
  expect((await bytesOf(user, done.file.contentUrl)).equals(content)).toBe(true);
  expect(spooledBytes()).toBe(0);
});

test('bytes that are not what was announced end the upload', async () => {
  const user = await easel.newUser();
  const content = textOf(1);
  const wrong = await json(await begin(user, content, { sha256: sha256('another') }));
  expect(await refusal(send(user, wrong.id, 0, content))).toEqual([400, 'INVALID_REQUEST', 'sha256']);
  const image = await json(await begin(user, content, { mimeType: 'image/png', filename: 'a.png' }));
  expect((await refusal(send(user, image.id, 0, content)))[1]).toBe('INVALID_MIME_TYPE');
  for (const { id } of [wrong, image]) {
    expect(await refusal(easel.fetch(`${MINE}/uploads/${id}`, { token: user.token }))).toEqual([404, 'UPLOAD_NOT_FOUND', 'uploadId']);
  }
  expect((await shownUsage(easel, user)).bytes).toBe(0);
  expect((await refusal(begin(user, content, { sizeBytes: LIMITS.blobBytesMax + 1 })))[1]).toBe('FILE_TOO_LARGE');
  expect((await refusal(begin(user, content, { mimeType: 'application/zip' })))[1]).toBe('INVALID_MIME_TYPE');
});

test('room is reserved when an upload begins, and is free again when it is cancelled or expires', async () => {
  const user = await easel.newUser();
  await leaveRoom(easel, user, 4 * PIECE, TIERS.free.bytesMax);
  const content = textOf(3);
  const { id } = await json(await begin(user, content));
  expect(await refusal(begin(user, content))).toEqual([507, 'STORAGE_LIMIT_EXCEEDED', undefined]);
  expect((await easel.fetch(`${MINE}/uploads/${id}`, { method: 'DELETE', token: user.token })).status).toBe(200);
  const second = await json(await begin(user, content));
  const piece = content.subarray(0, PIECE);
  expect((await send(user, second.id, 0, piece)).status).toBe(200);
  const stored = () => easel.sql`select 1 from stored_object where sha256 = decode(${sha256(piece)}, 'hex')`;
  // The sweep keeps the pieces of an upload that goes on.
  easel.clock.advance(LIMITS.assetUploadTtlMs - 1000);
  await easel.sweep();
  expect((await state(user, second.id)).offset).toBe(PIECE);
  easel.clock.advance(2000);
  expect(await refusal(send(user, second.id, PIECE, content.subarray(PIECE)))).toEqual([404, 'UPLOAD_NOT_FOUND', 'uploadId']);
  await easel.sweep();
  expect(await easel.sql`select 1 from asset_upload where created_by = ${user.userId}`).toHaveLength(0);
  expect((await begin(user, content)).status).toBe(201);
  easel.clock.advance(2 * DAY_MS);
  await easel.sweep();
  expect(await stored()).toHaveLength(0);
});

test('one person has a bounded number of unfinished uploads', async () => {
  const user = await easel.newUser();
  for (let at = 0; at < LIMITS.assetUploadsOpenMax; at += 1) await (await begin(user, textOf(1))).arrayBuffer();
  expect(await refusal(begin(user, textOf(1)))).toEqual([409, 'ASSET_LIMIT_EXCEEDED', undefined]);
});

/** What an account has removed since the last sweep. */
async function removedBytes({ userId }: TestUser): Promise<number> {
  const rows = await easel.sql<{ bytes: number }[]>`select bytes from storage_release where account_id = ${userId}`;
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

test('what is being stored when an upload is cancelled, or cannot be recorded, counts as removed', async () => {
  const user = await easel.newUser();
  const content = textOf(3);
  const busy = await json(await begin(user, content));
  // Somebody is storing a piece of it.
  await easel.sql`update asset_upload set busy_until_ms = ${easel.clock.nowMs() + 60_000} where id = ${busy.id}`;
  expect((await easel.fetch(`${MINE}/uploads/${busy.id}`, { method: 'DELETE', token: user.token })).status).toBe(200);
  expect(await removedBytes(user)).toBe(content.length);

  const broken = await json(await begin(user, content));
  const piece = content.subarray(0, PIECE);
  await easel.sql`
    insert into asset_upload_piece (upload_id, offset_bytes, size_bytes, sha256) values (${broken.id}, 0, 1, decode(${sha256('x')}, 'hex'))`;
  expect((await send(user, broken.id, 0, piece)).status).toBe(500);
  expect(await removedBytes(user)).toBe(content.length + PIECE);
  await easel.sql`delete from asset_upload_piece where upload_id = ${broken.id}`;
  // The claim was given back.
  expect((await send(user, broken.id, 0, piece)).status).toBe(200);
});

test('an upload that has its room gets it, whatever is removed until its end', async () => {
  const user = await easel.newUser();
  const content = textOf(1);
  const { id } = await json(await begin(user, content));
  const bytes = 2 * TIERS.free.bytesMax;
  await easel.sql`insert into storage_release (account_id, hour_ms, bytes) values (${user.userId}, 0, ${bytes})`;
  await easel.sql`update account_usage set bytes = bytes + ${bytes} where account_id = ${user.userId}`;
  expect(await json(await send(user, id, 0, content))).toMatchObject({ file: { filename: 'log.txt' } });
  expect((await shownUsage(easel, user)).bytes).toBe(content.length);
});

test('pieces are not put together for a library that has no room for the file', async () => {
  const user = await easel.newUser();
  const content = textOf(2);
  const { id } = await json(await begin(user, content));
  await easel.sql`
    insert into asset_file (id, owner_id, filename, mime_type, size_bytes, sha256, created_by, created_at_ms)
    select 'blob_' || n || ${user.userId}, ${user.userId}, 'a.txt', 'text/plain', 0, decode(${sha256('')}, 'hex'), ${user.userId}, 0
    from generate_series(1, ${LIMITS.assetFilesMax}::int) as n`;
  expect((await send(user, id, 0, content.subarray(0, PIECE))).status).toBe(200);
  expect((await refusal(send(user, id, PIECE, content.subarray(PIECE))))[1]).toBe('ASSET_LIMIT_EXCEEDED');
  // Reading a piece would fail.
  await easel.sql`update asset_upload_piece set sha256 = decode(${sha256('missing')}, 'hex') where upload_id = ${id}`;
  expect(await refusal(send(user, id, content.length, Buffer.alloc(0)))).toEqual([409, 'ASSET_LIMIT_EXCEEDED', undefined]);
});

test('one sweep ends everything that has expired', async () => {
  const user = await easel.newUser();
  const content = textOf(1);
  const done = await json(await begin(user, content));
  expect((await send(user, done.id, 0, content)).status).toBe(200);
  const unfinished = await json(await begin(user, content));
  await easel.sql`update asset_upload set expires_at_ms = ${easel.clock.nowMs()} where id = ${unfinished.id}`;
  await easel.sql`
    insert into asset_upload (id, owner_id, holder, filename, mime_type, size_bytes, offset_bytes, file_id, created_by, created_at_ms, expires_at_ms)
    select id || n, owner_id, holder, filename, mime_type, size_bytes, offset_bytes, file_id, created_by, created_at_ms, 1
    from asset_upload, generate_series(1, 2500) as n where id = ${done.id}`;
  await expireAssetUploads(easel, new AbortController().signal);
  expect(await easel.sql`select id from asset_upload where created_by = ${user.userId}`).toEqual([{ id: done.id }]);
  expect((await shownUsage(easel, user)).bytes).toBe(content.length);
});

test('in a workspace who has begun an upload goes on with it, as long as they are a member; who runs it sees and cancels it', async () => {
  const [owner, member, other] = [await easel.newUser(), await easel.newUser(), await easel.newUser()];
  const workspace = await workspaceOf(easel, [
    [owner, 'owner'],
    [member, 'member'],
    [other, 'member'],
  ]);
  const base = `/v1/workspaces/${workspace}/assets`;
  const content = textOf(4);
  const { id } = await json(await begin(member, content, {}, base));
  expect((await send(member, id, 0, content.subarray(0, PIECE), base)).status).toBe(200);
  for (const by of [other, owner])
    expect(await refusal(send(by, id, PIECE, content.subarray(PIECE), base))).toEqual([404, 'UPLOAD_NOT_FOUND', 'uploadId']);
  // Access that ends while a piece arrives.
  const socket = await sendPart(member, `${base}/uploads/${id}?offset=${PIECE}`, 3 * PIECE, content.subarray(PIECE, 2 * PIECE));
  const answered = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString('latin1'))));
  const removed = await easel.fetch(`/v1/workspaces/${workspace}/members/${member.userId}`, { method: 'DELETE', token: owner.token });
  expect(removed.status).toBe(200);
  expect(await answered).toMatch(/^HTTP\/1.1 40[34] /);
  socket.destroy();
  expect([403, 404]).toContain((await send(member, id, PIECE, content.subarray(PIECE), base)).status);
  expect((await state(owner, id, base)).offset).toBe(PIECE);
  expect((await easel.fetch(`${base}/uploads/${id}`, { method: 'DELETE', token: owner.token })).status).toBe(200);
});

test('pieces in an S3 store become one file', async () => {
  const s3 = await startS3();
  const other = await startTestEasel({ settings: s3.settings });
  const before = easel;
  try {
    easel = other;
    const user = await easel.newUser();
    const content = textOf(2);
    const { id } = await json(await begin(user, content));
    expect((await send(user, id, 0, content.subarray(0, PIECE))).status).toBe(200);
    const done = await json(await send(user, id, PIECE, content.subarray(PIECE)));
    expect((await bytesOf(user, done.file.contentUrl)).equals(content)).toBe(true);
  } finally {
    easel = before;
    await other.close();
    await s3.close();
  }
});
