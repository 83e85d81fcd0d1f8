/** Sums and averages of a rehearsal are those of the database. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { averageOf, sumOf } from '../../../../src/features/automation/scripts/rehearsal/decimal.ts';
import { everyDatabaseKind, openTestDatabase, type TestDatabase } from '../../../support/database.ts';

describe.each(everyDatabaseKind())('on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
  });
  afterAll(() => database?.close());

  it('sums exactly, and rounds averages in the same place', async () => {
    const some = fc.oneof(
      fc.integer({ min: -1e6, max: 1e6 }),
      fc.constantFrom(0, 0.1, 0.2, 0.3, 1e-7, 1e21, 123456789.123, 9999, 10000, 5e-324, 1.7976931348623157e308),
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
    );
    const lists = fc.sample(fc.array(some, { minLength: 1, maxLength: 9 }), 400);
    const rows = await database.sql<{ total: string; average: string }[]>`
      select sum(v.one::text::numeric)::text as total, avg(v.one::text::numeric)::text as average
      from unnest(${lists.map((list) => JSON.stringify(list))}::text[]) with ordinality as l (list, n), json_array_elements(l.list::json) as v (one)
      group by l.n order by l.n`;
    expect(lists.map((list) => [sumOf(list), averageOf(list)])).toEqual(rows.map(({ total, average }) => [Number(total), Number(average)]));
    expect([sumOf([0.1, 0.2]), sumOf([]), averageOf([])]).toEqual([0.3, 0, null]);
  });
});
