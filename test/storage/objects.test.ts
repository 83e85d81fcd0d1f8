import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileObjects } from '../../src/storage/file-objects.ts';
import { ObjectCorrupt, ObjectMissing, type ObjectStore } from '../../src/storage/objects.ts';
import { s3Objects } from '../../src/storage/s3-objects.ts';
import { temporaryDir } from '../support/database.ts';

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const ABSENT = 'f'.repeat(64);

interface Opened {
  readonly store: ObjectStore;
  /** Changes what is stored behind the store's back. */
  corrupt(sha256: string, bytes: Buffer): void;
  close(): Promise<void>;
}

async function openFiles(): Promise<Opened> {
  const folder = temporaryDir();
  return {
    store: fileObjects(join(folder.path, 'objects')),
    corrupt: (sha256, bytes) => writeFileSync(join(folder.path, 'objects', sha256.slice(0, 2), sha256.slice(2, 4), sha256), bytes),
    close: async () => folder.remove(),
  };
}

async function openS3(): Promise<Opened> {
  const folder = temporaryDir();
  const s3 = new S3rver({ directory: folder.path, silent: true });
  const server: Server = createServer(s3.callback());
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const store = s3Objects({
    S3_ENDPOINT: `http://127.0.0.1:${port}`,
    S3_BUCKET: 'contents',
    S3_ACCESS_KEY: 'S3RVER',
    S3_SECRET_KEY: 'S3RVER',
    S3_REGION: 'us-east-1',
  });
  return {
    store,
    corrupt: (sha256, bytes) => writeFileSync(join(folder.path, 'contents', 'objects', `${sha256}._S3rver_object`), bytes),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      folder.remove();
    },
  };
}

describe.each([
  ['files', openFiles],
  ['S3', openS3],
])('object store: %s', (_name, open) => {
  let opened: Opened;
  let store: ObjectStore;
  beforeAll(async () => {
    opened = await open();
    store = opened.store;
    await store.ready();
  });
  afterAll(() => opened.close());

  it('gives back the bytes that were put', async () => {
    const bytes = Buffer.from([0, 1, 255, 10, 13, 0]);
    await store.put(digest(bytes), bytes);
    expect(await store.read(digest(bytes))).toEqual(bytes);
    expect(await store.has(digest(bytes))).toBe(true);
  });

  it('keeps an empty object and one of several megabytes', async () => {
    const large = Buffer.alloc(6 * 1024 * 1024, 'easel');
    for (const bytes of [Buffer.alloc(0), large]) {
      await store.put(digest(bytes), bytes);
      expect((await store.read(digest(bytes))).equals(bytes)).toBe(true);
    }
  });

  it('puts a view into a larger buffer as the view alone', async () => {
    const view = new Uint8Array(Buffer.from('before-inside-after').buffer.slice(0, 64)).subarray(3, 9);
    await store.put(digest(view), view);
    expect(await store.read(digest(view))).toEqual(Buffer.from(view));
  });

  it('takes the same object from many writers at once', async () => {
    const bytes = Buffer.from('written by many');
    await Promise.all(Array.from({ length: 20 }, () => store.put(digest(bytes), bytes)));
    expect(await store.read(digest(bytes))).toEqual(bytes);
  });

  it('knows what it does not have', async () => {
    expect(await store.has(ABSENT)).toBe(false);
    await expect(store.read(ABSENT)).rejects.toThrow(ObjectMissing);
  });

  it('deletes, also what is not there', async () => {
    const bytes = Buffer.from('short life');
    await store.put(digest(bytes), bytes);
    await store.delete(digest(bytes));
    await store.delete(digest(bytes));
    expect(await store.has(digest(bytes))).toBe(false);
  });

  it('refuses bytes of another digest and stores nothing', async () => {
    await expect(store.put(ABSENT, Buffer.from('something else'))).rejects.toThrow(ObjectCorrupt);
    expect(await store.has(ABSENT)).toBe(false);
  });

  it('refuses a name that is no digest before it becomes a path', async () => {
    for (const name of ['../../etc/passwd', 'ABC', `${ABSENT}/x`, ABSENT.toUpperCase()]) {
      await expect(async () => store.read(name)).rejects.toThrow(TypeError);
      await expect(async () => store.put(name, Buffer.alloc(0))).rejects.toThrow(TypeError);
      await expect(async () => store.delete(name)).rejects.toThrow(TypeError);
    }
  });

  it('never hands out bytes that were changed behind its back', async () => {
    const bytes = Buffer.from('as it was put');
    await store.put(digest(bytes), bytes);
    opened.corrupt(digest(bytes), Buffer.from('as it was bit!'.slice(0, bytes.length)));
    await expect(store.read(digest(bytes))).rejects.toThrow(ObjectCorrupt);
  });

  it('can be made ready again', async () => {
    await store.ready();
  });
});

describe('object files', () => {
  it('removes what a crash left half written, but not what is being written now', async () => {
    const folder = temporaryDir();
    const incoming = join(folder.path, 'incoming');
    mkdirSync(incoming, { recursive: true });
    writeFileSync(join(incoming, 'old'), 'x');
    writeFileSync(join(incoming, 'new'), 'x');
    const yesterday = new Date(Date.now() - 24 * 3600 * 1000);
    utimesSync(join(incoming, 'old'), yesterday, yesterday);
    await fileObjects(folder.path).ready();
    expect(existsSync(join(incoming, 'old'))).toBe(false);
    expect(existsSync(join(incoming, 'new'))).toBe(true);
    folder.remove();
  });

  it('leaves nothing half written behind after a put', async () => {
    const folder = temporaryDir();
    const store = fileObjects(folder.path);
    await store.ready();
    const bytes = Buffer.from('whole');
    await store.put(digest(bytes), bytes);
    expect(readdirSync(join(folder.path, 'incoming'))).toEqual([]);
    folder.remove();
  });
});
