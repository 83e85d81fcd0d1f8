/** Reads files that the user names, and explains why one cannot be read or written. */
import { readFile } from 'node:fs/promises';
import { CliFailure } from './failures.ts';
import { readText } from './standard-input.ts';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of its path is not a folder',
  ELOOP: 'it is a circular symbolic link',
  ENAMETOOLONG: 'its name is too long',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
  EMFILE: 'too many files are open',
  EIO: 'the disk reports an error',
};

/** Converts a file system error to a CliFailure; other errors are returned as they are. `file` is used if the error names no path. */
export function fileFailure(error: unknown, verb: 'read' | 'written' | 'used', file?: string): unknown {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error;
  const { code, path } = error as NodeJS.ErrnoException;
  const name = file ?? path;
  if (code === undefined || name === undefined) return error;
  if (code === 'ENOENT') return new CliFailure('usage', 'NO_SUCH_FILE', `There is no file "${name}".`);
  const reason = REASONS[code] ?? `the system reports ${code}`;
  return new CliFailure('usage', 'FILE_UNUSABLE', `"${name}" cannot be ${verb}: ${reason}.`, 'Correct this, or give another file.');
}

export async function readGiven(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw fileFailure(error, 'read', file);
  }
}

/** From a file, or from standard input for "-". */
export async function readGivenText(file: string, stdin: NodeJS.ReadableStream): Promise<string> {
  return file === '-' ? readText(stdin) : (await readGiven(file)).toString('utf8');
}

/** A body in JSON from a file, or from standard input for "-"; the service checks it. Its text is not repeated, because it may hold credentials. */
export async function readGivenJson<T>(file: string, stdin: NodeJS.ReadableStream): Promise<T> {
  const text = await readGivenText(file, stdin);
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new CliFailure('usage', 'INVALID_JSON', `${file === '-' ? 'Standard input' : `"${file}"`} is not JSON.`);
  }
}
