/** One process per data folder: two embedded databases on the same files would destroy them. */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { LOCK_NAME } from './lock-name.ts';

const lockFile = z.object({
  pid: z.number().int().positive(),
  /** The kernel's start time of that process, so that a re-used pid is not mistaken for it; null where it cannot be read. */
  started: z.string().nullable(),
});
type Holder = z.infer<typeof lockFile>;

/** Held for microseconds while a stale lock is replaced; older than this it was left by a crash. */
const TAKEOVER_AGE_MS_MAX = 10_000;

export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse';
}

export interface DataDirLock {
  release(): void;
}

/** Takes the folder for this process; a lock left by a dead one is taken over. Throws `DataDirInUse`. */
export function lockDataDir(directory: string): DataDirLock {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, LOCK_NAME);
  if (!tryCreate(path)) replaceStale(path, directory);
  return {
    release: () => {
      // A folder that was copied or re-created under us is not ours to unlock.
      if (readHolder(path)?.pid === process.pid) rmSync(path, { force: true });
    },
  };
}

function tryCreate(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
  writeSync(file, JSON.stringify({ pid: process.pid, started: startOf(process.pid) } satisfies Holder));
  closeSync(file);
  return true;
}

function replaceStale(path: string, directory: string): void {
  const takeover = `${path}.takeover`;
  // Two processes that both find a stale lock must not remove each other's new one.
  const age = ageMs(takeover);
  if (age !== null && age > TAKEOVER_AGE_MS_MAX) rmSync(takeover, { force: true });
  if (!tryCreate(takeover)) throw inUse(directory, null);
  try {
    const holder = readHolder(path);
    if (holder !== null && isAlive(holder)) throw inUse(directory, holder.pid);
    rmSync(path, { force: true });
    if (!tryCreate(path)) throw inUse(directory, null);
  } finally {
    rmSync(takeover, { force: true });
  }
}

function inUse(directory: string, pid: number | null): DataDirInUse {
  const who = pid === null ? 'another process' : `process ${pid}`;
  return new DataDirInUse(`The data folder ${directory} is in use by ${who}. Stop that one first, or set DATA_DIR to another folder.`);
}

/** Null when there is no lock or it was cut short by a crash. */
function readHolder(path: string): Holder | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
  try {
    return lockFile.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: the process is alive and belongs to another user.
    if (!isCode(error, 'EPERM')) return false;
  }
  const started = startOf(holder.pid);
  return holder.started === null || started === null || holder.started === started;
}

/** Clock ticks since boot at which a process started, where /proc tells it. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name may hold spaces and brackets; the fields after its last bracket are plain. starttime is the 22nd of all.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

function ageMs(path: string): number | null {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
