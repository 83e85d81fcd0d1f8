/**
 * Data outlives releases: data folders and databases of an earlier release open in this one, migrated and complete.
 * `KEEP_DATA=1 npx vitest run test/storage/kept-data.test.ts` makes the fixtures of a release; existing fixtures are never changed.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { migrationFiles } from '../../src/storage/migrations.ts';
import { builtFiles, createServerDatabase, temporaryDir } from '../support/database.ts';
import { services } from '../support/services.ts';
import { type Installation, openInstallation, type Place } from './installation.ts';
import { fill, type KeptData, keptData, readBack } from './kept-data.ts';
import { packFolder, unpackFolder } from './packed-folder.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const DUMP = 'database.sql';
/** The kinds of fixtures: a data folder of the embedded database, and the data folder and dump of a server. */
const FILES = { embedded: 'embedded.tar.br', server: 'server.tar.br' } as const;
type Kind = keyof typeof FILES;

const contents = z.object({ kept: keptData, seen: z.record(z.string(), z.unknown()) });
const kinds = (Object.keys(FILES) as Kind[]).filter((kind) => kind === 'embedded' || services().postgresUrl !== null);
const migrations = () => migrationFiles(readdirSync(builtFiles().migrationsDir));
const releases = existsSync(FIXTURES) ? readdirSync(FIXTURES) : [];

/** Opens the installation in `folder`; `close` removes everything. */
async function open(
  kind: Kind,
  folder: string,
  nowMs: number,
): Promise<{ easel: Installation; databaseUrl: string | undefined; close(): Promise<void> }> {
  const server = kind === 'server' ? await createServerDatabase('empty') : undefined;
  const dump = join(folder, DUMP);
  if (server !== undefined && existsSync(dump)) await restoreDump(server.url, readFileSync(dump, 'utf8'));
  const place: Place = { dataDir: folder, databaseUrl: server?.url };
  const easel = await openInstallation(place, nowMs);
  const close = async () => {
    await easel.close();
    await server?.drop();
  };
  return { easel, databaseUrl: server?.url, close };
}

/** Lines that begin with a backslash are commands of psql. */
async function restoreDump(url: string, dump: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql.unsafe(dump.replace(/^\\.*$/gm, '')).simple();
  await sql.end();
}

/** Answers of an earlier release with the changes of the contract since: times are RFC 3339, and a table that does not exist reads as empty. */
function inCurrentContract(seen: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(seen), (name, value) => {
    if (name === 'created_at' && typeof value === 'number') return new Date(value).toISOString();
    return value?.code === 'TABLE_NOT_FOUND' && name.includes('/rows by') ? { status: 200, body: { data: { rows: [] } } } : value;
  });
}

describe.each(releases)('data of schema %s', (release) => {
  const folder = temporaryDir();
  afterAll(() => folder.remove());

  it.each(kinds)('%s opens in this program, with everything in it, and takes changes', async (kind) => {
    const { kept, seen } = contents.parse(JSON.parse(readFileSync(join(FIXTURES, release, `${kind}.json`), 'utf8')));
    const dataDir = join(folder.path, kind);
    unpackFolder(join(FIXTURES, release, FILES[kind]), dataDir);
    const { easel, close } = await open(kind, dataDir, kept.nowMs);
    try {
      expect(easel.adminToken).toBeUndefined();
      expect(await readBack(easel, kept)).toMatchObject(inCurrentContract(seen));
      const applied = await easel.sql<{ name: string }[]>`select name from schema_migration order by version`;
      expect(applied.map(({ name }) => name)).toEqual(migrations().map(({ name }) => name));
      await expectChangesTaken(easel, kept);
    } finally {
      await close();
    }
  });
});

async function expectChangesTaken(easel: Installation, { site, tokens, trashed, repeated }: KeptData): Promise<void> {
  const token = tokens.owner;
  const call = async (path: string, method: string, body?: unknown, headers = {}) => {
    const reply = await easel.api(path, { method, token, body, headers });
    return { status: reply.status, replayed: reply.headers.get('idempotent-replayed'), body: await reply.json() };
  };
  const data = `/v1/data/${site.id}`;
  const again = await call('/v1/me/tokens', 'POST', repeated.body, { 'idempotency-key': repeated.key });
  expect(again).toMatchObject({ replayed: 'true', body: repeated.answer });
  expect(await call(`${data}/json/plain`, 'PUT', 'new')).toMatchObject({ status: 200 });
  expect(await call(`${data}/tables/people`, 'POST', [{ email: 'ada@example.com' }])).toMatchObject({ status: 409 });
  expect(await call(`${data}/tables/people`, 'POST', [{ email: 'new@example.com', age: 1 }])).toMatchObject({ status: 201 });
  const ops = [{ op: 'text.insert', type: 'text', index: 0, text: 'zeroth ' }];
  expect(await call(`${data}/documents/page`, 'POST', { ops })).toMatchObject({ status: 200 });
  expect(await (await easel.api(`${data}/documents/page/text`, { token })).text()).toBe('zeroth first second 🎨');
  expect(await call(`${data}/comments`, 'POST', { content: 'new' })).toMatchObject({ status: 201 });
  expect(await call(`/v1/artifacts/${trashed}/restore`, 'POST')).toMatchObject({ status: 200 });
  expect(await call(`/v1/artifacts/${site.id}/rollback`, 'POST', { version_no: 1 })).toMatchObject({ status: 200 });
  expect((await easel.page(site.slug, '/')).body.toString()).toContain('<p>one');
}

it('there are fixtures of at least one release', () => {
  expect(releases).not.toEqual([]);
});

if (process.env.KEEP_DATA !== undefined) {
  const nowMs = Date.now();
  const schema = migrations().at(-1)?.name.slice(0, 4);
  const release = join(FIXTURES, `${schema}-${new Date(nowMs).toISOString().slice(0, 10)}`);

  it.each(kinds)('keeps the data of this release: %s', async (kind) => {
    const target = join(release, FILES[kind]);
    if (existsSync(target))
      throw new Error(`${target} exists, and fixtures of a release never change. Remove it if it was never released.`);
    mkdirSync(release, { recursive: true });
    const folder = temporaryDir();
    const making = await open(kind, join(folder.path, 'made'), nowMs);
    const kept = await fill(making.easel);
    const seen = await readBack(making.easel, kept);
    await making.easel.close();
    const dataDir = join(folder.path, 'made');
    if (making.databaseUrl !== undefined) {
      const options = ['--no-owner', '--no-privileges', '--rows-per-insert=100'];
      writeFileSync(join(dataDir, DUMP), execFileSync('pg_dump', [...options, making.databaseUrl], { encoding: 'utf8' }));
    }
    packFolder(dataDir, target, ['easel.lock', 'mail', 'postgres.sock', 'objects/incoming']);
    writeFileSync(join(release, `${kind}.json`), `${JSON.stringify({ kept, seen }, null, 1)}\n`);
    folder.remove();
  });
}
