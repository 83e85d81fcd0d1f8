/**
 * Every statement of the program is valid for the migrated schema. Tagged templates are found in the source and
 * prepared; statements built by hand are run by the functions that build them, until each of their literals has been sent.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Change } from '../../actors/kinds.ts';
import type { ArtifactBatch } from '../../actors/runtime/store.ts';
import { type ArtifactId, newId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { takeSnapshot } from '../../src/features/artifacts/archive/snapshot.ts';
import { aggregateRows, countRows, distinctValues } from '../../src/features/data/tables/queries/aggregate.ts';
import { exportColumns } from '../../src/features/data/tables/queries/export.ts';
import { EVERYTHING, parseFilter } from '../../src/features/data/tables/queries/filter.ts';
import { matchingIds, matchingRows } from '../../src/features/data/tables/queries/matching-rows.ts';
import { readPage } from '../../src/features/data/tables/queries/page.ts';
import { wholeReads } from '../../src/features/data/tables/queries/row-reads.ts';
import { parseSort } from '../../src/features/data/tables/queries/sort.ts';
import { readLog } from '../../src/storage/document-log.ts';
import { writeBatches } from '../../src/storage/journal.ts';
import { documentsStored } from '../../src/storage/live/documents.ts';
import { migrate } from '../../src/storage/migrations.ts';
import { Spool } from '../../src/storage/spool.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { allLines, insertRows } from '../../src/storage/transfer.ts';
import { vacuum } from '../../src/storage/vacuum.ts';
import { inSlices } from '../features/data/tables/queries/both-reads.ts';
import { storeRows } from '../features/data/tables/queries/stored-rows.ts';
import { builtFiles, everyDatabaseKind, openTestDatabase, type TestDatabase, temporaryDir } from '../support/database.ts';
import { recorded } from './recorded-sql.ts';
import { isMadeOf, readSqlSource, type SqlStatement } from './sql-source.ts';

const source = readSqlSource();
/** The statements that PREPARE accepts; the others begin or end transactions or create tables. */
const PLANNED = /^\s*(select|insert|update|delete|with)\s/;

