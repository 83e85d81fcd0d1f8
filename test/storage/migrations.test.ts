import { execFile as execFileCallback } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrate, SchemaError } from '../../src/storage/migrations.ts';
import { everyDatabaseKind, openTestDatabase, type TestDatabase, temporaryDir } from '../support/database.ts';

const execFile = promisify(execFileCallback);

describe.each(everyDatabaseKind())('migrations: %s', (kind) => {
  let database: TestDatabase;
  const folder = temporaryDir();
  beforeAll(async () => {
    database = await openTestDatabase(kind);
  });
  afterAll(async () => {
    await database.close();
    folder.remove();
  });
  beforeEach(async () => {
    await database.sql`drop table if exists schema_migration, first, second`;
  });

  function files(name: string, contents: Readonly<Record<string, string>>): string {
    const directory = join(folder.path, name);
    mkdirSync(directory, { recursive: true });
    for (const [file, sql] of Object.entries(contents)) writeFileSync(join(directory, file), sql);
    return directory;
  }
  const FIRST = 'create table first (id int); insert into first values (1);';
  const applied = () => database.sql`select version, name from schema_migration order by version`;

  it('run in order, once each', async () => {
    const directory = files('order', {
      '0002_second.sql': 'create table second as select id from first',
      '0001_first.sql': FIRST,
      'notes.txt': '',
    });
    await migrate(database.sql, directory);
    await migrate(database.sql, directory);
    expect(await applied()).toEqual([
      { version: 1, name: '0001_first.sql' },
      { version: 2, name: '0002_second.sql' },
    ]);
    expect(await database.sql`select id from second`).toEqual([{ id: 1 }]);
  });

  it('run one after the other when several processes start at once', async () => {
    const directory = files('turns', { '0001_first.sql': FIRST });
    await Promise.all(Array.from({ length: 4 }, () => migrate(database.sql, directory)));
    expect(await database.sql`select id from first`).toEqual([{ id: 1 }]);
  });

  it('roll back the one that fails, and keep those before it', async () => {
    const broken = { '0001_first.sql': FIRST, '0002_second.sql': 'create table second (id int); select * from nowhere;' };
    await expect(migrate(database.sql, files('broken', broken))).rejects.toThrow(/^Schema 0002_second.sql could not be applied: .*nowhere/);
    expect(await applied()).toEqual([{ version: 1, name: '0001_first.sql' }]);
    expect(await database.sql`select to_regclass('second') as found`).toEqual([{ found: null }]);
    await migrate(database.sql, files('mended', { ...broken, '0002_second.sql': 'create table second (id int)' }));
    expect(await applied()).toHaveLength(2);
  });

  it('refuse a database that is newer than the program', async () => {
    await migrate(database.sql, files('newer', { '0001_first.sql': FIRST, '0002_second.sql': 'create table second (id int)' }));
    const refused = migrate(database.sql, files('older', { '0001_first.sql': FIRST }));
    await expect(refused).rejects.toThrow(SchemaError);
    await expect(refused).rejects.toThrow('0002_second.sql, which this program does not know');
  });

  it('refuse two files with one number before any is applied, and name both', async () => {
    const twice = files('twice', { '0001_first.sql': FIRST, '0002_second.sql': 'select 1', '0002_other.sql': 'select 2' });
    const refused = migrate(database.sql, twice);
    await expect(refused).rejects.toThrow(SchemaError);
    await expect(refused).rejects.toThrow('The migrations 0002_other.sql and 0002_second.sql have the same number.');
    expect(await database.sql`select to_regclass('first') as found`).toEqual([{ found: null }]);
  });

  it('refuse a file whose name is malformed, and allow a gap in the numbers', async () => {
    for (const name of ['2_second.sql', '0002-second.sql', '0002_Second.sql', '0002_second.SQL', 'second.sql', '0002_second.sql.txt']) {
      const directory = files(`malformed ${name}`, { '0001_first.sql': FIRST, [name]: 'select 1' });
      await expect(migrate(database.sql, directory)).rejects.toThrow(`The migration ${name} has a malformed name.`);
    }
    await migrate(database.sql, files('gap', { '0001_first.sql': FIRST, '0003_third.sql': 'select 1' }));
    expect(await applied()).toHaveLength(2);
  });

  it('refuse a number that the database has under another file name, and name both', async () => {
    await migrate(database.sql, files('one branch', { '0001_first.sql': FIRST }));
    const refused = migrate(database.sql, files('another branch', { '0001_second.sql': 'create table second (id int)' }));
    await expect(refused).rejects.toThrow('The database has schema 0001_first.sql, and this program has 0001_second.sql');
  });

  it('refuse a file that was altered after it was applied', async () => {
    await migrate(database.sql, files('before', { '0001_first.sql': FIRST }));
    await expect(migrate(database.sql, files('after', { '0001_first.sql': `${FIRST} -- one more thought` }))).rejects.toThrow(
      'was altered',
    );
  });
});

describe('the build', () => {
  const folder = temporaryDir();
  afterAll(() => folder.remove());
  const ROOT = join(import.meta.dirname, '../..');
  const MIGRATIONS = 'src/storage/migrations';

  /** A checkout in which only the migrations are copied; the rest is linked. */
  function checkout(name: string): string {
    const root = join(folder.path, name);
    cpSync(join(ROOT, MIGRATIONS), join(root, MIGRATIONS), { recursive: true });
    cpSync(join(ROOT, 'deploy'), join(root, 'deploy'), { recursive: true });
    for (const linked of ['node_modules', 'protocol', 'actors', 'package.json', 'src/storage/migrations.ts'])
      symlinkSync(join(ROOT, linked), join(root, linked));
    return root;
  }
  const build = (root: string) => execFile(process.execPath, [join(root, 'deploy/build.mjs'), 'dist']);

  it.each([
    ['0005_another.sql', 'The migrations 0005_another.sql and 0005_dropped_table.sql have the same number.'],
    ['6_short.sql', 'The migration 6_short.sql has a malformed name.'],
  ])('refuses %s and writes nothing', async (file, sentence) => {
    const root = checkout(file);
    writeFileSync(join(root, MIGRATIONS, file), 'select 1');
    await expect(build(root)).rejects.toThrow(sentence);
    expect(readdirSync(root).filter((name) => name.startsWith('dist'))).toEqual([]);
  });
});
