/** Pictures of files, made by the real process within its bounds. */
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RendererUnusable } from '../../../../src/features/artifacts/thumbnails/renderer.ts';
import { drawingIn } from '../../../../src/features/library/assets/thumbnails/drawing.ts';
import { PictureQueue } from '../../../../src/features/library/assets/thumbnails/queue.ts';
import { nextDueMs, takeNext } from '../../../../src/features/library/assets/thumbnails/rows.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { fileObjects } from '../../../../src/storage/file-objects.ts';
import { SILENT } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json } from '../../../support/requests.ts';
import { services } from '../../../support/services.ts';
import { SVG } from '../../data/blobs/sample-files.ts';
import { delivered, MINE, pictured, upload } from './asset-stage.ts';

const drawFile = drawingIn(join(services().builtDir, 'picture-process.js'), systemClock);
const draw = (bytes: Buffer, type: string, signal: AbortSignal) => drawFile(pictured(bytes, type), signal);
const forever = new AbortController().signal;
const PDF_TYPE = 'application/pdf';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

const plain = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: '#c04020' } });

/** One page with a red square. */
function pdf(width: number, height: number): Buffer {
  const drawing = '1 0 0 rg 0 0 50 50 re f';
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Contents 4 0 R/Resources<<>>>>`,
    `<</Length ${drawing.length}>>stream\n${drawing}\nendstream`,
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj${object}endobj\n`;
    return offset;
  });
  const start = text.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  return Buffer.from(`${text}xref\n0 5\n0000000000 65535 f \n${rows}trailer<</Size 5/Root 1 0 R>>\nstartxref\n${start}\n%%EOF\n`);
}

/** A PNG that claims so many pixels; its data is short. */
function pngThatClaims(side: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const head = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const whole = Buffer.alloc(8 + data.length + 4);
    whole.writeUInt32BE(data.length, 0);
    head.copy(whole, 4);
    whole.writeUInt32BE(crc(head), 8 + data.length);
    return whole;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(Buffer.alloc(1000))), chunk('IEND', Buffer.alloc(0))]);
}

function crc(bytes: Buffer): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return (value ^ 0xffffffff) >>> 0;
}

test('an image becomes small, upright and without its metadata', async () => {
  const photo = await plain(1600, 800)
    .withExif({ IFD0: { Copyright: 'Ada', Orientation: '6' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
  const { format, width, height, exif } = await sharp(await draw(photo, 'image/jpeg', forever)).metadata();
  expect([format, width, height, exif]).toEqual(['webp', 240, 480, undefined]);
});

test('the first page of a PDF is drawn in its colours, however large the page is', async () => {
  for (const [width, height] of [
    [100, 50],
    [14_000, 7000],
  ] as const) {
    const drawn = sharp(await draw(pdf(width, height), PDF_TYPE, forever));
    expect(await drawn.metadata()).toMatchObject({ width: 480, height: 240 });
    if (width > 100) continue;
    const { data } = await drawn
      .extract({ left: 60, top: 120, width: 1, height: 1 })
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([(data[0] ?? 0) > 200, (data[1] ?? 255) < 60, (data[2] ?? 255) < 60]).toEqual([true, true, true]);
  }
});

test('bombs, broken files and files of another kind make no picture', async () => {
  await expect(draw(pngThatClaims(60_000), 'image/png', forever)).rejects.toThrow('cannot be read');
  await expect(draw(pngThatClaims(2000), 'image/png', forever)).rejects.toThrow('cannot be read');
  await expect(draw(SVG, 'image/png', forever)).rejects.toThrow('cannot be read');
  await expect(draw(Buffer.from('%PDF-1.4 nothing'), PDF_TYPE, forever)).rejects.toThrow('cannot be read');
});

test('a process that does not end is killed, at its deadline and when the service stops', async () => {
  // A clock of which every time has passed already.
  const late = { ...systemClock, nowMs: () => 0, monotonicMs: () => 0, after: (_: number, run: () => void) => systemClock.after(0, run) };
  const slow = drawingIn(join(services().builtDir, 'picture-process.js'), late);
  await expect(slow(pictured(await plain(10, 10).png().toBuffer(), 'image/png'), forever)).rejects.toThrow('took too long');
  const stopping = new AbortController();
  const drawing = draw(await plain(10, 10).png().toBuffer(), 'image/png', stopping.signal);
  stopping.abort();
  await expect(drawing).rejects.toThrow('stops');
});

test('an uploaded image gets its picture by itself, and the sweep keeps it as long as the file', async () => {
  const user = await easel.newUser();
  const { id } = await delivered(easel, user, await plain(600, 600).png().toBuffer(), { name: 'square.png', type: 'image/png' });
  const thumbnailUrl = async () =>
    ((await (await easel.fetch(`${MINE}/${id}`, { token: user.token })).json()) as { thumbnailUrl: string | null }).thumbnailUrl;
  await expect.poll(thumbnailUrl, { timeout: 60_000 }).toMatch(`/v1/files/${id}/thumbnail`);
  const picture = () => easel.fetch(`/v1/files/${id}/thumbnail`, { token: user.token });
  easel.clock.advance(2 * 24 * 3_600_000);
  await easel.sweep();
  const reply = await picture();
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'image/webp']);
  expect(await sharp(Buffer.from(await reply.arrayBuffer())).metadata()).toMatchObject({ width: 480, height: 480 });
  const stranger = await easel.newUser();
  expect((await easel.fetch(`/v1/files/${id}/thumbnail`, { token: stranger.token })).status).toBe(404);
});

test('a picture whose attempts end the service is given up', async () => {
  const user = await easel.newUser();
  const { id } = await json(await upload(easel, user, 'no image'));
  await easel.sql`
    insert into asset_thumbnail (file_id, holder, asked_at_ms, due_at_ms, attempts) values (${id}, ${user.userId}, 0, 0, 4)`;
  expect(await takeNext(easel.sql, { nowMs: 1, untilMs: 1, videos: true })).toMatchObject({ fileId: id, attempts: 5 });
  expect(await takeNext(easel.sql, { nowMs: 1, untilMs: 1, videos: true })).toBeNull();
  expect(await nextDueMs(easel.sql, { videos: true })).not.toBe(1);
});

test('a node that cannot picture videos leaves them to others, also when it finds that out with one', async () => {
  const user = await easel.newUser();
  const { id } = await json(await upload(easel, user, 'no video'));
  await easel.sql`update asset_file set mime_type = 'video/mp4' where id = ${id}`;
  await easel.sql`insert into asset_thumbnail (file_id, holder, asked_at_ms, due_at_ms) values (${id}, ${user.userId}, 0, 0)`;
  expect(await takeNext(easel.sql, { nowMs: 1, untilMs: 1, videos: false })).toBeNull();
  expect(await nextDueMs(easel.sql, { videos: false })).not.toBe(0);
  expect(await nextDueMs(easel.sql, { videos: true })).toBe(0);

  let drawn = 0;
  await new Promise<void>((resolve) => {
    // The queue waits once it has found nothing more to make.
    const after = () => {
      resolve();
      return { cancel: () => undefined };
    };
    const clock = { ...systemClock, nowMs: () => 1, after };
    const draw = () => {
      drawn += 1;
      return Promise.reject(new RendererUnusable('no browser'));
    };
    new PictureQueue({ sql: easel.sql, log: SILENT, objects: fileObjects('unused'), clock, draw, drawsVideos: () => true }).wake();
  });
  expect(drawn).toBe(1);
  expect(await easel.sql`select attempts, due_at_ms as due from asset_thumbnail where file_id = ${id}`).toEqual([{ attempts: 0, due: 1 }]);
});
