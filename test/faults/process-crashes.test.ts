import postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import { createServerDatabase, type DatabaseKind, everyDatabaseKind, temporaryDir } from '../support/database.ts';
import { startProgram } from '../support/program.ts';
import { describeWith } from '../support/services.ts';
import { publishTargets, Writers } from '../support/writers.ts';

const ARTIFACTS = 4;
const CRASHES = 3;
const WRITES_BEFORE_CRASH = 400;

async function installation(kind: DatabaseKind) {
  const folder = temporaryDir();
  const server = kind === 'postgres' ? await createServerDatabase() : null;
  return {
    settings: { DATA_DIR: folder.path, ...(server ? { DATABASE_URL: server.url } : {}) },
    remove: async () => {
      await server?.drop();
      folder.remove();
    },
  };
}

describe.each(everyDatabaseKind())('the process dies under load: %s', (kind) => {
  it('keeps every acknowledged write through repeated kill -9', async () => {
    const { settings, remove } = await installation(kind);
    let program = await startProgram(settings);
    const writers = new Writers(await publishTargets(program, ARTIFACTS));
    for (let crash = 0; crash < CRASHES; crash++) {
      const running = writers.run(program.baseUrl);
      await writers.acknowledgedMore(WRITES_BEFORE_CRASH);
      expect(await program.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
      await running;
      program = await startProgram(settings);
      expect(await writers.findLosses(program.baseUrl)).toEqual([]);
    }
    expect(writers.acknowledgedWrites).toBeGreaterThanOrEqual(CRASHES * WRITES_BEFORE_CRASH);
    await program.end('SIGTERM');
    await remove();
  });

  it('finishes open work on SIGTERM: exit code 0, nothing acknowledged is lost', async () => {
    const { settings, remove } = await installation(kind);
    const program = await startProgram(settings);
    const writers = new Writers(await publishTargets(program, ARTIFACTS));
    const running = writers.run(program.baseUrl);
    await writers.acknowledgedMore(WRITES_BEFORE_CRASH);
    // Code 1 means that the drain deadline has passed.
    expect(await program.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await running;
    expect(program.stderr()).toBe('');
    const again = await startProgram(settings);
    expect(again.adminToken).toBeUndefined();
    expect(await writers.findLosses(again.baseUrl)).toEqual([]);
    await again.end('SIGTERM');
    await remove();
  });
});

describeWith('postgresUrl')('the server cuts every connection under load', () => {
  it('answers 503 at worst, recovers by itself, and loses nothing', async () => {
    const { settings, remove } = await installation('postgres');
    const program = await startProgram({ ...settings, LOG_LEVEL: 'silent' });
    const writers = new Writers(await publishTargets(program, ARTIFACTS));
    const admin = postgres(settings.DATABASE_URL ?? '', { max: 1, connection: { application_name: 'test' } });
    const enough = new AbortController();
    const running = writers.run(program.baseUrl, enough.signal);
    for (let cut = 0; cut < 4; cut++) {
      await writers.acknowledgedMore(100);
      await admin`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'easel'`;
    }
    await writers.acknowledgedMore(100);
    enough.abort();
    await running;
    expect(await writers.findLosses(program.baseUrl)).toEqual([]);
    await admin.end();
    expect(await program.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await remove();
  });
});
