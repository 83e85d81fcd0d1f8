import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Log } from '../../../actors/runtime/ports.ts';
import { ConfigError, parseSettings } from '../../../src/platform/config.ts';
import { KEY_FILE, openSealer } from '../../../src/storage/sealing/open-sealer.ts';
import { temporaryDir } from '../../support/database.ts';

const PLACE = { table: 'connection', row: 'con_a', field: 'credentials' };
const HEX = 'ab'.repeat(32);
const OTHER = Buffer.alloc(32, 7).toString('base64');
const SERVER = 'postgres://127.0.0.1/x';

let folder: ReturnType<typeof temporaryDir>;
let file: string;
const said: string[] = [];
const log: Log = { info: (_fields, text) => said.push(text), warn: (_fields, text) => said.push(text), error: () => undefined };
const open = (settings: Readonly<Record<string, string>> = {}) => openSealer(parseSettings({ DATA_DIR: folder.path, ...settings }), log);

beforeEach(() => {
  folder = temporaryDir();
  file = join(folder.path, KEY_FILE);
  said.length = 0;
});
afterEach(() => folder.remove());

describe('without SECRET_KEY', () => {
  it('the embedded default makes a key that only its owner can read, says so, and finds it again', async () => {
    const sealed = (await open()).seal(PLACE, 'secret');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(said).toEqual(['made a key for stored credentials; back it up with the database, or set SECRET_KEY']);
    expect((await open()).open(PLACE, sealed)).toBe('secret');
    expect(said).toHaveLength(1);
    // It can be moved into the setting, for example when the data moves to a server.
    const moved = await open({ DATABASE_URL: SERVER, SECRET_KEY: readFileSync(file, 'utf8').trim() });
    expect(moved.open(PLACE, sealed)).toBe('secret');
  });

  it('a server seals nothing and makes no key', async () => {
    const sealer = await open({ DATABASE_URL: SERVER });
    expect(() => sealer.seal(PLACE, 'secret')).toThrow(/SECRET_KEY/);
    expect(existsSync(file)).toBe(false);
  });

  it('takes the key away from other users', async () => {
    const sealed = (await open()).seal(PLACE, 'secret');
    chmodSync(file, 0o644);
    expect((await open()).open(PLACE, sealed)).toBe('secret');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(said.at(-1)).toMatch(/^others could read the key/);
  });

  it.each(['', 'short', `${HEX},${HEX}`])('does not start on a damaged key, and does not make another: %j', async (text) => {
    writeFileSync(file, text);
    await expect(open()).rejects.toThrow(/secret\.key does not hold one key of 32 bytes\. Restore it/);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

describe('SECRET_KEY', () => {
  it('takes base64 and hex, and opens what the key of the folder has sealed', async () => {
    const own = (await open()).seal(PLACE, 'secret');
    const byHex = (await open({ SECRET_KEY: HEX })).seal(PLACE, 'secret');
    const rotated = await open({ SECRET_KEY: `${OTHER}, ${HEX}` });
    expect([rotated.open(PLACE, own), rotated.open(PLACE, byHex)]).toEqual(['secret', 'secret']);
    const urlSafe = Buffer.from(HEX, 'hex').toString('base64url');
    expect((await open({ SECRET_KEY: urlSafe, DATABASE_URL: SERVER })).open(PLACE, byHex)).toBe('secret');
  });

  it('makes no key in the folder', async () => {
    await open({ SECRET_KEY: HEX });
    expect(existsSync(file)).toBe(false);
  });

  it.each(['secret', HEX.slice(2), `${HEX},`, Buffer.alloc(31, 1).toString('base64'), Buffer.alloc(33, 1).toString('base64')])(
    'refuses %s without repeating it',
    (text) => {
      const read = () => parseSettings({ SECRET_KEY: text });
      expect(read).toThrow(ConfigError);
      expect(read).toThrow(/^ {2}SECRET_KEY: must be 32 bytes in base64 or hex/m);
      expect(read).not.toThrow(new RegExp(text.slice(0, 12)));
    },
  );
});
