/**
 * The keys that secrets are sealed with: SECRET_KEY, or on the embedded database a key of its own in DATA_DIR. With a server and without
 * SECRET_KEY nothing can be sealed, because a key in one process's folder would be of no use to the others.
 */
import { randomBytes } from 'node:crypto';
import { chmod, open, readFile, rename, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Log } from '../../../actors/runtime/ports.ts';
import type { Settings } from '../../platform/config.ts';
import { readSecretKeys, SECRET_KEY_BYTES } from '../../platform/secret-key.ts';
import { SettingUnusable } from '../start-failures.ts';
import { Sealer } from './sealer.ts';

export const KEY_FILE = 'secret.key';
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

type KeySettings = Pick<Settings, 'SECRET_KEY' | 'DATABASE_URL' | 'DATA_DIR'>;

/** Call it when the data folder is locked. Throws `SettingUnusable` where the key of the folder cannot be read. */
export async function openSealer(settings: KeySettings, log: Log): Promise<Sealer> {
  // The settings are checked before anything starts.
  const given = settings.SECRET_KEY === undefined ? [] : (readSecretKeys(settings.SECRET_KEY) ?? []);
  if (settings.DATABASE_URL !== undefined) return new Sealer(given);
  const file = join(resolve(settings.DATA_DIR), KEY_FILE);
  const own = await readKeyFile(file, log);
  // What was sealed before SECRET_KEY was set can still be opened.
  if (given.length > 0) return new Sealer(own === null ? given : [...given, own]);
  return new Sealer([own ?? (await makeKeyFile(file, log))]);
}

async function readKeyFile(file: string, log: Log): Promise<Buffer | null> {
  const text = await readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new SettingUnusable(`DATA_DIR: the key in ${file} cannot be read (${error.code}). Give this user the file.`, { cause: error });
  });
  if (text === null) return null;
  const [key, ...others] = readSecretKeys(text.trim()) ?? [];
  if (key === undefined || others.length > 0)
    throw new SettingUnusable(
      `DATA_DIR: ${file} does not hold one key of ${SECRET_KEY_BYTES} bytes. Restore it from a backup; without it the stored credentials are lost.`,
    );
  const { mode } = await stat(file);
  if ((mode & OTHERS) !== 0) {
    await chmod(file, OWNER_ONLY);
    log.warn(
      { file, mode: (mode & 0o777).toString(8) },
      'others could read the key of sealed secrets; the file is its owner’s alone again',
    );
  }
  return key;
}

/** Complete on disk before it has its name: a key that a crash cut short would lose what is sealed with it. */
async function makeKeyFile(file: string, log: Log): Promise<Buffer> {
  const key = randomBytes(SECRET_KEY_BYTES);
  const unnamed = `${file}.new`;
  const handle = await open(unnamed, 'w', OWNER_ONLY);
  try {
    await handle.chmod(OWNER_ONLY);
    await handle.writeFile(`${key.toString('base64')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unnamed, file);
  const folder = await open(resolve(file, '..'), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
  log.info({ file }, 'made a key for stored credentials; back it up with the database, or set SECRET_KEY');
  return key;
}
