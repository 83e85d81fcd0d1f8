/** The files of the command line: the token (credentials.json), the address of its server (config.json) and all accounts (accounts.json). */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CliFailure } from './failures.ts';
import { fileFailure } from './given-files.ts';

export const token = z.object({ token: z.string().min(1) });
/** Loose: other settings of the file stay as they are. */
const configuration = z.looseObject({ url: z.string().min(1) });

export interface SavedFiles {
  readonly credentials: string;
  /** All accounts used on this machine; for one without e-mail address the token is the only key. */
  readonly accounts: string;
  /** The token before the last sign-in, written by an earlier version. */
  readonly previous: string;
  readonly configuration: string;
}

/** In XDG_CONFIG_HOME, else in ~/.config. */
export function savedFiles(env: Readonly<Record<string, string | undefined>>, home: string): SavedFiles {
  const folder = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'easel');
  return {
    credentials: join(folder, 'credentials.json'),
    accounts: join(folder, 'accounts.json'),
    previous: join(folder, 'credentials.previous.json'),
    configuration: join(folder, 'config.json'),
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** The parsed file; undefined if it does not exist. Throws a CliFailure if its content is not valid. */
export async function readJsonFile<S extends z.ZodType>(file: string, schema: S): Promise<z.output<S> | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw fileFailure(error, 'read', file);
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new CliFailure('usage', 'FILE_INVALID', `${file} is not valid.`, 'Correct the file, or delete it.');
  }
}

/** Replaces the file atomically, so that a crash leaves the old or the new content. */
export async function writeJsonFile(file: string, document: unknown, mode: number): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(draft, `${JSON.stringify(document, null, 2)}\n`, { mode });
    await rename(draft, file);
  } catch (error) {
    throw fileFailure(error, 'written', file);
  }
}

export async function readSaved(files: SavedFiles): Promise<{ token: string | undefined; url: string | undefined }> {
  const [key, config] = await Promise.all([readJsonFile(files.credentials, token), readJsonFile(files.configuration, configuration)]);
  return { token: key?.token, url: config?.url };
}

/** Makes this the server of later commands. */
export async function saveServer(files: SavedFiles, url: string): Promise<void> {
  const known = await readJsonFile(files.configuration, configuration);
  await writeJsonFile(files.configuration, { ...known, url }, 0o644);
}
