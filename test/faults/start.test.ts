import { mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import { createServerDatabase, temporaryDir } from '../support/database.ts';
import { failToStart, startProgram } from '../support/program.ts';
import { describeWith } from '../support/services.ts';

/** Longer than a unix socket's path may be. */
const DEEP = 'a-folder-with-a-name-that-is-quite-long/'.repeat(3);

/** Several starts of a real process in each test, on a machine that may be busy. */
const SLOW = { timeout: 120_000 };

describe('start on an empty folder', SLOW, () => {
  it('prints the address, the administrator’s token and the line that publishes, once', async () => {
    const folder = temporaryDir();
    const settings = { DATA_DIR: join(folder.path, DEEP) };
    const first = await startProgram(settings);
    expect(first.stdout()).toMatch(/^Easel is at http:\/\/localhost:\d+\nPublished pages are at http:\/\/\{slug\}\.localhost:\d+\n/);
    expect(first.stdout()).toMatch(
      new RegExp(
        `npx easel login --url http://localhost:\\d+ --token ${first.adminToken} && npx easel publish \\./my-site --visibility public\\n`,
      ),
    );
    const me = await fetch(`${first.baseUrl}/v1/account`, { headers: { authorization: `Bearer ${first.adminToken}` } });
    expect(await me.json()).toMatchObject({ tier: 'team' });
    expect(await first.end('SIGINT')).toEqual({ code: 0, signal: null });
    expect(first.stderr()).toBe('');

    const second = await startProgram(settings);
    expect(second.adminToken).toBeUndefined();
    await second.end('SIGTERM');
    folder.remove();
  });

  it('refuses a second process on the same folder and takes over the lock of a dead one', async () => {
    const folder = temporaryDir();
    const first = await startProgram({ DATA_DIR: folder.path });
    const refused = await failToStart({ DATA_DIR: folder.path });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(`The data folder ${folder.path} is in use by process ${first.process.pid}.`);
    expect((await fetch(`${first.baseUrl}/readyz`)).status).toBe(200);
    await first.end('SIGKILL');
    const third = await startProgram({ DATA_DIR: folder.path });
    await third.end('SIGTERM');
    folder.remove();
  });

  it('starts over when a crash interrupted the first start', async () => {
    const folder = temporaryDir();
    mkdirSync(join(folder.path, 'postgres.new'), { recursive: true });
    writeFileSync(join(folder.path, 'postgres.new', 'PG_VERSION'), '18\n');
    mkdirSync(join(folder.path, 'postgres', 'base'), { recursive: true });
    const program = await startProgram({ DATA_DIR: folder.path });
    expect(program.adminToken).toMatch(/^so_/);
    await program.end('SIGTERM');
    folder.remove();
  });
});

describe('a start that must fail says why', SLOW, () => {
  it('names every wrong setting', async () => {
    const refused = await failToStart({ PORT: 'many', DATABASE_POOL: '1', LOG_LEVEL: 'loud' });
    expect(refused.code).toBe(2);
    for (const name of ['PORT', 'DATABASE_POOL', 'LOG_LEVEL']) expect(refused.stderr).toMatch(new RegExp(`^ {2}${name}: `, 'm'));
    expect(refused.stderr).not.toContain('    at ');
  });

  it('when the port is taken, and gives the folder free again', async () => {
    const folder = temporaryDir();
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const { port } = other.address() as AddressInfo;
    const refused = await failToStart({ DATA_DIR: folder.path, PORT: String(port) });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`Cannot listen on 127.0.0.1:${port}`);
    await new Promise((done) => other.close(done));
    const program = await startProgram({ DATA_DIR: folder.path });
    await program.end('SIGTERM');
    folder.remove();
  });

  it('when the database does not answer', async () => {
    const folder = temporaryDir();
    const refused = await failToStart({ DATA_DIR: folder.path, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('ECONNREFUSED');
    folder.remove();
  });
});

describeWith('postgresUrl')('start on a server', SLOW, () => {
  it('lets two processes start at once on an empty database: one schema, one administrator', async () => {
    const folder = temporaryDir();
    const database = await createServerDatabase();
    const settings = { DATA_DIR: folder.path, DATABASE_URL: database.url };
    const programs = await Promise.all([startProgram(settings), startProgram(settings), startProgram(settings)]);
    expect(programs.filter((program) => program.adminToken !== undefined)).toHaveLength(1);
    const sql = postgres(database.url, { max: 1 });
    expect(await sql`select count(*)::int as n from account where is_admin`).toEqual([{ n: 1 }]);
    // Each schema once: the primary key would let no second one in, and a process that had tried would not have started.
    expect(await sql`select count(*) > 0 as migrated from schema_migration`).toEqual([{ migrated: true }]);
    await sql.end();
    for (const program of programs) expect(await program.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await database.drop();
    folder.remove();
  });

  it('refuses a schema that is newer than the program, or was altered', async () => {
    const folder = temporaryDir();
    const database = await createServerDatabase();
    const settings = { DATA_DIR: folder.path, DATABASE_URL: database.url };
    await (await startProgram(settings)).end('SIGTERM');
    const sql = postgres(database.url, { max: 1 });
    await sql`insert into schema_migration (version, name, checksum) values (9999, '9999_from_the_future.sql', 'x')`;
    const newer = await failToStart(settings);
    expect(newer.code).toBe(1);
    expect(newer.stderr).toContain('The database has schema 9999_from_the_future.sql, which this program does not know.');
    await sql`delete from schema_migration where version = 9999`;
    await sql`update schema_migration set checksum = 'other' where version = 1`;
    const altered = await failToStart(settings);
    expect(altered.stderr).toContain('Schema 0001_foundation.sql was altered');
    await sql.end();
    await database.drop();
    folder.remove();
  });
});
