import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { localPlacement } from '../../actors/runtime/placement.ts';
import { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { publishRequest } from '../../protocol/artifacts/publish.ts';
import type { ArtifactId, UserId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { allModules, sweepsOf } from '../../src/app/modules.ts';
import { runSweeps, type SweepReport } from '../../src/app/sweeps.ts';
import { PageSdk } from '../../src/content/page-sdk.ts';
import { MemoryLimiter } from '../../src/edge/memory-limiter.ts';
import { egressOf } from '../../src/egress/egress.ts';
import { readInlineFiles } from '../../src/features/artifacts/publish/contents.ts';
import { publish } from '../../src/features/artifacts/publish/publish.ts';
import { publisherOf } from '../../src/features/artifacts/publish/target.ts';
import { purgeExpired } from '../../src/features/artifacts/trash/purge.ts';
import { purgeDroppedTables } from '../../src/features/data/tables/purge.ts';
import { createAccount } from '../../src/features/people/accounts/handlers.ts';
import { readAppFiles } from '../../src/features/people/web-app/files.ts';
import { WorkspaceDirectory } from '../../src/features/workspaces/workspaces/directory.ts';
import { LocalBus } from '../../src/platform/bus.ts';
import { deriveConfig, parseSettings } from '../../src/platform/config.ts';
import { connectionCaps } from '../../src/platform/descriptors.ts';
import { postgresArtifactStore } from '../../src/storage/artifact-store.ts';
import { DocumentThread } from '../../src/storage/document-thread.ts';
import { fileObjects } from '../../src/storage/file-objects.ts';
import { postgresJournal } from '../../src/storage/journal.ts';
import type { ObjectStore } from '../../src/storage/objects.ts';
import { removeOrphans } from '../../src/storage/orphans.ts';
import { Sealer } from '../../src/storage/sealing/sealer.ts';
import { SharedLimiter } from '../../src/storage/shared-limiter.ts';
import { Spool } from '../../src/storage/spool.ts';
import { UNMETERED } from '../sim/world.ts';
import { builtFiles, builtPageSdk, builtWebApp, openTestDatabase, SILENT, type TestDatabase, temporaryDir } from '../support/database.ts';
import { userPrincipal } from '../support/principals.ts';
import { sha256 } from '../support/requests.ts';
import { describeWith, services } from '../support/services.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const DAY_MS = 24 * 3_600_000;
const NEVER = new AbortController().signal;

let database: TestDatabase;
let folder: ReturnType<typeof temporaryDir>;
let clock: VirtualClock;
let objects: ObjectStore;
let userId: UserId;

beforeEach(async () => {
  database = await openTestDatabase();
  folder = temporaryDir();
  // The pauses of the count of what everybody stores pass by themselves.
  clock = new VirtualClock({ passingMs: 20 });
  objects = fileObjects(folder.path);
  await objects.ready();
  ({ userId } = await createAccount(database.sql, { tier: 'free', isAdmin: false, nowMs: clock.nowMs() }));
});
afterEach(async () => {
  await database.close();
  folder.remove();
});

const deps = () => ({
  sql: database.sql,
  clock,
  objects,
  bus: new LocalBus(SILENT),
  log: SILENT,
  config: deriveConfig(parseSettings({}), 8787),
  limiters: { shared: new SharedLimiter({ sql: database.sql, clock }), memory: new MemoryLimiter(clock) },
});

/** The sweeps of all modules; `gone` hears which artifacts they purge. */
function sweep(signal = NEVER, gone: string[] = []): Promise<SweepReport> {
  const { sql, tableSql, searchSql, journalSql } = database;
  const foundation = deps();
  foundation.bus.listen('test', { resync: () => undefined, 'artifact.gone': ({ artifactId }) => void gone.push(artifactId) });
  const runtime = new ActorRuntime({
    meter: UNMETERED,
    idleMs: 60_000,
    memoryBytesMax: 1e8,
    clock,
    log: SILENT,
    store: postgresArtifactStore(sql),
    journal: postgresJournal(journalSql),
    placement: localPlacement(),
  });
  const { list } = allModules({
    ...foundation,
    settings: parseSettings({ DATA_DIR: folder.path }),
    runtime,
    spool: new Spool(folder.path),
    sealer: new Sealer([]),
    egress: egressOf(parseSettings({})),
    thread: new DocumentThread(builtFiles().documentWorkerFile, clock),
    pageSdk: new PageSdk(builtPageSdk()),
    appFiles: readAppFiles(builtWebApp()),
    builtDir: services().builtDir,
    tableSql,
    searchSql,
    isEmbedded: database.kind === 'embedded',
    health: () => null,
    caps: connectionCaps(1024, LIMITS),
    refusals: { refused: () => undefined },
    dependencies: { health: () => ({ state: 'up' }), watches: () => false },
    slowTurns: () => [],
  });
  return runSweeps(sweepsOf(list), SILENT, signal);
}

async function publishPage(content: string): Promise<ArtifactId> {
  const body = publishRequest.parse({ files: [{ path: 'index.html', content }] });
  const principal = userPrincipal(userId);
  const { files, contents } = await readInlineFiles(userId, body.files ?? []);
  return (
    await publish({ ...deps(), workspaces: new WorkspaceDirectory(deps()) }, publisherOf(principal), body, {
      files,
      contents,
      uploadId: null,
    })
  ).artifactId;
}

async function trash(id: ArtifactId): Promise<void> {
  await database.sql`update artifact set deleted_at_ms = ${clock.nowMs()} where id = ${id}`;
}

describe('the daily sweep', () => {
  test('purges artifacts that have been in the trash for 30 days, then the contents that nothing references', async () => {
    const gone: string[] = [];
    const id = await publishPage('shared');
    const twin = await publishPage('shared');
    const alone = await publishPage('alone');
    await trash(id);
    await trash(alone);
    clock.advance(30 * DAY_MS - 1);
    expect(await sweep()).toMatchObject({ artifacts: 0, objects: 0 });
    clock.advance(1);
    expect(await sweep(NEVER, gone)).toMatchObject({ artifacts: 2, objects: 1 });
    expect(gone.sort()).toEqual([id, alone].sort());
    expect(await database.sql`select id from artifact`).toEqual([{ id: twin }]);
    expect([await objects.has(sha256('shared')), await objects.has(sha256('alone'))]).toEqual([true, false]);
    expect(await sweep()).toMatchObject({ artifacts: 0, objects: 0 });
    expect((await objects.read(sha256('shared'))).toString()).toBe('shared');
  });

  test('purges the table rows of a purged artifact, and no others', async () => {
    const { sql } = database;
    const [doomed, kept] = [await publishPage('doomed'), await publishPage('kept')];
    for (const id of [doomed, kept]) {
      await sql`
        insert into table_row (artifact_id, table_name, row_id, data, created_seq, seq, created_at_ms, updated_at_ms)
        select ${id}, 't', i::text, '{}', i, i, 0, 0 from generate_series(1, 5001) i`;
      await sql`
        insert into row_index select (jsonb_populate_record(null::row_index, jsonb_build_object(
          'artifact_id', ${id}::text, 'table_name', 't', 'column_name', 'n', 'kind', 'n', 'num', i, 'row_id', i::text, 'created_seq', i))).*
        from generate_series(1, 5000) i`;
    }
    await trash(doomed);
    clock.advance(30 * DAY_MS);
    expect(await sweep(AbortSignal.abort())).toEqual({});
    expect(await sweep()).toMatchObject({ artifacts: 1 });
    expect(await sql`select artifact_id, count(*) from table_row group by 1`).toEqual([{ artifact_id: kept, count: 5001 }]);
    expect(await sql`select artifact_id, count(*) from row_index group by 1`).toEqual([{ artifact_id: kept, count: 5000 }]);
  });

  test('several purges at once remove the rows of dropped tables, and none of a table that exists', async () => {
    const { sql } = database;
    const id = await publishPage('has tables');
    for (const [table, rows] of [
      ['t', 2500],
      ['t~5', 1],
      ['u', 10],
    ] as const) {
      await sql`
        insert into table_row (artifact_id, table_name, row_id, data, created_seq, seq, created_at_ms, updated_at_ms)
        select ${id}, ${table}, i::text, '{}', i, i, 0, 0 from generate_series(1, ${rows}::int) i`;
      await sql`
        insert into row_index select (jsonb_populate_record(null::row_index, jsonb_build_object(
          'artifact_id', ${id}::text, 'table_name', ${table}::text, 'column_name', 'n', 'kind', 'n', 'num', i, 'row_id', i::text, 'created_seq', i))).*
        from generate_series(1, ${rows}::int) i`;
    }
    await sql`insert into dropped_table (artifact_id, stored_as, dropped_at_ms) values (${id}, 't', 1), (${id}, 'never had any', 2), (${id}, 'u', 3)`;
    expect(await purgeDroppedTables(sql, AbortSignal.abort())).toBe(0);
    expect(await sql`select count(*)::int as count from dropped_table`).toEqual([{ count: 3 }]);
    const done = await Promise.all([1, 2, 3].map(() => purgeDroppedTables(sql, NEVER)));
    expect(done.reduce((sum, one) => sum + one)).toBe(3);
    expect(await sweep()).toMatchObject({ droppedTables: 0 });
    expect(await sql`select table_name, count(*)::int from table_row group by 1`).toEqual([{ table_name: 't~5', count: 1 }]);
    expect(await sql`select table_name, count(*)::int from row_index group by 1`).toEqual([{ table_name: 't~5', count: 1 }]);
    expect(await sql`select * from dropped_table`).toEqual([]);
  });

  test('keeps contents stored within a day, and those that an upload or a compressed form references', async () => {
    const { sql } = database;
    const contents = ['fresh', 'in upload', 'brotli of a page', 'orphan'];
    for (const [index, content] of contents.entries()) {
      await objects.put(sha256(content), Buffer.from(content));
      const storedMs = clock.nowMs() + (index === 0 ? 1 : 0);
      await sql`insert into stored_object (sha256, size_bytes, stored_at_ms) values (decode(${sha256(content)}, 'hex'), 1, ${storedMs})`;
    }
    await publishPage('a page');
    await sql`insert into object_encoding (sha256, encoding, encoded_sha256)
      values (decode(${sha256('a page')}, 'hex'), 'br', decode(${sha256('brotli of a page')}, 'hex'))`;
    clock.advance(DAY_MS);
    await sql`insert into publish_upload (id, user_id, created_at_ms, expires_at_ms) values ('upl_x', ${userId}, 0, ${clock.nowMs() + 1})`;
    await sql`insert into publish_upload_part (upload_id, sha256) values ('upl_x', decode(${sha256('in upload')}, 'hex'))`;
    expect(await sweep()).toMatchObject({ objects: 1, uploads: 0 });
    expect(await Promise.all(contents.map((content) => objects.has(sha256(content))))).toEqual([true, true, true, false]);
    clock.advance(1);
    expect(await sweep()).toMatchObject({ objects: 2, uploads: 1 });
    expect(await Promise.all(contents.map((content) => objects.has(sha256(content))))).toEqual([false, false, true, false]);
  });

  test('removes expired links, old idempotency records and tokens that ended long ago', async () => {
    const { sql } = database;
    const id = await publishPage('x');
    const nowMs = clock.nowMs();
    await sql`
      insert into preview_link (id, artifact_id, version_id, secret_sha256, created_at_ms, expires_at_ms)
      select 'lnk_' || n, ${id}, a.live_version_id, sha256(n::text::bytea), 0, ${nowMs}::bigint + n
      from artifact a, generate_series(0, 1) as n where a.id = ${id}`;
    await sql`
      insert into idempotency_record (principal, method, path, key, body_sha256, created_at_ms)
      select 'p', 'POST', '/', n::text, '', ${nowMs - DAY_MS}::bigint + n from generate_series(0, 1) as n`;
    await sql`
      insert into access_token (id, user_id, token_sha256, created_at_ms, expires_at_ms, revoked_at_ms) values
        ('tok_a', ${userId}, 'a', 0, ${nowMs - 30 * DAY_MS}, null), ('tok_b', ${userId}, 'b', 0, null, ${nowMs - 30 * DAY_MS}),
        ('tok_c', ${userId}, 'c', 0, ${nowMs - DAY_MS}, null)`;
    expect(await sweep()).toMatchObject({ previewLinks: 1, idempotencyRecords: 1, tokens: 2 });
    const left = await sql`select id from access_token where token_sha256 = 'c' union all select id from preview_link order by id`;
    expect(left).toEqual([{ id: 'lnk_1' }, { id: 'tok_c' }]);
  });

  test('stops between two steps when the process stops', async () => {
    await trash(await publishPage('x'));
    clock.advance(31 * DAY_MS);
    const stopping = new AbortController();
    const [id] = await database.sql<{ id: ArtifactId }[]>`select id from artifact`;
    const purges = [() => Promise.resolve(!stopping.signal.aborted)];
    stopping.abort();
    expect(await purgeExpired({ ...deps(), purges }, stopping.signal)).toBe(0);
    expect(await database.sql`select id from artifact`).toEqual([id]);
  });

  test('goes on where one of its parts fails', async () => {
    const logged: unknown[] = [];
    const log = { ...SILENT, error: (fields: object) => void logged.push(fields) };
    const fails = new Error('out of order');
    const parts = [
      { name: 'first', run: () => Promise.reject(fails) },
      { name: 'second', run: () => Promise.resolve(2) },
    ];
    expect(await runSweeps(parts, log, NEVER)).toEqual({ first: null, second: 2 });
    expect(logged).toEqual([{ err: fails, sweep: 'first' }]);
  });
});

describeWith('postgresUrl')('the sweep beside a publish', () => {
  test('a publish of a content that is being removed waits and stores it again', async () => {
    await trash(await publishPage('contested'));
    clock.advance(31 * DAY_MS);
    const onDisk = objects;
    let publishing: Promise<ArtifactId> | undefined;
    objects = {
      ...pass(onDisk),
      delete: async (digest) => {
        publishing ??= publishPage('contested');
        await someoneWaits();
        await onDisk.delete(digest);
      },
    };
    expect(await sweep()).toMatchObject({ artifacts: 1, objects: 1 });
    const id = await publishing;
    const [row] = await database.sql<{ count: number }[]>`
      select count(*)::int as count from artifact a join version_file f on f.version_id = a.live_version_id
      join stored_object o on o.sha256 = f.sha256 where a.id = ${id ?? ''}`;
    expect(row?.count).toBe(1);
    expect((await onDisk.read(sha256('contested'))).toString()).toBe('contested');
  });
});

test('C7: a sweep that was paused between its look and its deletion removes nothing: the content may have been stored again', async () => {
  await publishPage('orphan');
  await database.sql`delete from artifact`;
  clock.advance(2 * DAY_MS);
  const running = clock.monotonicMs.bind(clock);
  let asked = 0;
  // Each look at the clock is a minute later: the process stands still in between.
  clock.monotonicMs = () => running() + 60_000 * asked++;
  expect(await removeOrphans({ sql: database.sql, clock, objects }, NEVER)).toBe(0);
  expect(asked).toBeGreaterThan(0);
  expect(await objects.has(sha256('orphan'))).toBe(true);
  clock.monotonicMs = running;
  expect(await removeOrphans({ sql: database.sql, clock, objects }, NEVER)).toBe(1);
  expect(await objects.has(sha256('orphan'))).toBe(false);
});

function pass(store: ObjectStore): ObjectStore {
  return {
    put: (digest, bytes) => store.put(digest, bytes),
    putFile: (digest, path, sizeBytes) => store.putFile(digest, path, sizeBytes),
    has: (digest) => store.has(digest),
    read: (digest) => store.read(digest),
    readRange: (digest, start, end) => store.readRange(digest, start, end),
    delete: (digest) => store.delete(digest),
    probe: () => objects.probe(),
    ready: () => store.ready(),
  };
}

/** Resolves when a query of this database waits for a lock. */
async function someoneWaits(): Promise<void> {
  for (;;) {
    const [row] = await database.sql<{ waiting: number }[]>`
      select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    if ((row?.waiting ?? 0) > 0) return;
  }
}
