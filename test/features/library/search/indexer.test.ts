/** The queue of the index: who may write, in which order, and what happens to what cannot be written. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Clock, Log } from '../../../../actors/runtime/ports.ts';
import type { ArtifactId, VersionId } from '../../../../protocol/core/ids.ts';
import { documentWords, lexemesOf } from '../../../../src/features/library/search/document-words.ts';
import {
  claimTurns,
  endTurns,
  postponeTurn,
  releaseTurn,
  type Turn,
  writeDocuments,
} from '../../../../src/features/library/search/index-rows.ts';
import { Indexer, type IndexerDeps } from '../../../../src/features/library/search/indexer.ts';
import { LocalBus } from '../../../../src/platform/bus.ts';
import { databaseKinds, openTestDatabase, SILENT, type TestDatabase } from '../../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => database.sql`delete from artifact`);

const put = (id: string, dueAtMs = 0) =>
  database.sql.begin(async (sql) => {
    await sql`
      insert into artifact (id, name, slug, visibility, created_at_ms, updated_at_ms) values (${id}, ${`name of ${id}`}, ${id}, 'private', 0, 0)`;
    await sql`update search_turn set due_at_ms = ${dueAtMs} where artifact_id = ${id}`;
  });

async function claim(leaseS: number): Promise<Turn> {
  const [turn] = await claimTurns(database.sql, null, 1000, leaseS, 1);
  if (turn === undefined) throw new Error('nothing to claim');
  return turn;
}

function write(turn: Turn, version: string): Promise<Turn[]> {
  const words = lexemesOf(documentWords({ name: version, slug: 'slug', titles: [] }, []), new Map());
  return writeDocuments(database.sql, [{ turn, versionId: version as VersionId, ...words, passages: Buffer.alloc(0) }], 0);
}

const versions = async () =>
  (await database.sql<{ version_id: string }[]>`select version_id from search_document`).map((row) => row.version_id);

test('who has lost the claim writes nothing and leaves the turn to the other', async () => {
  await put('a');
  const slow = await claim(0);
  const other = await claim(60);
  await write(other, 'new');
  await write(slow, 'old');
  expect(await versions()).toEqual(['new']);
  expect(await endTurns(database.sql, [slow])).toEqual([]);
  await postponeTurn(database.sql, slow, 5000);
  expect(await claimTurns(database.sql, null, 1000, 60, 1)).toEqual([]);
  expect(await endTurns(database.sql, [other])).toEqual(['a']);
});

test('what has changed since it was claimed is not written, and is due again at once', async () => {
  await put('a');
  const before = await claim(60);
  await database.sql`update artifact set name = 'changed' where id = 'a'`;
  await write(before, 'old');
  expect(await versions()).toEqual([]);
  expect(await endTurns(database.sql, [before])).toEqual([]);
  await releaseTurn(database.sql, before);
  await write(await claim(60), 'new');
  expect(await versions()).toEqual(['new']);
});

// A lock holds up everything on the embedded database.
if (databaseKinds().includes('postgres'))
  test('an artifact that somebody holds is not waited for, and stays due', async () => {
    await put('a');
    const turn = await claim(60);
    await database.sql.begin(async (sql) => {
      await sql`select from artifact where id = 'a' for update`;
      expect(await write(turn, 'new')).toEqual([]);
    });
    expect(await database.sql`select from search_turn`).toHaveLength(1);
    expect(await write(turn, 'new')).toEqual([turn]);
  });

let indexer: Indexer | undefined;
afterEach(async () => {
  await indexer?.close();
  indexer = undefined;
});

/** Begins at once, and calls `atTurn` each time that it has looked at the clock. */
function start(deps: Partial<IndexerDeps>, atTurn: () => void = () => undefined): void {
  let nowMs = 1000;
  const clock: Clock = {
    nowMs: () => {
      nowMs += 1;
      atTurn();
      return nowMs;
    },
    monotonicMs: () => 0,
    after: (delayMs, run) => {
      if (delayMs < 1000) setImmediate(run);
      return { cancel: () => undefined };
    },
  };
  const objects = {
    readRange: () => {
      throw new Error('what the page says');
    },
  } as unknown as IndexerDeps['objects'];
  indexer = new Indexer({ sql: database.sql, objects, log: SILENT, bus: new LocalBus(SILENT), ...deps, clock });
  indexer.start();
}

// A lock holds up everything on the embedded database.
if (databaseKinds().includes('postgres'))
  test('an artifact that somebody holds is indexed when they let go of it, and the others before that', async () => {
    for (const id of ['a', 'b', 'c']) await put(id);
    const ids = async () =>
      (await database.sql<{ artifact_id: string }[]>`select artifact_id from search_document`).map((row) => row.artifact_id);
    await database.sql.begin(async (sql) => {
      await sql`select from artifact where id = 'a' for update`;
      start({});
      await vi.waitFor(async () => expect((await ids()).sort()).toEqual(['b', 'c']), { timeout: 60_000, interval: 20 });
    });
    await vi.waitFor(async () => expect((await ids()).sort()).toEqual(['a', 'b', 'c']), { timeout: 60_000, interval: 20 });
    await vi.waitFor(async () => expect(await database.sql`select from search_turn`).toHaveLength(0), { timeout: 60_000, interval: 20 });
  });

