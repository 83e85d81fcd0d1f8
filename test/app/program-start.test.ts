import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import { createServerDatabase, temporaryDir } from '../support/database.ts';
import { failToStart, startProgram } from '../support/program.ts';
import { startS3 } from '../support/s3.ts';
import { describeWith, services } from '../support/services.ts';

/** Longer than a unix socket's path may be. */
const DEEP = 'a-folder-with-a-name-that-is-quite-long/'.repeat(3);

/** The only sentence that a failed start prints; there is no stack, and nothing on standard output. */
async function refusal(settings: Readonly<Record<string, string>>, options?: { readonly asUser: boolean }): Promise<string> {
  const { code, stdout, stderr } = await failToStart(settings, options);
  const [opening, sentence = '', ...others] = stderr.trimEnd().split('\n');
  expect({ code, stdout, opening, others }).toEqual({ code: 1, stdout: '', opening: 'Easel did not start.', others: [] });
  return sentence;
}

async function listening(onConnection: (socket: Socket) => void): Promise<{ readonly number: number; free(): Promise<unknown> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    onConnection(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    number: (server.address() as AddressInfo).port,
    free: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => server.close(done));
    },
  };
}

function takenPort() {
  return listening((socket) => socket.destroy());
}

describe('start on an empty folder', () => {
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

describe('a start that must fail says why', () => {
  it('names every wrong setting', async () => {
    const refused = await failToStart({ PORT: 'many', DATABASE_POOL: '1', LOG_LEVEL: 'loud' });
    expect(refused.code).toBe(2);
    for (const name of ['PORT', 'DATABASE_POOL', 'LOG_LEVEL']) expect(refused.stderr).toMatch(new RegExp(`^ {2}${name}: `, 'm'));
    expect(refused.stderr).not.toContain('    at ');
  });

  it('when the port is taken: nothing is made, and the next start is the first', async () => {
    const folder = temporaryDir();
    const settings = { DATA_DIR: join(folder.path, 'data') };
    const port = await takenPort();
    const refused = await refusal({ ...settings, PORT: String(port.number) });
    expect(refused).toBe(`Cannot listen on 127.0.0.1:${port.number}: another process has the port, or the address is not of this machine.`);
    expect(existsSync(settings.DATA_DIR)).toBe(false);
    await port.free();
    const program = await startProgram(settings);
    expect(program.adminToken).toMatch(/^so_/);
    await program.end('SIGTERM');
    folder.remove();
  });

  it('when the addon has no binary for this Node and system', async () => {
    const folder = temporaryDir();
    const preload = join(folder.path, 'older-glibc.cjs');
    writeFileSync(
      preload,
      `const { dlopen } = process;
       process.dlopen = (module, file, ...rest) => {
         if (!file.includes('uws_')) return dlopen.call(process, module, file, ...rest);
         throw new Error("/lib/libc.so.6: version \`GLIBC_2.38' not found (required by " + file + ")");
       };`,
    );
    const sentence = await refusal({ DATA_DIR: join(folder.path, 'data'), NODE_OPTIONS: `--require ${preload}` });
    expect(sentence).toMatch(
      /^Node v\d+\.\d+\.\d+ cannot load the HTTP server uWebSockets\.js on this system \(.+\): use Node 24 .+ Debian 13 .+, or Node 20 .+\.$/,
    );
    folder.remove();
  });
});

describe('a data folder that cannot be used is reported in one sentence', () => {
  it('that is a file', async () => {
    const folder = temporaryDir();
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    expect(await refusal({ DATA_DIR: file })).toBe(`DATA_DIR: ${file} is not a folder, or lies below a file. Name a folder (EEXIST).`);
    const below = join(file, 'below');
    expect(await refusal({ DATA_DIR: below })).toBe(`DATA_DIR: ${below} is not a folder, or lies below a file. Name a folder (ENOTDIR).`);
    folder.remove();
  });

  it('that may not be written, as a whole or in a part', async () => {
    const folder = temporaryDir();
    const settings = { DATA_DIR: folder.path };
    await (await startProgram(settings)).end('SIGTERM');
    for (const part of ['.', 'objects', 'postgres']) {
      const path = join(folder.path, part);
      chmodSync(path, 0o500);
      expect(await refusal(settings, { asUser: true })).toBe(
        `DATA_DIR: ${path} may not be written by this user. Give the user the folder, or name another one (EACCES).`,
      );
      chmodSync(path, 0o700);
    }
    folder.remove();
  });

  it('with damaged database files', async () => {
    const folder = temporaryDir();
    mkdirSync(join(folder.path, 'postgres'));
    // The right version and none of the other files.
    cpSync(join(services().builtDir, 'postgres-template', 'PG_VERSION'), join(folder.path, 'postgres', 'PG_VERSION'));
    expect(await refusal({ DATA_DIR: folder.path })).toMatch(
      /^DATA_DIR: the embedded database in .+ does not start \(.+\)\. If its files are damaged, /,
    );
    folder.remove();
  });

  it('on a mount that does not answer', async () => {
    const folder = temporaryDir();
    // Opening a pipe without a writer blocks in the kernel, as a dead mount does.
    execFileSync('mkfifo', [join(folder.path, 'easel.lock')]);
    const sentence = await refusal({ DATA_DIR: folder.path });
    expect(sentence).toMatch(/^DATA_DIR: .+ did not answer within \d+ s, as on a dead mount\. Repair it, or name another folder\.$/);
    folder.remove();
  });
});

describe('a database that cannot be used is reported in one sentence, without its password', () => {
  const withDatabase = async (address: string) => {
    const folder = temporaryDir();
    const sentence = await refusal({ DATA_DIR: folder.path, DATABASE_URL: address });
    folder.remove();
    expect(sentence).not.toContain('secret');
    return sentence;
  };

  it('nobody listens', async () => {
    expect(await withDatabase('postgres://nobody:secret@127.0.0.1:1/none')).toBe(
      'DATABASE_URL: the database at 127.0.0.1:1/none cannot be reached: nothing listens there (ECONNREFUSED). Start it, or correct the address.',
    );
  });

  it('the host is not known', async () => {
    expect(await withDatabase('postgres://nobody:secret@database.invalid/none')).toMatch(
      /^DATABASE_URL: the database at database\.invalid\/none cannot be reached: .+ \((ENOTFOUND|EAI_AGAIN)\)\. /,
    );
  });

  it('something listens and says nothing', async () => {
    const silent = await listening(() => undefined);
    expect(await withDatabase(`postgres://nobody:secret@127.0.0.1:${silent.number}/none`)).toContain(
      'cannot be reached: it does not answer (CONNECT_TIMEOUT).',
    );
    await silent.free();
  });

  it('the password is wrong', async () => {
    const server = await listening((socket) => {
      const fields = 'SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user "nobody"\0\0';
      const length = Buffer.alloc(4);
      length.writeInt32BE(4 + fields.length);
      socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)])));
    });
    expect(await withDatabase(`postgres://nobody:secret@127.0.0.1:${server.number}/none`)).toBe(
      `DATABASE_URL: the server at 127.0.0.1:${server.number}/none refuses the user or the password. Correct them (28P01: password authentication failed for user "nobody").`,
    );
    await server.free();
  });
});

