/** What copies on the disk add to the contract of object stores, which `objects.test.ts` runs on them as well. */
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { cachedObjects } from '../../src/storage/cached-objects.ts';
import { ObjectMissing, type ObjectStore } from '../../src/storage/objects.ts';
import { SILENT, temporaryDir } from '../support/database.ts';

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const bytesOf = (letter: string, length: number) => Buffer.alloc(length, letter);

/** A store in memory that counts reads, and waits before each chunk of an object as long as a gate is shut. */
function countingStore() {
  const held = new Map<string, Buffer>();
  const reads: string[] = [];
  const gates = new Map<string, Promise<void>>();
  const taken = (sha256: string) => {
    const bytes = held.get(sha256);
    if (bytes === undefined) throw new ObjectMissing(sha256);
    return bytes;
  };
  const store: ObjectStore = {
    put: async (sha256, bytes) => void held.set(sha256, Buffer.from(bytes)),
    putFile: async (sha256, path) => void held.set(sha256, readFileSync(path)),
    has: async (sha256) => held.has(sha256),
    async read(sha256) {
      reads.push(sha256);
      await gates.get(sha256);
      return taken(sha256);
    },
    async *readRange(sha256, start, end) {
      reads.push(sha256);
      for (let at = start; at <= end; at += 1000) {
        await gates.get(sha256);
        yield taken(sha256).subarray(at, Math.min(at + 1000, end + 1));
      }
    },
    delete: async (sha256) => void held.delete(sha256),
    probe: async () => undefined,
    ready: async () => undefined,
  };
  return {
    store,
    reads,
    add(bytes: Buffer) {
      held.set(digest(bytes), bytes);
      return digest(bytes);
    },
    /** Answers what opens it. */
    shut(sha256: string): () => void {
      const gate = new EventEmitter();
      gates.set(
        sha256,
        once(gate, 'open').then(() => undefined),
      );
      return () => {
        gates.delete(sha256);
        gate.emit('open');
      };
    },
  };
}

function stage(bytesMax = 80_000) {
  const folder = temporaryDir();
  onTestFinished(() => folder.remove());
  const origin = countingStore();
  const open = async () => {
    const cached = cachedObjects(origin.store, { directory: folder.path, bytesMax, log: SILENT });
    await cached.ready();
    return cached;
  };
  const fileOf = (sha256: string) => join(folder.path, sha256.slice(0, 2), sha256);
  const isKept = (sha256: string) => expect.poll(() => existsSync(fileOf(sha256))).toBe(true);
  return { origin, open, fileOf, isKept, incoming: () => readdirSync(join(folder.path, 'incoming')) };
}

async function all(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}

it('asks the store once for what it then has, read whole or in parts', async () => {
  const { origin, open, isKept } = stage();
  const [one, two] = [bytesOf('a', 5000), bytesOf('b', 6000)];
  const [first, second] = [origin.add(one), origin.add(two)];
  const cached = await open();
  expect(await cached.read(first)).toEqual(one);
  expect(await all(cached.readRange(second, 0, 5999))).toEqual(two);
  await Promise.all([isKept(first), isKept(second)]);
  await vi.waitFor(() => expect(cached.figures.bytes()).toBeGreaterThan(11_000), { timeout: 60_000 });
  expect(await all(cached.readRange(first, 100, 4999))).toEqual(one.subarray(100));
  expect(await cached.read(second)).toEqual(two);
  expect(origin.reads).toEqual([first, second]);
  expect(cached.figures).toMatchObject({ hits: 2, misses: 2 });
});

it('lets readers at the same time share one fetch, each at its own pace', async () => {
  const { origin, open } = stage();
  const bytes = bytesOf('c', 8000);
  const sha256 = origin.add(bytes);
  const cached = await open();
  const openGate = origin.shut(sha256);
  const slow = cached.readRange(sha256, 0, 7999)[Symbol.asyncIterator]();
  const begun = slow.next();
  const others = Promise.all(Array.from({ length: 20 }, () => all(cached.readRange(sha256, 0, 7999))));
  const whole = Promise.all(Array.from({ length: 20 }, () => cached.read(sha256)));
  openGate();
  for (const got of [...(await others), ...(await whole)]) expect(got.equals(bytes)).toBe(true);
  let got = Buffer.from((await begun).value ?? []);
  for (let next = await slow.next(); !next.done; next = await slow.next()) got = Buffer.concat([got, next.value]);
  expect(got.equals(bytes)).toBe(true);
  expect(origin.reads).toEqual([sha256, sha256]);
});

it('holds nobody up behind an object that the store is slow to send', async () => {
  const { origin, open } = stage();
  const [slow, quick] = [origin.add(bytesOf('d', 3000)), origin.add(bytesOf('e', 3000))];
  const cached = await open();
  const openGate = origin.shut(slow);
  const waiting = Promise.all([all(cached.readRange(slow, 0, 2999)), cached.read(slow)]);
  expect(await all(cached.readRange(quick, 0, 2999))).toEqual(bytesOf('e', 3000));
  expect(await cached.read(quick)).toEqual(bytesOf('e', 3000));
  openGate();
  expect((await waiting)[0]).toEqual(bytesOf('d', 3000));
});

