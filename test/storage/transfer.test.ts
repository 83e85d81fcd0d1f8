/** Export and import: from one major version of PostgreSQL to another, and from the embedded database to a server. */
import { execFile as execFileCallback } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { createServerDatabase, temporaryDir } from '../support/database.ts';
import { failToStart, startProgram } from '../support/program.ts';
import { describeWith, services } from '../support/services.ts';
import { openInstallation } from './installation.ts';
import { fill, type KeptData, readBack } from './kept-data.ts';

const execFile = promisify(execFileCallback);
const NOW_MS = Date.UTC(2026, 10, 22);
const folder = temporaryDir();
afterAll(() => folder.remove());

interface Failed {
  readonly code: number;
  readonly stderr: string;
}

/** `node dist/data.js …` as a user runs it. */
async function data(settings: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH, ...settings };
  return (await execFile(process.execPath, [join(services().builtDir, 'data.js'), ...words], { env })).stdout;
}

function refused(settings: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<Failed> {
  return data(settings, ...words).then(
    (stdout) => Promise.reject(new Error(`was not refused: ${stdout}`)),
    ({ code, stderr }: Failed) => ({ code, stderr }),
  );
}

describe('a data folder of another major version of PostgreSQL', () => {
  const dataDir = join(folder.path, 'other-major');
  const pgVersion = join(dataDir, 'postgres', 'PG_VERSION');
  const ours = () => readFileSync(join(services().builtDir, 'postgres-template', 'PG_VERSION'), 'utf8').trim();

  it('is recognised by its recorded version, left untouched, and refused with instructions', async () => {
    const first = await startProgram({ DATA_DIR: dataDir });
    await first.end('SIGTERM');
    const recorded = { major: ours(), pglite: packageJson.dependencies['@electric-sql/pglite'], easel: packageJson.version };
    expect(JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8'))).toEqual(recorded);

    writeFileSync(pgVersion, '16\n');
    writeFileSync(join(dataDir, 'postgres.json'), JSON.stringify({ major: '16', pglite: '0.2.17', easel: '0.0.9' }));
    const before = treeOf(join(dataDir, 'postgres'));
    const { code, stderr } = await failToStart({ DATA_DIR: dataDir });
    expect(code).toBe(1);
    expect(stderr).toContain(
      `The database in ${join(dataDir, 'postgres')} is of PostgreSQL 16, last opened by Easel 0.0.9 with PGlite 0.2.17.`,
    );
    expect(stderr).toContain(`is PostgreSQL ${ours()} and cannot open it; nothing was changed.`);
    expect(stderr).toContain('Export it with Easel 0.0.9, and import it with this one:\n  node dist/data.js export easel-data.gz');
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(treeOf(join(dataDir, 'postgres'))).toEqual(before);
    expect(existsSync(join(dataDir, 'easel.lock'))).toBe(false);
    expect((await refused({ DATA_DIR: dataDir }, 'export', join(folder.path, 'never.gz'))).stderr).toContain('is of PostgreSQL 16');

    rmSync(join(dataDir, 'postgres.json'));
    expect((await failToStart({ DATA_DIR: dataDir })).stderr).toContain('Export it with an Easel of PostgreSQL 16, and');

    // With the original version it opens again.
    writeFileSync(pgVersion, `${ours()}\n`);
    await (await startProgram({ DATA_DIR: dataDir })).end('SIGTERM');
    expect(JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8'))).toEqual(recorded);
  });
});

function treeOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
}

describe('export and import', () => {
  const dataDir = join(folder.path, 'full');
  const file = join(folder.path, 'easel-data.gz');
  let kept: KeptData;
  let seen: Record<string, unknown>;
  beforeAll(async () => {
    const easel = await openInstallation({ dataDir }, NOW_MS);
    kept = await fill(easel);
    seen = await readBack(easel, kept);
    await easel.close();
    expect(await data({ DATA_DIR: dataDir }, 'export', file)).toMatch(/^\d+ rows written to /);
  });

  async function expectAllThere(place: { readonly dataDir: string; readonly databaseUrl?: string }): Promise<void> {
    const easel = await openInstallation(place, kept.nowMs);
    expect(await readBack(easel, kept)).toEqual(seen);
    await easel.close();
  }

  it('carry everything into a new embedded database, by the commands that the refusal names', async () => {
    const upgraded = join(folder.path, 'upgraded');
    cpSync(dataDir, upgraded, { recursive: true });
    renameSync(join(upgraded, 'postgres'), join(upgraded, 'postgres-16'));
    expect(await data({ DATA_DIR: upgraded }, 'import', file)).toMatch(/^\d+ rows read from /);
    await expectAllThere({ dataDir: upgraded });
  });

  it('refuse a missing file, one that is not an export, a truncated one, and a database in use', async () => {
    const database = services().postgresUrl === null ? undefined : await createServerDatabase('empty');
    const fresh = { DATA_DIR: join(folder.path, 'refusing'), ...(database !== undefined && { DATABASE_URL: database.url }) };
    const bad = (name: string, bytes: Uint8Array) => {
      writeFileSync(join(folder.path, name), bytes);
      return refused(fresh, 'import', join(folder.path, name));
    };
    expect((await refused(fresh, 'import', join(folder.path, 'none.gz'))).stderr).toMatch(/none\.gz cannot be read: ENOENT/);
    expect((await bad('text.gz', Buffer.from('rows'))).stderr).toMatch(/text\.gz cannot be read: incorrect header check/);
    expect((await bad('other.gz', gzipSync('{"rows":[]}\n'))).stderr).toMatch(
      /^\S+other\.gz is not a file that an export has written\.\n$/,
    );
    const newer = JSON.stringify({ format: 'easel-data', migrations: ['0001_foundation.sql', '9999_future.sql'] });
    expect((await bad('newer.gz', gzipSync(`${newer}\n`))).stderr).toMatch(
      /^The file has schema 9999_future\.sql, which this program does not know/,
    );
    const half = readFileSync(file);
    expect((await bad('half.gz', half.subarray(0, half.length - 100))).stderr).toMatch(/half\.gz cannot be read: unexpected end of file/);
    const [head = '', ...parts] = gunzipSync(half).toString().split('\n');
    const broken = parts.map((line) => (line.startsWith('{"table":"account"') ? line.replace(/tier\\":\\"\w+/, 'tier\\":\\"gold') : line));
    expect((await bad('rows.gz', gzipSync([head, ...broken].join('\n')))).stderr).toContain(
      'violates check constraint "account_tier_check"',
    );
    expect((await refused({ DATA_DIR: dataDir }, 'import', file)).stderr).toMatch(/^The database has accounts already\./);
    expect((await refused({ DATA_DIR: dataDir }, 'export', file)).stderr).toMatch(/^\S+easel-data\.gz cannot be written: EEXIST/);
    expect((await refused(fresh, 'export')).stderr).toMatch(/^node dist\/data\.js export <file>/);
    // The readable half was rolled back.
    expect(await data(fresh, 'import', file)).toMatch(/rows read from/);
    await database?.drop();
  });

  it('import rows of an earlier schema, which the next start migrates', async () => {
    const older = { DATA_DIR: join(folder.path, 'older') };
    mkdirSync(older.DATA_DIR);
    const account = { id: 'usr_aaaaaaaaaaaaaaaaaaaaaaaa', tier: 'pro', is_admin: true, metadata: {}, created_at_ms: 5 };
    const lines = [
      { format: 'easel-data', migrations: ['0001_foundation.sql'] },
      { table: 'account', rows: JSON.stringify([account]) },
    ];
    const path = join(folder.path, 'older.gz');
    writeFileSync(path, gzipSync(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`));
    expect(await data(older, 'import', path)).toBe(`1 rows read from ${path}\n`);
    const easel = await openInstallation({ dataDir: older.DATA_DIR }, NOW_MS);
    expect(await easel.sql`select id, tier, is_admin from account`).toEqual([{ id: account.id, tier: 'pro', is_admin: true }]);
    expect(await easel.sql`select count(*) as n from comment`).toEqual([{ n: 0 }]);
    await easel.close();
  });

  describeWith('postgresUrl')('with a server', () => {
    it('move an installation there and back', async () => {
      const server = await createServerDatabase('empty');
      const onServer = { DATA_DIR: dataDir, DATABASE_URL: server.url };
      await data(onServer, 'import', file);
      await expectAllThere({ dataDir, databaseUrl: server.url });
      const back = join(folder.path, 'back.gz');
      await data(onServer, 'export', back);
      await server.drop();
      const returned = join(folder.path, 'returned');
      cpSync(join(dataDir, 'objects'), join(returned, 'objects'), { recursive: true });
      await data({ DATA_DIR: returned }, 'import', back);
      await expectAllThere({ dataDir: returned });
    });
  });
});
