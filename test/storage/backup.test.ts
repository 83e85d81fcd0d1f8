/** Backups: of an installation that stands still, of one that is written to, and what is refused. */
import { execFile as execFileCallback } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createServerDatabase, temporaryDir } from '../support/database.ts';
import { startProgram } from '../support/program.ts';
import { startS3 } from '../support/s3.ts';
import { describeWith, services } from '../support/services.ts';
import { publishTargets, Writers } from '../support/writers.ts';
import { openInstallation } from './installation.ts';
import { fill, type KeptData, readBack } from './kept-data.ts';

const execFile = promisify(execFileCallback);
const folder = temporaryDir();
afterAll(() => folder.remove());

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function data(settings: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<Said> {
  const env = { PATH: process.env.PATH, ...settings };
  return execFile(process.execPath, [join(services().builtDir, 'data.js'), ...words], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Said) => ({ code, stdout, stderr }),
  );
}

function objectsIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split('/').at(-1) ?? '')
    .filter((name) => /^[0-9a-f]{64}$/.test(name))
    .sort();
}

describe('a backup of an installation that is stopped', () => {
  const dataDir = join(folder.path, 'kept');
  const backups = join(folder.path, 'backups');
  let kept: KeptData;
  let seen: Record<string, unknown>;

  beforeAll(async () => {
    const easel = await openInstallation({ dataDir }, Date.UTC(2026, 10, 22));
    kept = await fill(easel);
    seen = await readBack(easel, kept);
    await easel.close();
  });

  it('brings back data of every kind in a new folder; a second one copies no file again', async () => {
    const first = await data({ DATA_DIR: dataDir }, 'backup', backups);
    const [, rows = '', files = '', copied = ''] =
      /^backup-\d{8}T\d{6}Z: (\d+) rows and (\d+) files, of which (\d+) were copied now\n$/.exec(first.stdout) ?? [];
    expect([first.code, Number(rows) > 50, Number(files) > 3, copied]).toEqual([0, true, true, files]);
    const objects = objectsIn(join(backups, 'objects'));
    const second = await data({ DATA_DIR: dataDir }, 'backup', backups);
    expect(second.stdout).toContain(`${rows} rows and ${files} files, of which 0 were copied now`);
    expect(objectsIn(join(backups, 'objects'))).toEqual(objects);

    const restored = join(folder.path, 'restored');
    const { stdout } = await data({ DATA_DIR: restored }, 'restore', backups);
    expect(stdout).toMatch(new RegExp(`^backup-\\S+: ${rows} rows and ${files} files are restored\n$`));
    const easel = await openInstallation({ dataDir: restored }, kept.nowMs);
    expect(await readBack(easel, kept)).toEqual(seen);
    await easel.close();
  });

  it('is refused where a file is gone, and leaves no backup that looks whole', async () => {
    const damaged = join(folder.path, 'damaged');
    cpSync(dataDir, damaged, { recursive: true });
    const [one = ''] = objectsIn(join(damaged, 'objects'));
    rmSync(join(damaged, 'objects', one.slice(0, 2), one.slice(2, 4), one));
    const target = join(folder.path, 'incomplete');
    const { code, stderr } = await data({ DATA_DIR: damaged }, 'backup', target);
    expect([code, stderr]).toEqual([
      1,
      `1 files were removed while the backup ran, or are lost (${one}): run it again. This backup is not kept.\n`,
    ]);
    expect((await data({ DATA_DIR: join(folder.path, 'unused') }, 'restore', target)).stderr).toBe(`${target} holds no backup.\n`);
  });

  it('is not restored over anything, nor without its files', async () => {
    const used = await data({ DATA_DIR: dataDir }, 'restore', backups);
    expect([used.code, used.stderr]).toEqual([1, expect.stringMatching(/^The database has accounts already\./)]);
    const lacking = join(folder.path, 'lacking');
    cpSync(backups, lacking, { recursive: true });
    const [one = ''] = objectsIn(join(lacking, 'objects'));
    rmSync(join(lacking, 'objects', one.slice(0, 2), one.slice(2, 4), one));
    const empty = join(folder.path, 'empty');
    const { stderr } = await data({ DATA_DIR: empty }, 'restore', lacking);
    expect(stderr).toMatch(new RegExp(`^${lacking} lacks 1 files of backup-\\S+, for example ${one}\\.\n$`));
    // Nothing was read into the database, so that it can be tried again.
    expect((await data({ DATA_DIR: empty }, 'restore', backups)).code).toBe(0);
    expect((await data({ DATA_DIR: empty }, 'restore', join(folder.path, 'nowhere'))).stderr).toContain('nowhere cannot be read: ENOENT');
    mkdirSync(join(folder.path, 'blank'));
    expect((await data({ DATA_DIR: empty }, 'restore', join(folder.path, 'blank'))).stderr).toContain('blank holds no backup.');
  });
});

describeWith('postgresUrl')('a backup of a running installation on Postgres and S3', () => {
  it('has everything that was acknowledged before it began', async () => {
    const [database, other] = [await createServerDatabase(), await createServerDatabase('empty')];
    const [store, otherStore] = [await startS3(), await startS3()];
    onTestFinished(async () => {
      await Promise.all([database.drop(), other.drop(), store.close(), otherStore.close()]);
    });
    const settings = { DATA_DIR: join(folder.path, 'node'), DATABASE_URL: database.url, ...store.settings };
    const program = await startProgram({ ...settings, LOG_LEVEL: 'silent' });
    const targets = await publishTargets(program, 20);
    const writers = new Writers(targets);
    const stopping = new AbortController();
    const writing = writers.run(program.baseUrl, stopping.signal);
    await writers.acknowledgedMore(200);
    const before = writers.acknowledged();
    const backups = join(folder.path, 'running');
    expect(await data(settings, 'backup', backups)).toMatchObject({ code: 0, stderr: '' });
    stopping.abort();
    await writing;
    await program.end('SIGTERM');

    const elsewhere = { DATA_DIR: join(folder.path, 'other-node'), DATABASE_URL: other.url, ...otherStore.settings };
    expect(await data(elsewhere, 'restore', backups)).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(join(elsewhere.DATA_DIR, 'objects'))).toBe(false);
    const heir = await startProgram({ ...elsewhere, LOG_LEVEL: 'silent' });
    expect(await writers.findLosses(heir.baseUrl, before)).toEqual([]);
    const objects = objectsIn(join(backups, 'objects'));
    expect(objects.filter((sha256) => !existsSync(otherStore.fileOf(`objects/${sha256}`)))).toEqual([]);
    expect(objects.length).toBeGreaterThan(0);
    await heir.end('SIGTERM');
  });
});
