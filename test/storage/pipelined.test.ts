/** Steps of one transaction that are sent together. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pipelined, type Queries, sqlState } from '../../src/storage/sql.ts';
import { everyDatabaseKind, openTestDatabase, type TestDatabase } from '../support/database.ts';

describe.each(everyDatabaseKind())('over %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
    await database.sql`create table step (name text primary key, at bigint generated always as identity)`;
  });
  afterAll(() => database.close());

  const put = async (tx: Queries, name: string) =>
    (await tx<{ name: string }[]>`insert into step (name) values (${name}) returning name`)[0]?.name;
  const names = async () => (await database.sql<{ name: string }[]>`select name from step order by at`).map(({ name }) => name);

  test('their statements run in the order in which they begin, and each has its answer', async () => {
    const both = async (tx: Queries) => [await put(tx, 'first'), await put(tx, 'third')];
    expect(await database.sql.begin((tx) => pipelined([both(tx), put(tx, 'second')]))).toEqual([['first', 'third'], 'second']);
    expect(await names()).toEqual(['first', 'second', 'third']);
  });

  test('the first failure is thrown when all have ended, and nothing is left of them', async () => {
    const before = await names();
    const ended: string[] = [];
    const slow = async (tx: Queries) => {
      await put(tx, 'kept by nobody');
      // This one is sent when another has failed.
      await put(tx, 'nor this').finally(() => ended.push('slow'));
    };
    const work = database.sql.begin((tx) => pipelined([slow(tx), put(tx, 'first')]).finally(() => ended.push('all')));
    await expect(work.catch(sqlState)).resolves.toBe('23505');
    expect(ended).toEqual(['slow', 'all']);
    expect(await names()).toEqual(before);
  });

  test('so is a refusal of our own', async () => {
    const before = await names();
    const refused = async (tx: Queries) => {
      await tx`select 1`;
      throw new Error('refused');
    };
    const late = async (tx: Queries) => {
      await tx`select 1`;
      await tx`select 2`;
      await put(tx, 'late');
    };
    await expect(database.sql.begin((tx) => pipelined([refused(tx), late(tx)]))).rejects.toThrow('refused');
    expect(await names()).toEqual(before);
  });
});
