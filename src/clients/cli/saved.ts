/** What the command line keeps for the user: the token (credentials.json) and the address of its server (config.json). Source: spec.md, "Authentication" 6. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CliFailure } from './failures.ts';

const credentials = z.object({ token: z.string().min(1) });
const configuration = z.object({ url: z.string().min(1) });

export interface SavedFiles {
  readonly credentials: string;
  /** The token before the last sign-in: for an account without e-mail it is the only key. */
  readonly previous: string;
  readonly configuration: string;
}

/** Under XDG_CONFIG_HOME, else under ~/.config. */
export function savedFiles(env: Readonly<Record<string, string | undefined>>, home: string): SavedFiles {
  const folder = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'easel');
  return {
    credentials: join(folder, 'credentials.json'),
    previous: join(folder, 'credentials.previous.json'),
    configuration: join(folder, 'config.json'),
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** The parsed file, or undefined where there is none. Throws CliFailure that names a file which is not what it should be. */
export async function readJsonFile<S extends z.ZodType>(file: string, schema: S): Promise<z.output<S> | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new CliFailure('usage', 'FILE_INVALID', `${file} is not what easel wrote there.`, 'Correct it, or delete it.');
  }
}

/** Replaces the file in one step, so that a crash leaves the old or the new one. */
export async function writeJsonFile(file: string, document: unknown, mode: number): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, `${JSON.stringify(document, null, 2)}\n`, { mode });
  await rename(draft, file);
}

export async function readSaved(files: SavedFiles): Promise<{ token: string | undefined; url: string | undefined }> {
  const [key, config] = await Promise.all([readJsonFile(files.credentials, credentials), readJsonFile(files.configuration, configuration)]);
  return { token: key?.token, url: config?.url };
}

/** Saves token and server. The token it replaces is kept beside it; returns whether there was one. */
export async function saveSignIn(files: SavedFiles, token: string, url: string): Promise<boolean> {
  const before = await readJsonFile(files.credentials, credentials);
  const replaces = before !== undefined && before.token !== token;
  if (replaces) await rename(files.credentials, files.previous);
  await writeJsonFile(files.credentials, { token }, 0o600);
  await writeJsonFile(files.configuration, { url }, 0o644);
  return replaces;
}

export async function forgetSignIn(files: SavedFiles): Promise<void> {
  await rm(files.credentials, { force: true });
  await rm(files.previous, { force: true });
}