describe('an object store that cannot be used is reported in one sentence', () => {
  const withStore = async (settings: Readonly<Record<string, string>>) => {
    const folder = temporaryDir();
    const sentence = await refusal({ DATA_DIR: folder.path, S3_ACCESS_KEY: 'key', S3_SECRET_KEY: 'secret', ...settings });
    folder.remove();
    return sentence;
  };

  it('nobody listens', async () => {
    expect(await withStore({ S3_ENDPOINT: 'http://127.0.0.1:1' })).toBe(
      'S3_ENDPOINT: the object store at 127.0.0.1:1 cannot be reached: nothing listens there (ECONNREFUSED). Start it, or correct the address.',
    );
  });

  it('it does not know the key', async () => {
    const s3 = await startS3();
    expect(await withStore({ ...s3.settings, S3_ACCESS_KEY: 'other' })).toMatch(
      /^S3_ACCESS_KEY, S3_SECRET_KEY: the object store at 127\.0\.0\.1:\d+ refuses them for its bucket\. Correct the keys, or their rights \(bucket contents, \w+\)\.$/,
    );
    await s3.close();
  });
});

describeWith('postgresUrl')('start on a server', () => {
  it('lets two processes start at once on an empty database: one schema, one administrator', async () => {
    const folder = temporaryDir();
    const database = await createServerDatabase('empty');
    const settings = { DATA_DIR: folder.path, DATABASE_URL: database.url };
    const programs = await Promise.all([startProgram(settings), startProgram(settings), startProgram(settings)]);
    expect(programs.filter((program) => program.adminToken !== undefined)).toHaveLength(1);
    const sql = postgres(database.url, { max: 1 });
    expect(await sql`select count(*)::int as n from account where is_admin`).toEqual([{ n: 1 }]);
    // The primary key refuses a second row of one migration, and a process that had tried to insert it would not have started.
    expect(await sql`select count(*) > 0 as migrated from schema_migration`).toEqual([{ migrated: true }]);
    await sql.end();
    for (const program of programs) expect(await program.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await database.drop();
    folder.remove();
  });

  it('creates the administrator’s token only in a start that can print it', async () => {
    const folder = temporaryDir();
    const database = await createServerDatabase();
    const settings = { DATA_DIR: folder.path, DATABASE_URL: database.url };
    const port = await takenPort();
    await failToStart({ ...settings, PORT: String(port.number) });
    await port.free();
    const program = await startProgram(settings);
    expect(program.adminToken).toMatch(/^so_/);
    await program.end('SIGTERM');
    await database.drop();
    folder.remove();
  });

  it('names a database that is missing', async () => {
    const folder = temporaryDir();
    const database = await createServerDatabase();
    await database.drop();
    expect(await refusal({ DATA_DIR: folder.path, DATABASE_URL: database.url })).toMatch(
      /^DATABASE_URL: the server at .+ has no such database\. Create it, or correct the name \(3D000: .+\)\.$/,
    );
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
