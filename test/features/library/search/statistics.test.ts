/** The planner learns of many new pages without waiting for the autovacuum of a server. */
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Indexer, type IndexerDeps } from '../../../../src/features/library/search/indexer.ts';
import { ANALYZED_FROM, SearchStatistics } from '../../../../src/features/library/search/statistics.ts';
import { LocalBus } from '../../../../src/platform/bus.ts';
import { databaseKinds, openTestDatabase, SILENT, type TestDatabase } from '../../../support/database.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
  // What they learn here is of our own doing.
  for (const table of TABLES) await database.sql.unsafe(`alter table ${table} set (autovacuum_enabled = false)`);
});
afterAll(() => database.close());
beforeEach(() => database.sql`truncate artifact cascade`);

const TABLES = ['search_document', 'search_word', 'artifact', 'data_table', 'dataset_version'];

const put = (count: number) => database.sql`
  insert into artifact (id, name, slug, visibility, created_at_ms, updated_at_ms)
  select 'a' || n, 'name', 'a' || n, 'private', 0, 0 from generate_series(1, ${count}::int) n on conflict do nothing`;
const putIndexed = async (count: number) => {
  await put(count);
  await database.sql`
    insert into search_document (artifact_id, reach, names, telling, words, passages, indexed_at_ms)
    select id, '{}', '', '', '', '', 0 from artifact on conflict do nothing`;
};
/** How many pages the planner knows of; -1 where it was never told. */
const known = async () => {
  const [row] = await database.sql<{ known: number }[]>`
    select reltuples::bigint as known from pg_class where oid = 'search_document'::regclass`;
  return row?.known;
};
const look = async (statistics = new SearchStatistics({ sql: database.sql, log: SILENT })) => {
  statistics.written(0);
  await statistics.close();
};

test('it is told when there are many, and again when there are twice as many', async () => {
  await putIndexed(ANALYZED_FROM - 1);
  await look();
  expect(await known()).toBe(-1);
  await putIndexed(ANALYZED_FROM);
  await look();
  expect(await known()).toBe(ANALYZED_FROM);
  await putIndexed(2 * ANALYZED_FROM - 1);
  await look();
  expect(await known()).toBe(ANALYZED_FROM);
  await putIndexed(2 * ANALYZED_FROM);
  await look();
  expect(await known()).toBe(2 * ANALYZED_FROM);
});

test('between its looks so many are written as were missing', async () => {
  await putIndexed(ANALYZED_FROM - 10);
  const statistics = new SearchStatistics({ sql: database.sql, log: SILENT });
  await look(statistics);
  await putIndexed(ANALYZED_FROM);
  statistics.written(9);
  await statistics.close();
  expect(await known()).toBe(-1);
  statistics.written(1);
  await statistics.close();
  expect(await known()).toBe(ANALYZED_FROM);
});

// A lock holds up everything on the embedded database.
if (databaseKinds().includes('postgres'))
  test('one node does it at a time', async () => {
    await putIndexed(ANALYZED_FROM);
    await database.sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended('search statistics', 0))`;
      await look();
    });
    expect(await known()).toBe(-1);
  });

test('the index tells it while it is made', async () => {
  await put(ANALYZED_FROM + 20);
  const clock = new VirtualClock({ passingMs: 20 });
  const indexer = new Indexer({ sql: database.sql, objects: {} as IndexerDeps['objects'], log: SILENT, bus: new LocalBus(SILENT), clock });
  indexer.start();
  await vi.waitFor(async () => expect(await known()).toBeGreaterThanOrEqual(ANALYZED_FROM), { timeout: 60_000, interval: 50 });
  await indexer.close();
  const never = await database.sql<{ name: string }[]>`
    select relname as name from pg_class where relname = any(${TABLES}) and reltuples < 0`;
  expect(never.map(({ name }) => name)).toEqual([]);
});