describe.each(everyDatabaseKind())('every statement: %s', (kind) => {
  let database: TestDatabase;
  /** The id of an artifact with a version, owned by `epoch`. */
  let artifactId: ArtifactId;
  const epoch = 7;
  const folder = temporaryDir();
  const sent: string[] = [];
  let sql: Sql;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
    sql = recorded(database.sql, sent);
    artifactId = await storeArtifact(database.sql, epoch);
  });
  afterAll(async () => {
    await database.close();
    folder.remove();
  });

  it('in a tagged template can be planned', async () => {
    expect(source.statements.length).toBeGreaterThan(150);
    const connection = await database.sql.reserve();
    try {
      // A generic plan needs no parameter values.
      await connection`set plan_cache_mode = force_generic_plan`;
      const refused = [];
      for (const statement of source.statements) refused.push(...(await refusals(statement, (text) => connection.unsafe(text).simple())));
      expect(refused).toEqual([]);
    } finally {
      await connection`reset plan_cache_mode`;
      connection.release();
    }
  });

  it('of the group commit is accepted, for every combination of changes', async () => {
    for (const changes of commits()) {
      const batch: ArtifactBatch = { artifactId, epoch, changes };
      expect(await writeBatches(sql, [batch])).toEqual(new Set([artifactId]));
    }
    const [changes = []] = commits();
    const run = { id: newId('run'), jobId: newId('job'), artifactId, chain: [newId('job'), newId('job')] };
    expect(await writeBatches(sql, [{ artifactId, epoch, changes, marks: [{ fromSeq: 1, toSeq: 2, run }] }])).toEqual(
      new Set([artifactId]),
    );
  });

  it('of tables is accepted, with every operator and order', async () => {
    const reads = recorded(database.tableSql, sent);
    const { scope } = await storeRows(database.sql, ROWS, COLUMNS);
    for (const filter of FILTERS.map(parseFilter)) await countRows(reads, scope, filter);
    await matchingRows(reads, scope, EVERYTHING, { after: 0, rowsMax: 10, bytesMax: 1000 });
    await matchingIds(reads, scope, EVERYTHING, { after: 0, rowsMax: 10 });
    for (const sort of SORTS.map(parseSort)) {
      let cursor: string | undefined;
      let rows = 0;
      do {
        const found = await readPage(reads, scope, { filter: EVERYTHING, sort, limit: 1, skip: 0, cursor });
        rows += found.rows.length;
        cursor = found.nextCursor ?? undefined;
      } while (cursor !== undefined);
      expect(rows).toBe(ROWS.length);
      const filter = parseFilter({ n: { $gt: 0 }, s: { $in: ['x', 'y'] }, b: true, free: 'text' });
      await readPage(reads, scope, { filter, sort, limit: 1, skip: ROWS.length + 1, cursor });
    }
    for (const field of ['n', 'deep.er', 'id', 'createdAt']) await distinctValues(reads, scope, EVERYTHING, field);
    const metrics = (['count', 'sum', 'avg', 'min', 'max'] as const).map((fn) => ({ fn, field: 'n' }));
    await aggregateRows(reads, scope, EVERYTHING, { groupBy: ['b', 'deep.er'], metrics: [{ fn: 'count' }, ...metrics] });
    await exportColumns((read) => read(wholeReads(reads)), scope);
  });

  it('of reads in slices is accepted, with every operator and order', async () => {
    // On both databases, though only the embedded one is read so.
    const sliced = inSlices(recorded(database.tableSql, sent), 2);
    const { scope } = await storeRows(database.sql, [...ROWS, ...ROWS], COLUMNS);
    for (const filter of [{}, { id: 'x' }, { id: { $in: [] } }, { n: { $gt: 0 } }, { free: 'text' }].map(parseFilter)) {
      await sliced.count(scope, filter);
      await sliced.matchingRows(scope, filter, { after: 0, rowsMax: 10, bytesMax: 1000 });
      await sliced.matchingIds(scope, filter, { after: 0, rowsMax: 10 });
      await sliced.distinct(scope, filter, 'n');
      const metrics = (['count', 'sum', 'avg', 'min', 'max'] as const).map((fn) => ({ fn, field: 'n' }));
      await sliced.aggregate(scope, filter, { groupBy: ['b', 'deep.er'], metrics: [{ fn: 'count' }, ...metrics] });
      for (const sort of SORTS.map(parseSort)) await sliced.page(scope, { filter, sort, limit: 1, skip: 1, cursor: undefined });
    }
    await exportColumns((read) => read(sliced), scope);
  });

  it('of exports, documents, transfers, the vacuum and the migrations is accepted', async () => {
    const spool = new Spool(folder.path);
    await spool.ready();
    await (await takeSnapshot({ sql, spool }, artifactId, 0)).dispose();
    await readLog(sql, artifactId, 'none');
    await documentsStored.reads(sql).readDocuments(artifactId, epoch);
    await sql.begin(async (tx) => {
      let rows = 0;
      for await (const line of allLines(tx, (more) => (rows += more))) expect(JSON.parse(line)).toBeTypeOf('object');
      expect(rows).toBeGreaterThan(0);
      await insertRows(tx, 'account', '[]');
    });
    await vacuum(sql, new AbortController().signal);
    await database.sql.unsafe('drop schema public cascade; create schema public');
    await migrate(sql, builtFiles().migrationsDir);
  });

  it('built by hand was sent, with each of its literals', () => {
    // A new place needs calls in the tests above that make it send every literal.
    expect(new Set(source.unsafe)).toEqual(
      new Set([
        'journal.ts#writeBatches',
        'migrations.ts#applyOne',
        'postgres.ts#openSession',
        'postgres.ts#postgresRows',
        'postgres.ts#testPostgres',
        'snapshot.ts#fetched',
        'snapshot.ts#openCursor',
        'snapshot.ts#takeSnapshot',
        'statement.ts#run',
        'statement.ts#runWithBytes',
        'transfer.ts#insertRows',
        'transfer.ts#allLines',
        'vacuum.ts#vacuum',
      ]),
    );
    expect(source.pieces.length).toBeGreaterThan(100);
    // What goes to databases of others is sent in test/features/library/connections.
    const ours = source.pieces.filter(({ place }) => !place.startsWith('src/features/library/connections/sources/postgres.ts'));
    const unsent = ours.filter((piece) => !sent.some((text) => isMadeOf(piece, text)));
    expect(unsent.map(({ place, parts }) => `${place} ${parts.join('…')}`)).toEqual([]);
  });
});

/** The errors of statements that the database refuses, each with its place. */
async function refusals({ place, texts }: SqlStatement, run: (text: string) => Promise<unknown>): Promise<string[]> {
  const refused: string[] = [];
  for (const text of texts) {
    const statements = PLANNED.test(text) ? planning(text) : [/^\s*begin/.test(text) ? '' : 'begin', text, 'rollback'];
    try {
      for (const statement of statements) if (statement !== '') await run(statement);
    } catch (error) {
      refused.push(`${place}: ${error instanceof Error ? error.message : String(error)} in ${text.trim()}`);
      if (!PLANNED.test(text)) await run('rollback');
    }
  }
  return refused;
}