it('keeps to its bytes: the least recently used gives way, and what is too large is never kept', async () => {
  const { origin, open, fileOf, isKept } = stage(80_000);
  const cached = await open();
  // Six of 10 000 are the most beside the quarter for fetches.
  const digests = Array.from('fghijkl', (letter) => origin.add(bytesOf(letter, 9500)));
  for (const [at, sha256] of digests.entries()) {
    await cached.read(sha256);
    await isKept(sha256);
    await vi.waitFor(() => expect(cached.figures.bytes()).toBeGreaterThan(9500 * Math.min(at + 1, 6)), { timeout: 60_000 });
    // The first is used again each time.
    await cached.read(digests[0] ?? '');
  }
  expect(cached.figures.bytes()).toBeLessThanOrEqual(60_000);
  await expect.poll(() => digests.map((sha256) => existsSync(fileOf(sha256)))).toEqual([true, false, true, true, true, true, true]);
  const large = origin.add(bytesOf('m', 10_001));
  expect(await all(cached.readRange(large, 0, 10_000))).toEqual(bytesOf('m', 10_001));
  expect(await cached.read(large)).toEqual(bytesOf('m', 10_001));
  expect(existsSync(fileOf(large))).toBe(false);
});

it('survives a restart, in the order of use', async () => {
  const { origin, open, fileOf, isKept } = stage(80_000);
  const before = await open();
  const digests = Array.from('nopqrs', (letter) => origin.add(bytesOf(letter, 9500)));
  for (const [at, sha256] of digests.entries()) {
    await before.read(sha256);
    await isKept(sha256);
    const used = new Date(Date.now() - (digests.length - at) * 3_600_000);
    utimesSync(fileOf(sha256), used, used);
  }
  const after = await open();
  expect(after.figures.bytes()).toBe(6 * 9501);
  expect(await after.read(digests[5] ?? '')).toEqual(bytesOf('s', 9500));
  expect(after.figures).toMatchObject({ hits: 1, misses: 0 });
  await after.read(origin.add(bytesOf('t', 9500)));
  await expect.poll(() => existsSync(fileOf(digests[0] ?? ''))).toBe(false);
});

it.each(['read', 'readRange'] as const)('never serves a damaged copy by %s, and fetches it again', async (way) => {
  const { origin, open, fileOf, isKept } = stage();
  const bytes = bytesOf('u', 4000);
  const sha256 = origin.add(bytes);
  await (await open()).read(sha256);
  await isKept(sha256);
  // As a crash leaves a file whose last blocks were not written: of the right length.
  writeFileSync(fileOf(sha256), Buffer.alloc(4000));
  const cached = await open();
  const again = way === 'read' ? await cached.read(sha256) : await all(cached.readRange(sha256, 0, 3999));
  expect(again).toEqual(bytes);
  expect(cached.figures).toMatchObject({ hits: 0, misses: 1 });
});

it('reads on from the store where the disk fails or somebody empties the folder', async () => {
  const { origin, open, fileOf, isKept } = stage();
  const bytes = bytesOf('v', 4000);
  const sha256 = origin.add(bytes);
  const cached = await open();
  await cached.read(sha256);
  await isKept(sha256);
  await vi.waitFor(() => expect(cached.figures.bytes()).toBeGreaterThan(0), { timeout: 60_000 });
  rmSync(join(fileOf(sha256), '..', '..'), { recursive: true });
  expect(await all(cached.readRange(sha256, 0, 3999))).toEqual(bytes);
  expect(await cached.read(sha256)).toEqual(bytes);
});

it('tells a failure of the store to all who wait for it, and keeps nothing', async () => {
  const { origin, open, incoming } = stage();
  const bytes = bytesOf('w', 5000);
  const sha256 = origin.add(bytes);
  const cached = await open();
  const openGate = origin.shut(sha256);
  const readers = Array.from({ length: 3 }, () => all(cached.readRange(sha256, 0, 4999)));
  const outcomes = Promise.allSettled(readers);
  await origin.store.delete(sha256);
  openGate();
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(ObjectMissing) });
  await expect.poll(incoming).toEqual([]);
  // Nothing remembers the failure.
  origin.add(bytes);
  expect(await all(cached.readRange(sha256, 0, 4999))).toEqual(bytes);
});

it('a part from the beginning is not taken for the whole', async () => {
  const { origin, open, fileOf, incoming } = stage();
  const sha256 = origin.add(bytesOf('x', 5000));
  const cached = await open();
  expect((await all(cached.readRange(sha256, 0, 99))).length).toBe(100);
  await expect.poll(incoming).toEqual([]);
  expect(existsSync(fileOf(sha256))).toBe(false);
});

it('a deleted object is gone here too', async () => {
  const { origin, open, fileOf, isKept } = stage();
  const sha256 = origin.add(bytesOf('y', 5000));
  const cached = await open();
  await cached.read(sha256);
  await isKept(sha256);
  await cached.delete(sha256);
  expect(existsSync(fileOf(sha256))).toBe(false);
  await expect(cached.read(sha256)).rejects.toBeInstanceOf(ObjectMissing);
  expect(await cached.has(sha256)).toBe(false);
});
