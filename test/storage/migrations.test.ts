import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrate, SchemaError } from '../../src/storage/migrations.ts';
import { databaseKinds, openTestDatabase, type TestDatabase, temporaryDir } from '../support/database.ts';

describe.each(databaseKinds())('migrations: %s', (kind) => {
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

  it('take turns when several start at once', async () => {
    const directory = files('turns', { '0001_first.sql': FIRST });
    await Promise.all(Array.from({ length: 4 }, () => migrate(database.sql, directory)));
    expect(await database.sql`select id from first`).toEqual([{ id: 1 }]);
  });

  it('leave nothing of one that fails, and keep those before it', async () => {
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

  it('refuse a file that was altered after it was applied', async () => {
    await migrate(database.sql, files('before', { '0001_first.sql': FIRST }));
    await expect(migrate(database.sql, files('after', { '0001_first.sql': `${FIRST} -- one more thought` }))).rejects.toThrow(
      'was altered',
    );
  });
});