function planning(text: string): string[] {
  const name = `s${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  const parameters = new Set(text.match(/\$\d+/g)).size;
  const values = parameters === 0 ? '' : `(${Array.from({ length: parameters }, () => 'null').join(', ')})`;
  return [`prepare ${name} as ${text}`, `explain execute ${name}${values}`, `deallocate ${name}`];
}

async function storeArtifact(sql: Sql, epoch: number): Promise<ArtifactId> {
  const id = newId('artifact');
  const versionId = newId('version');
  await sql`
    insert into artifact (id, name, slug, visibility, live_version_id, last_version_no, created_at_ms, updated_at_ms, owner_epoch)
    values (${id}, 'n', ${id}, 'private', ${versionId}, 1, 0, 0, ${epoch})`;
  await sql`
    insert into artifact_version (id, artifact_id, version_no, entrypoint, size_bytes, created_at_ms)
    values (${versionId}, ${id}, 1, 'index.html', 0, 0)`;
  return id;
}

/** Commits of one kind of change each, then of many, because a commit's statement has only the parts it needs. */
function commits(): Change[][] {
  const times = { createdAtMs: 1, updatedAtMs: 2 };
  let seq = 0;
  const next = () => ++seq;
  const key = (): Change => ({ seq: next(), kind: 'json.put', key: 'k', value: '1', expiresAtMs: null, ...times });
  const keyGone = (): Change => ({ seq: next(), kind: 'json.delete', key: 'gone', atMs: 3 });
  const table = (name: string): Change => ({ seq: next(), kind: 'table.put', table: name, schema: '{}', rowCount: 0, ...times });
  const drop = (): Change => ({ seq: next(), kind: 'table.drop', table: 'dropped', atMs: 3 });
  const row = (rowId: string, createdSeq?: number): Change => {
    const at = next();
    const values = { data: '{}', rowCount: 1, indexed: [['c', 1] as const] };
    return { seq: at, kind: 'row.put', table: 't', rowId, createdSeq: createdSeq ?? at, ...values, ...times };
  };
  const rowGone = (rowId: string): Change => ({ seq: next(), kind: 'row.delete', table: 't', rowId, createdSeq: 1, rowCount: 0, atMs: 3 });
  const blob = (): Change => {
    const file = { filename: 'f', mimeType: 'text/plain', sizeBytes: 1, sha256: '00'.repeat(32), createdBy: null, createdAtMs: 1 };
    return { seq: next(), kind: 'blob.put', blobId: `b${seq}`, ...file };
  };
  const blobGone = (): Change => ({ seq: next(), kind: 'blob.delete', blobId: 'gone', atMs: 3 });
  const update = (): Change => ({ seq: next(), kind: 'doc.update', doc: 'd', update: new Uint8Array([0, 0]), by: null, atMs: 3 });
  const docGone = (): Change => ({ seq: next(), kind: 'doc.drop', doc: 'gone', atMs: 3 });
  const comment = (replaced: boolean): Change => {
    const what = { commentId: 'c', cause: 'added', data: '{}', replaced: replaced ? { content: 'x', atMs: 1 } : null } as const;
    return { seq: next(), kind: 'comment.put', ...what, ...times };
  };
  const commentGone = (): Change => ({ seq: next(), kind: 'comment.delete', commentId: 'gone', atMs: 3 });
  const config = (): Change => ({ seq: next(), kind: 'comments.config', config: '{}', atMs: 3 });
  const kinds = [key, keyGone, () => table('t'), drop, () => row('r'), () => row('s', 1), () => rowGone('g'), blob, blobGone];
  kinds.push(
    update,
    docGone,
    () => comment(false),
    () => comment(true),
    commentGone,
    config,
  );
  return [...kinds.map((make) => [make()]), kinds.map((make) => make())];
}

const COLUMNS = [
  { name: 'n', type: 'number', indexed: true },
  { name: 's', type: 'string', indexed: true },
  { name: 'b', type: 'boolean', indexed: true },
  { name: 'r', type: 'string', indexed: true, required: true },
];
const ROWS = [
  { n: 1, s: 'x', b: true, r: 'a', deep: { er: 1 }, free: 'text' },
  { n: 2, s: 'y', b: false, r: 'b', free: 2 },
  { r: 'c', deep: { er: [1] } },
  { r: 'd', n: 3 },
  // Too long for a cursor, so that the next page reads the text back from the row.
  { r: 'e', s: 'y'.repeat(LIMITS.cursorTextBytesMax), free: 'y'.repeat(LIMITS.cursorTextBytesMax) },
];
const FILTERS: readonly unknown[] = [
  {},
  ...['n', 's', 'b', 'free', 'deep.er', 'id', 'id.x', 'createdAt', 'updatedAt'].flatMap((field) => [
    ...[1, 'x', true, null, [1], '2026-01-31T12:00:00.000Z'].map((value) => ({ [field]: value })),
    ...['$gt', '$gte', '$lt', '$lte'].flatMap((operator) =>
      [1, 'x', '2026-01-31T12:00:00.000Z'].map((value) => ({ [field]: { [operator]: value } })),
    ),
    ...[[], [1, 'x'], [null, true]].flatMap((values) => [{ [field]: { $in: values } }, { [field]: { $nin: values } }]),
    ...[1, 'x', null].map((value) => ({ [field]: { $contains: value } })),
    { [field]: { $startsWith: 'x', $endsWith: 'x', $exists: true, $ne: 1 } },
  ]),
  { $or: [{ n: 1 }, { $and: [{ s: 'x' }, { free: 1 }] }, {}], $not: { b: true } },
];
const SORTS = ['', 'n', '-n', 's', '-s', 'b', '-b', 'r', 'free', '-free,deep.er', 'createdAt', '-updatedAt', 'id', 'n,s'].map((sort) =>
  sort === '' ? [] : sort.split(','),
);
