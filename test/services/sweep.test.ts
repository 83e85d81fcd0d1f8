import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../../actors/access.ts';
import { type ArtifactId, newId, type UserId } from '../../protocol/ids.ts';
import { publishRequest } from '../../protocol/schemas/artifact.ts';
import { deriveConfig, parseSettings } from '../../src/config.ts';
import { createAccount } from '../../src/services/accounts.ts';
import { ArtifactNotices } from '../../src/services/notices.ts';
import { readInlineFiles } from '../../src/services/publish/contents.ts';
import { publish } from '../../src/services/publish/publish.ts';
import { sweep } from '../../src/services/sweep.ts';
import { purgeDroppedTables } from '../../src/services/tables/purge.ts';
import { fileObjects } from '../../src/storage/file-objects.ts';
import type { ObjectStore } from '../../src/storage/objects.ts';
import { openTestDatabase, type TestDatabase, temporaryDir } from '../support/database.ts';
import { describeWith } from '../support/services.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { sha256 } from './requests.ts';

const DAY_MS = 24 * 3_600_000;
const NEVER = new AbortController().signal;

let database: TestDatabase;
let folder: ReturnType<typeof temporaryDir>;
let clock: VirtualClock;
let objects: ObjectStore;
let notices: ArtifactNotices;
let userId: UserId;

beforeEach(async () => {
  database = await openTestDatabase();
  folder = temporaryDir();
  clock = new VirtualClock();
  objects = fileObjects(folder.path);
  await objects.ready();
  notices = new ArtifactNotices();
  ({ userId } = await createAccount(database.sql, { tier: 'free', isAdmin: false, nowMs: clock.nowMs() }));
});
afterEach(async () => {
  await database.close();
  folder.remove();
});

const deps = () => ({ sql: database.sql, clock, objects, notices, config: deriveConfig(parseSettings({}), 8787) });

async function publishPage(content: string): Promise<ArtifactId> {
  const body = publishRequest.parse({ files: [{ path: 'index.html', content }] });
  const principal: Principal = { kind: 'user', userId, tokenId: newId('token'), tokenKind: 'personal', isAdmin: false };
  const { files, contents } = await readInlineFiles(body.files ?? []);
  return (await publish(deps(), { principal, userId }, body, { files, contents, uploadId: null })).artifactId;
}

async function trash(id: ArtifactId): Promise<void> {
  await database.sql`update artifact set deleted_at_ms = ${clock.nowMs()} where id = ${id}`;
}

describe('the daily sweep', () => {
  test('purges what has been in the trash for 30 days, and then the contents that nothing names', async () => {
    const gone: string[] = [];
    notices.on((notice) => gone.push(`${notice.kind} ${notice.artifactId}`));
    const id = await publishPage('shared');
    const twin = await publishPage('shared');
    const alone = await publishPage('alone');
    await trash(id);
    await trash(alone);
    gone.length = 0;
    clock.advance(30 * DAY_MS - 1);
    expect(await sweep(deps(), NEVER)).toMatchObject({ artifacts: 0, objects: 0 });
    clock.advance(1);
    expect(await sweep(deps(), NEVER)).toMatchObject({ artifacts: 2, objects: 1 });
    expect(gone.sort()).toEqual([`gone ${id}`, `gone ${alone}`].sort());
    expect(await database.sql`select id from artifact`).toEqual([{ id: twin }]);
    expect([await objects.has(sha256('shared')), await objects.has(sha256('alone'))]).toEqual([true, false]);
    expect(await sweep(deps(), NEVER)).toMatchObject({ artifacts: 0, objects: 0 });
    expect((await objects.read(sha256('shared'))).toString()).toBe('shared');
  });

  test('purges the rows of tables with their artifact, and no others', async () => {
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
    expect(await sweep(deps(), AbortSignal.abort())).toMatchObject({ artifacts: 0 });
    expect(await sweep(deps(), NEVER)).toMatchObject({ artifacts: 1 });
    expect(await sql`select artifact_id, count(*) from table_row group by 1`).toEqual([{ artifact_id: kept, count: 5001 }]);
    expect(await sql`select artifact_id, count(*) from row_index group by 1`).toEqual([{ artifact_id: kept, count: 5000 }]);
  });

  test('removes what dropped tables have left, whoever does it at once, and no row of a table that is there', async () => {
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
    expect(await sweep(deps(), NEVER)).toMatchObject({ droppedTables: 0 });
    expect(await sql`select table_name, count(*)::int from table_row group by 1`).toEqual([{ table_name: 't~5', count: 1 }]);
    expect(await sql`select table_name, count(*)::int from row_index group by 1`).toEqual([{ table_name: 't~5', count: 1 }]);
    expect(await sql`select * from dropped_table`).toEqual([]);
  });

  test('leaves alone what was stored within a day, and what an upload or a compressed form names', async () => {
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
    expect(await sweep(deps(), NEVER)).toMatchObject({ objects: 1, uploads: 0 });
    expect(await Promise.all(contents.map((content) => objects.has(sha256(content))))).toEqual([true, true, true, false]);
    clock.advance(1);
    expect(await sweep(deps(), NEVER)).toMatchObject({ objects: 2, uploads: 1 });
    expect(await Promise.all(contents.map((content) => objects.has(sha256(content))))).toEqual([false, false, true, false]);
  });

  test('removes expired links, old idempotency records and tokens long dead', async () => {
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
    expect(await sweep(deps(), NEVER)).toMatchObject({ previewLinks: 1, idempotencyRecords: 1, tokens: 2 });
    const left = await sql`select id from access_token where token_sha256 = 'c' union all select id from preview_link order by id`;
    expect(left).toEqual([{ id: 'lnk_1' }, { id: 'tok_c' }]);
  });

  test('ends between two steps when the process stops', async () => {
    await trash(await publishPage('x'));
    clock.advance(31 * DAY_MS);
    const stopped = new AbortController();
    stopped.abort();
    expect(await sweep(deps(), stopped.signal)).toMatchObject({ artifacts: 0, objects: 0 });
  });
});

describeWith('postgresUrl')('the sweep beside a publish', () => {
  test('of the content just being removed: the publish waits and stores it anew', async () => {
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
    expect(await sweep(deps(), NEVER)).toMatchObject({ artifacts: 1, objects: 1 });
    const id = await publishing;
    const [row] = await database.sql<{ count: number }[]>`
      select count(*)::int as count from artifact a join version_file f on f.version_id = a.live_version_id
      join stored_object o on o.sha256 = f.sha256 where a.id = ${id ?? ''}`;
    expect(row?.count).toBe(1);
    expect((await onDisk.read(sha256('contested'))).toString()).toBe('contested');
  });
});

function pass(store: ObjectStore): ObjectStore {
  return {
    put: (digest, bytes) => store.put(digest, bytes),
    putFile: (digest, path, sizeBytes) => store.putFile(digest, path, sizeBytes),
    has: (digest) => store.has(digest),
    read: (digest) => store.read(digest),
    readRange: (digest, start, end) => store.readRange(digest, start, end),
    delete: (digest) => store.delete(digest),
    ready: () => store.ready(),
  };
}

/** Until a query of this database waits for a row. */
async function someoneWaits(): Promise<void> {
  for (;;) {
    const [row] = await database.sql<{ waiting: number }[]>`
      select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    if ((row?.waiting ?? 0) > 0) return;
  }
}
