import { afterAll, beforeAll, expect, test } from 'vitest';
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { TableReads } from '../../../src/services/tables/reads.ts';
import { connect, type Sql } from '../../../src/storage/sql.ts';
import { describeWith, services } from '../../support/services.ts';

interface Held {
  readonly answer: Promise<string>;
  readonly hasStarted: () => boolean;
  readonly release: () => void;
}

/** A read that ends when the test says so. */
function hold(reads: TableReads, artifactId: string): Held {
  let release: () => void = () => undefined;
  let started = false;
  const end = new Promise<void>((resolve) => {
    release = resolve;
  });
  const answer = reads.run(artifactId, async () => {
    started = true;
    await end;
    return 'done';
  });
  return { answer, hasStarted: () => started, release };
}

const unused = undefined as unknown as Sql;

test('so many reads of an artifact run at once, so many wait, more are refused, and other artifacts do not notice', async () => {
  const reads = new TableReads(unused);
  const held = Array.from({ length: LIMITS.artifactReadsMax + LIMITS.artifactReadsWaitingMax }, () => hold(reads, 'one'));
  expect(held.filter(({ hasStarted }) => hasStarted())).toHaveLength(LIMITS.artifactReadsMax);
  await expect(reads.run('one', async () => 'late')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await reads.run('other', async () => 'done')).toBe('done');
  for (const one of held) {
    one.release();
    expect(await one.answer).toBe('done');
  }
  expect(await reads.run('one', async () => 'done')).toBe('done');
});

test('a read that fails gives its place to the next', async () => {
  const reads = new TableReads(unused);
  for (let n = 0; n < 2 * LIMITS.artifactReadsMax; n += 1) {
    await expect(reads.run('one', () => Promise.reject(new Failure('INVALID_FILTER')))).rejects.toMatchObject({ code: 'INVALID_FILTER' });
  }
  expect(await reads.run('one', async () => 'done')).toBe('done');
});

describeWith('postgresUrl')('on a server', () => {
  let sql: Sql;
  beforeAll(() => {
    sql = connect({ url: services().postgresUrl ?? '' }, 1, 20);
  });
  afterAll(() => sql.end());

  test('a statement that takes too long ends as QUERY_TOO_EXPENSIVE, and its connection serves the next', async () => {
    const reads = new TableReads(sql);
    const endless = (on: Sql) => on.unsafe('select count(*) from generate_series(1, 1000000000)');
    await expect(reads.run('one', endless)).rejects.toMatchObject({ code: 'QUERY_TOO_EXPENSIVE' });
    expect(await reads.run('one', (on) => on`select 1 as one`)).toEqual([{ one: 1 }]);
  });
});