test('what changes while there is a backlog comes before the rest of the backlog', async () => {
  for (let at = 0; at < 400; at += 1) await put(`a${at}`);
  await put('last', 500);
  const bus = new LocalBus(SILENT);
  let isTold = false;
  start({ bus }, () => {
    if (!isTold) bus.tell({ kind: 'artifact.changed', artifactId: 'last' as ArtifactId, slugs: [] });
    isTold = true;
  });
  await vi.waitFor(async () => expect(await database.sql`select from search_turn`).toHaveLength(0), { timeout: 60_000, interval: 20 });
  const rows = await database.sql<{ artifact_id: string }[]>`select artifact_id from search_document order by indexed_at_ms`;
  expect(rows).toHaveLength(401);
  // Behind what has been claimed before it, and while one waits whether more follows.
  expect(rows.findIndex(({ artifact_id }) => artifact_id === 'last')).toBeLessThan(200);
});

test('the log of a failure has its code, and nothing that the page says', async () => {
  await put('a');
  await database.sql`
    insert into artifact_version (id, artifact_id, version_no, entrypoint, size_bytes, created_at_ms) values ('v', 'a', 1, 'index.html', 1, 0)`;
  await database.sql`
    insert into version_file (version_id, path, sha256, mime, size_bytes) values ('v', 'index.html', ${Buffer.alloc(32)}, 'text/html', 1)`;
  await database.sql`update artifact set live_version_id = 'v' where id = 'a'`;
  const warned: unknown[] = [];
  const log: Log = { ...SILENT, warn: (fields: unknown) => warned.push(fields) };
  start({ log });
  await vi.waitFor(() => expect(warned).toHaveLength(1), { timeout: 60_000, interval: 20 });
  expect(warned).toEqual([{ code: expect.any(String), artifactId: 'a', attempts: 1 }]);
});

const LEARNS = 'insert into search_word';
const READS = 'a.social_description, a.live_version_id';

/** The client, of which `isRefused` is asked about each statement by its text and values. */
function refusing(isRefused: (text: string, values: readonly unknown[]) => boolean): TestDatabase['sql'] {
  return new Proxy(database.sql, {
    apply: (target, self, args) => {
      const [texts, ...values] = args as [readonly string[] | undefined, ...unknown[]];
      if (Array.isArray(texts) && isRefused(texts.join(' '), values)) return Promise.reject(new Error('refused'));
      return Reflect.apply(target as (...of: unknown[]) => unknown, self, args);
    },
  });
}

const waiting = () =>
  database.sql<{ artifact_id: string; due_at_ms: number; lease_ends_at: Date | null }[]>`
    select artifact_id, due_at_ms, lease_ends_at from search_turn`;
const nothingWaits = () =>
  vi.waitFor(async () => expect(await database.sql`select from search_turn`).toHaveLength(0), { timeout: 60_000, interval: 20 });

test('the words of several artifacts are learnt by one statement', async () => {
  let groups = 0;
  let learnt = 0;
  for (const id of ['alpha', 'beta', 'gamma']) await put(id);
  start({
    sql: refusing((text) => {
      if (text.includes(READS)) groups += 1;
      if (text.includes(LEARNS)) learnt += 1;
      return false;
    }),
  });
  await nothingWaits();
  expect([groups, learnt]).toEqual([1, 1]);
  const words = await database.sql<{ word: string }[]>`select word from search_word where word in ('alpha', 'beta', 'gamma') order by word`;
  expect(words.map(({ word }) => word)).toEqual(['alpha', 'beta', 'gamma']);
});

test('where that is refused each artifact is on its own', async () => {
  for (const id of ['delta', 'epsilon', 'zeta']) await put(id);
  start({ sql: refusing((text, values) => text.includes(LEARNS) && values.flat().includes('epsilon')) });
  await vi.waitFor(async () => expect(await database.sql`select from search_document`).toHaveLength(2), { timeout: 60_000, interval: 20 });
  // It is tried again later, as whatever cannot be indexed.
  const later = [{ artifact_id: 'epsilon', lease_ends_at: null, due_at_ms: expect.any(Number) }];
  await vi.waitFor(async () => expect(await waiting()).toEqual(later), { timeout: 60_000, interval: 20 });
  expect((await waiting())[0]?.due_at_ms).toBeGreaterThan(2000);
});

test('pages that say very many words do not wait for each other in memory', async () => {
  for (const at of [0, 1, 2]) {
    const version = `v${at}`;
    await put(`p${at}`);
    await database.sql`
      insert into artifact_version (id, artifact_id, version_no, entrypoint, size_bytes, created_at_ms) values (${version}, ${`p${at}`}, 1, 'a.txt', 1, 0)`;
    await database.sql`
      insert into version_file (version_id, path, sha256, mime, size_bytes) values (${version}, 'a.txt', ${Buffer.alloc(32, at)}, 'text/plain', 300000)`;
    await database.sql`update artifact set live_version_id = ${version} where id = ${`p${at}`}`;
    await database.sql`update search_turn set due_at_ms = ${at} where artifact_id = ${`p${at}`}`;
  }
  const done: string[] = [];
  const objects = {
    async *readRange(sha256: string) {
      done.push('read');
      const words = Array.from({ length: 30_000 }, (_, word) => `${sha256.slice(0, 2)}x${word}`);
      yield Buffer.from(words.join(' '));
    },
  } as unknown as IndexerDeps['objects'];
  start({
    objects,
    sql: refusing((text) => {
      if (text.includes(LEARNS) && done.at(-1) !== 'learn') done.push('learn');
      return false;
    }),
  });
  await nothingWaits();
  expect(done).toEqual(['read', 'read', 'learn', 'read', 'learn']);
  expect(await versions()).toHaveLength(3);
});
