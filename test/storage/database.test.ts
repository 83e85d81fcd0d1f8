import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vacuum } from '../../src/storage/vacuum.ts';
import { everyDatabaseKind, openTestDatabase, type TestDatabase } from '../support/database.ts';

describe.each(everyDatabaseKind())('database: %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
  });
  afterAll(() => database.close());

  it('has the schema and reads bigint as a number', async () => {
    const [row] = await database.sql`select count(*) as n from account`;
    expect(row).toEqual({ n: 0 });
  });

  it('answers each of many concurrent queries with its own result', async () => {
    const answers = await Promise.all(
      Array.from({ length: 400 }, async (_, i) => (await database.sql`select ${i}::int as i, ${`text ${i}`}::text as t`)[0]),
    );
    expect(answers).toEqual(Array.from({ length: 400 }, (_, i) => ({ i, t: `text ${i}` })));
  });

  it('failing queries do not affect concurrent ones', async () => {
    const settled = await Promise.allSettled(
      Array.from({ length: 200 }, (_, i) =>
        i % 3 === 0 ? database.sql`select ${i}::int / 0 as i` : database.sql`select ${i}::int as i`.then((rows) => rows[0]?.i),
      ),
    );
    settled.forEach((outcome, i) => {
      if (i % 3 === 0) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
      else expect(outcome).toEqual({ status: 'fulfilled', value: i });
    });
  });

  it('frees the space of dead rows by vacuum', async () => {
    const { sql } = database;
    await sql`create table churned (text text)`;
    await sql`insert into churned select repeat('x', 500) from generate_series(1, 1000)`;
    await sql`delete from churned`;
    const size = async () => (await sql<{ bytes: number }[]>`select pg_relation_size('churned') as bytes`)[0]?.bytes;
    expect(await size()).toBeGreaterThan(500_000);
    expect(await vacuum(sql, new AbortController().signal)).toBeGreaterThan(10);
    expect(await size()).toBe(0);
  });

  it('runs transactions of several connections beside plain queries, each atomic', async () => {
    const { sql } = database;
    await sql`create table tally (id int primary key, n int not null)`;
    await sql`insert into tally select i, 0 from generate_series(0, 3) i`;
    const transfer = (i: number) =>
      sql.begin(async (tx) => {
        const [row] = await tx`select n from tally where id = ${i % 4} for update`;
        await tx`update tally set n = ${row?.n + 1} where id = ${i % 4}`;
        if (i % 5 === 0) throw new Error('rolled back on purpose');
      });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, i) => [transfer(i), sql`select sum(n) as n from tally`]).flat(),
    );
    expect(outcomes.filter((outcome) => outcome.status === 'rejected')).toHaveLength(20);
    expect((await sql`select sum(n) as n from tally`)[0]).toEqual({ n: 80 });
  });
});
