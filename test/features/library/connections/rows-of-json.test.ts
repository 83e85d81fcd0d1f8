/** Rows in JSON take steps by its size, and leave turns to others. */
import { expect, it } from 'vitest';
import { rowsOfBytes } from '../../../../src/features/library/connections/sources/rows.ts';

it('a header of 200 000 names over 20 000 empty rows is no product of both, and other turns run in between', async () => {
  const header = Array.from({ length: 200_000 }, () => '');
  const rows: unknown[][] = Array.from({ length: 20_000 }, () => []);
  const bytes = Buffer.from(JSON.stringify([header, ...rows, ['x', '', 'z']]));
  let turns = 0;
  let isRunning = true;
  const count = () => {
    turns += 1;
    if (isRunning) setImmediate(count);
  };
  setImmediate(count);
  let total = 0;
  let last: unknown;
  for await (const row of rowsOfBytes(bytes, 'json', undefined, 'test')) {
    total += 1;
    last = row;
  }
  isRunning = false;
  expect(total).toBe(20_001);
  expect(last).toEqual({ column_1: 'x', column_3: 'z' });
  expect(turns).toBeGreaterThanOrEqual(100);
});
