import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataDirInUse, lockDataDir } from '../../src/storage/data-dir-lock.ts';
import { temporaryDir } from '../support/database.ts';

describe('lock of a data folder', () => {
  let folder: ReturnType<typeof temporaryDir>;
  let path: string;
  let other: ChildProcess | undefined;
  beforeEach(() => {
    folder = temporaryDir();
    path = join(folder.path, 'easel.lock');
  });
  afterEach(() => {
    other?.kill('SIGKILL');
    other = undefined;
    folder.remove();
  });

  /** Starts another process, which lives until the test ends. */
  async function aliveProcess(): Promise<number> {
    other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(other, 'spawn');
    return other.pid ?? 0;
  }

  async function deadPid(): Promise<number> {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    return child.pid ?? 0;
  }

  const startedOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19];

  it('is taken once, and again after its release', () => {
    const lock = lockDataDir(folder.path);
    expect(() => lockDataDir(folder.path)).toThrow(DataDirInUse);
    lock.release();
    expect(existsSync(path)).toBe(false);
    lockDataDir(folder.path).release();
  });

  it('is refused while its process lives, and names that process', async () => {
    const pid = await aliveProcess();
    writeFileSync(path, JSON.stringify({ pid, started: startedOf(pid) }));
    expect(() => lockDataDir(folder.path)).toThrow(`is in use by process ${pid}. Stop that one first, or set DATA_DIR`);
    expect(readFileSync(path, 'utf8')).toContain(String(pid));
  });

  it('is taken over from a dead process', async () => {
    writeFileSync(path, JSON.stringify({ pid: await deadPid(), started: '1' }));
    lockDataDir(folder.path);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid });
  });

  it('is taken over when another process has the pid now', async () => {
    writeFileSync(path, JSON.stringify({ pid: await aliveProcess(), started: '1' }));
    lockDataDir(folder.path).release();
  });

  it('is taken over when a crash left the file incomplete', () => {
    writeFileSync(path, '{"pid":');
    lockDataDir(folder.path).release();
  });

  it('is left alone during another takeover, but not after ten seconds', async () => {
    writeFileSync(path, JSON.stringify({ pid: await deadPid(), started: '1' }));
    writeFileSync(`${path}.takeover`, '');
    // A date in the future: a slow machine must not make the file old.
    const later = new Date(Date.now() + 3_600_000);
    utimesSync(`${path}.takeover`, later, later);
    expect(() => lockDataDir(folder.path)).toThrow(DataDirInUse);
    const before = new Date(Date.now() - 60_000);
    utimesSync(`${path}.takeover`, before, before);
    lockDataDir(folder.path).release();
    expect(existsSync(`${path}.takeover`)).toBe(false);
  });
});
