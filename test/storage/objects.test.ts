import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cachedObjects } from '../../src/storage/cached-objects.ts';
import { fileObjects } from '../../src/storage/file-objects.ts';
import { ObjectCorrupt, ObjectMissing, type ObjectStore } from '../../src/storage/objects.ts';
import { s3Objects } from '../../src/storage/s3-objects.ts';
import { SILENT, temporaryDir } from '../support/database.ts';
import { startS3 } from '../support/s3.ts';

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
  const s3 = await startS3();
  return {
    store: s3Objects(s3.settings),
    corrupt: (sha256, bytes) => writeFileSync(s3.fileOf(`objects/${sha256}`), bytes),
    close: () => s3.close(),
  };
}

async function openCached(): Promise<Opened> {
  const s3 = await openS3();
  const folder = temporaryDir();
  return {
    store: cachedObjects(s3.store, { directory: folder.path, bytesMax: 100_000_000, log: SILENT }),
    corrupt: s3.corrupt,
    close: async () => {
      await s3.close();
      folder.remove();
    },
  };
}

describe.each([
  ['files', openFiles],
  ['S3', openS3],
  ['S3 with copies on the disk', openCached],
])('object store: %s', (_name, open) => {
  let opened: Opened;
  let store: ObjectStore;
  beforeAll(async () => {
    opened = await open();
    store = opened.store;
    await store.ready();
  });
  afterAll(() => opened.close());

  it('reads back the bytes that were put', async () => {
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

  it('stores only the view where it is a part of a larger buffer', async () => {
    const view = new Uint8Array(Buffer.from('before-inside-after').buffer.slice(0, 64)).subarray(3, 9);
    await store.put(digest(view), view);
    expect(await store.read(digest(view))).toEqual(Buffer.from(view));
  });

  it('takes a file, and refuses one of another size', async () => {
    const bytes = Buffer.alloc(3_000_000, 'spooled');
    const folder = temporaryDir();
    const path = join(folder.path, 'file');
    writeFileSync(path, bytes);
    await expect(store.putFile(digest(bytes), path, 5)).rejects.toThrow('has 3000000 bytes');
    expect(await store.has(digest(bytes))).toBe(false);
    await store.putFile(digest(bytes), path, bytes.length);
    expect((await store.read(digest(bytes))).equals(bytes)).toBe(true);
    folder.remove();
  });

  it('streams an object in parts', async () => {
    const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, at) => at % 251));
    await store.put(digest(bytes), bytes);
    const part = async (start: number, end: number) => {
      const chunks: Buffer[] = [];
      for await (const chunk of store.readRange(digest(bytes), start, end)) chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks);
    };
    expect((await part(0, bytes.length - 1)).equals(bytes)).toBe(true);
    expect((await part(499_990, 600_009)).equals(bytes.subarray(499_990, 600_010))).toBe(true);
    expect(await part(7, 7)).toEqual(Buffer.from([7]));
    expect((await part(0, -1)).length).toBe(0);
    await expect(store.readRange(ABSENT, 0, 1)[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(ObjectMissing);
  });

  it('accepts the same object from many writers at once', async () => {
    const bytes = Buffer.from('written by many');
    await Promise.all(Array.from({ length: 20 }, () => store.put(digest(bytes), bytes)));
    expect(await store.read(digest(bytes))).toEqual(bytes);
  });

  it('reports what it does not have', async () => {
    expect(await store.has(ABSENT)).toBe(false);
    await expect(store.read(ABSENT)).rejects.toThrow(ObjectMissing);
  });

  it('deletes objects, also missing ones', async () => {
    const bytes = Buffer.from('short life');
    await store.put(digest(bytes), bytes);
    await store.delete(digest(bytes));
    await store.delete(digest(bytes));
    expect(await store.has(digest(bytes))).toBe(false);
  });

  it('refuses bytes with another digest and stores nothing', async () => {
    await expect(store.put(ABSENT, Buffer.from('something else'))).rejects.toThrow(ObjectCorrupt);
    expect(await store.has(ABSENT)).toBe(false);
  });

  it('refuses a name that is not a digest before it becomes a path', async () => {
    for (const name of ['../../etc/passwd', 'ABC', `${ABSENT}/x`, ABSENT.toUpperCase()]) {
      await expect(async () => store.read(name)).rejects.toThrow(TypeError);
      await expect(async () => store.put(name, Buffer.alloc(0))).rejects.toThrow(TypeError);
      await expect(async () => store.delete(name)).rejects.toThrow(TypeError);
    }
  });

  it('never returns bytes that were changed in storage', async () => {
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
  it('removes files that a crash left incomplete, but not those being written', async () => {
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

  it('leaves no incomplete file after a put', async () => {
    const folder = temporaryDir();
    const store = fileObjects(folder.path);
    await store.ready();
    const bytes = Buffer.from('whole');
    await store.put(digest(bytes), bytes);
    expect(readdirSync(join(folder.path, 'incoming'))).toEqual([]);
    folder.remove();
  });
});
