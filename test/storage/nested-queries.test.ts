/** The tests' own watch for queries beside an open transaction. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countTurns } from '../../src/features/library/search/index-rows.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { NestedQuery } from '../support/nested-queries.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

test('a query of the service on another connection is refused within a transaction, and goes on after it', async () => {
  const { sql } = easel;
  await expect(sql.begin(async () => countTurns(sql))).rejects.toThrow(NestedQuery);
  expect(await sql.begin(async (tx) => countTurns(tx))).toBe(0);
  const later = await sql.begin(async () => () => countTurns(sql));
  expect(await later()).toBe(0);
});

test('a fragment that is made of the other client is a part of the transaction’s own statement', async () => {
  const { sql } = easel;
  const [row] = await sql.begin(async (tx) => tx`select ${sql`1 + 1`} as two`);
  expect(row).toEqual({ two: 2 });
});
