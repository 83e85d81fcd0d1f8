/** The daily sweep of blobs: it keeps bytes that a row still names, and removes abandoned uploads. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { s3Objects } from '../../../../src/storage/s3-objects.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, post, published, sha256 } from '../../../support/requests.ts';
import { startS3, type TestS3 } from '../../../support/s3.ts';
import { GIF, PNG, pngOf } from './sample-files.ts';

const DAY_MS = 24 * 3_600_000;

let s3: TestS3;
let easel: TestEasel;
let user: TestUser;
let objects: ReturnType<typeof s3Objects>;
beforeAll(async () => {
  s3 = await startS3();
  easel = await startTestEasel({ settings: s3.settings });
  user = await easel.newUser();
  objects = s3Objects(s3.settings);
});
afterAll(async () => {
  await easel.close();
  await s3.close();
});

async function upload(id: string, bytes: Buffer, type: string): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)], { type }), 'file');
  const reply = await easel.fetch(`/v1/data/${id}/blobs`, { method: 'POST', token: user.token, body: form });
  return (await json(reply)).data.id;
}

const remove = (id: string, blobId: string) => easel.fetch(`/v1/data/${id}/blobs/${blobId}`, { method: 'DELETE', token: user.token });

test('the sweep removes bytes when the last blob or page that names them is gone', async () => {
  const inPage = pngOf(500);
  const files = [
    { path: 'index.html', content: '<title>Page</title>' },
    { path: 'dot.png', content: inPage.toString('base64'), encoding: 'base64' },
  ];
  const { id } = await published(easel, user, { files });
  const [shared, alone, twin, last] = [
    await upload(id, inPage, 'image/png'),
    await upload(id, PNG, 'image/png'),
    await upload(id, GIF, 'image/gif'),
    await upload(id, GIF, 'image/gif'),
  ];
  for (const blob of [shared, alone, twin]) expect((await remove(id, blob)).status).toBe(200);
  expect(await easel.sweep()).toMatchObject({ objects: 0 });
  easel.clock.advance(DAY_MS + 1);
  expect(await easel.sweep()).toMatchObject({ objects: 1 });
  const kept = () => Promise.all([inPage, PNG, GIF].map((bytes) => objects.has(sha256(bytes))));
  expect(await kept()).toEqual([true, false, true]);
  await remove(id, last);
  expect(await easel.sweep()).toMatchObject({ objects: 1 });
  expect(await kept()).toEqual([true, false, false]);
});

test('the sweep removes an unconfirmed direct upload an hour after its token expires', async () => {
  const { id } = await published(easel, user);
  const asked = await easel.fetch(`/v1/data/${id}/blobs/upload`, {
    token: user.token,
    ...post({ filename: 'a.png', mimeType: 'image/png' }),
  });
  const { uploadUrl, direct } = (await json(asked)).data;
  expect(direct).toBe(true);
  await fetch(uploadUrl, { method: 'PUT', body: new Uint8Array(PNG) });
  const uploadId = /uploads\/([0-9a-f]{64})/.exec(uploadUrl)?.[1] ?? '';
  easel.clock.advance(75 * 60_000 - 1);
  expect(await easel.sweep()).toMatchObject({ blobUploads: 0 });
  easel.clock.advance(1);
  expect(await easel.sweep()).toMatchObject({ blobUploads: 1 });
  expect(await objects.direct?.claim(uploadId)).toBeNull();
});
