/**
 * A program of its own: does once in a data folder what a start does there, and prints what failed as JSON.
 * On a dead mount a call into the file system may never return, and a process with such a call cannot even exit; this one can be left behind.
 */
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { LOCK_NAME } from './lock-name.ts';

/** Folders that an earlier start has made, perhaps as another user. */
const PARTS = ['postgres', 'objects', 'objects/incoming', 'mail'];

function probe(folder: string): void {
  mkdirSync(folder, { recursive: true });
  readdirSync(folder);
  ifThere(() => readFileSync(join(folder, LOCK_NAME)));
  for (const part of PARTS) ifThere(() => accessSync(join(folder, part), constants.R_OK | constants.W_OK | constants.X_OK));
  try {
    writeOne(join(folder, `.probe-${process.pid}`));
  } catch (error) {
    // Reports the folder, because the probe file itself no longer exists.
    throw error instanceof Error ? Object.assign(error, { path: folder }) : error;
  }
}

function writeOne(path: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, 'Easel tries whether it can write here.\n');
    fsyncSync(file);
    renameSync(path, `${path}.moved`);
  } finally {
    closeSync(file);
    for (const name of [path, `${path}.moved`]) rmSync(name, { force: true });
  }
}

function ifThere(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

let failure: object = {};
try {
  probe(process.argv[2] ?? '');
} catch (error) {
  if (!(error instanceof Error)) throw error;
  failure = { ...error, message: error.message };
}
process.stdout.write(JSON.stringify(failure));
