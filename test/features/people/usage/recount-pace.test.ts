/** The daily count of what everybody stores leaves the database to others between two of them. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Clock } from '../../../../actors/runtime/ports.ts';
import { createAccount } from '../../../../src/features/people/accounts/handlers.ts';
import { reconcile } from '../../../../src/features/people/usage/sweeps.ts';
import { openTestDatabase, SILENT, type TestDatabase } from '../../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('it pauses after each, and still reaches the last', async () => {
  const { sql } = database;
  const nowMs = 0;
  const users = [];
  for (let at = 0; at < 3; at += 1) {
    users.push((await sql.begin((tx) => createAccount(tx, { tier: 'free', isAdmin: false, nowMs }))).userId);
  }
  const count = (bytes: number) => sql`
    insert into account_usage (account_id, bytes) select id, ${bytes} from account
    on conflict (account_id) do update set bytes = excluded.bytes`;
  await count(1000);
  const wrong = async () => (await sql`select from account_usage where bytes <> 0`).length;
  const pauses: (() => void)[] = [];
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => 0,
    after: (_, run) => {
      pauses.push(run);
      return { cancel: () => undefined };
    },
  };
  const corrected = reconcile({ sql, clock, log: SILENT }, new AbortController().signal);
  for (let left = users.length - 1; left >= 0; left -= 1) {
    await vi.waitFor(() => expect(pauses).toHaveLength(1), { timeout: 60_000 });
    expect(await wrong()).toBe(left);
    pauses.pop()?.();
  }
  expect(await corrected).toBe(3);
});
