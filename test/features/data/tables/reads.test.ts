import { afterAll, beforeAll, expect, test } from 'vitest';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { RowReads } from '../../../../src/features/data/tables/queries/row-reads.ts';
import { rowReadsOf, TableReads } from '../../../../src/features/data/tables/reads.ts';
import { connect, type Sql } from '../../../../src/storage/sql.ts';
import { describeWith, services } from '../../../support/services.ts';

interface Held {
  readonly answer: Promise<string>;
  readonly hasStarted: () => boolean;
  readonly release: () => void;
}

/** A read that ends when the test releases it. */
function hold(reads: TableReads, artifactId: string): Held {
  let release: () => void = () => undefined;
  let started = false;
  const end = new Promise<void>((resolve) => {
    release = resolve;
  });
  const answer = reads.run({ artifact: artifactId }, async () => {
    started = true;
    await end;
    return 'done';
  });
  return { answer, hasStarted: () => started, release };
}

const unused = () => undefined as unknown as RowReads;

test('a bounded number of reads of one artifact runs, a bounded number waits, more are refused, and other artifacts are not affected', async () => {
  const reads = new TableReads(unused);
  const held = Array.from({ length: LIMITS.artifactReadsMax + LIMITS.artifactReadsWaitingMax }, () => hold(reads, 'one'));
  expect(held.filter(({ hasStarted }) => hasStarted())).toHaveLength(LIMITS.artifactReadsMax);
  await expect(reads.run({ artifact: 'one' }, async () => 'late')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await reads.run({ artifact: 'other' }, async () => 'done')).toBe('done');
  for (const one of held) {
    one.release();
    expect(await one.answer).toBe('done');
  }
  expect(await reads.run({ artifact: 'one' }, async () => 'done')).toBe('done');
});

test('a failed read frees its slot', async () => {
  const reads = new TableReads(unused);
  for (let n = 0; n < 2 * LIMITS.artifactReadsMax; n += 1) {
    await expect(reads.run({ artifact: 'one' }, () => Promise.reject(new Failure('INVALID_FILTER')))).rejects.toMatchObject({
      code: 'INVALID_FILTER',
    });
  }
  expect(await reads.run({ artifact: 'one' }, async () => 'done')).toBe('done');
});

test('a caller has a share of the reads of all artifacts, and a stranger runs beside it', async () => {
  const reads = new TableReads(unused);
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const run = (artifact: string, network: string) =>
    reads.run({ artifact, network }, () => {
      started.push(`${network} ${artifact}`);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = Array.from({ length: LIMITS.callerReadsMax + LIMITS.callerReadsWaitingMax }, (_, n) => run(`a${n}`, 'mallory'));
  expect(started).toHaveLength(LIMITS.callerReadsMax);
  await expect(run('further', 'mallory')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  all.push(run('own', 'stranger'));
  expect(started.at(-1)).toBe('stranger own');
  const second = Array.from({ length: LIMITS.tableReadsMax }, (_, n) => run(`b${n}`, 'second'));
  const late = run('late', 'late');
  expect(started).toHaveLength(LIMITS.tableReadsMax);
  // The next free slot goes to the network with the fewest, not to the first in the queue.
  ends[0]?.();
  await expect.poll(() => started.at(-1)).toBe('late late');
  const over = Promise.all([...all, ...second, late]);
  let isOver = false;
  void over.then(() => {
    isOver = true;
  });
  for (let ended = 0; !isOver; await Promise.resolve()) while (ended < ends.length) ends[ended++]?.();
  await over;
});

describeWith('postgresUrl')('on a server', () => {
  let sql: Sql;
  beforeAll(() => {
    sql = connect({ url: services().postgresUrl ?? '' }, 1, { statementMsMax: 20 });
  });
  afterAll(() => sql.end());

  test('a statement that times out ends as QUERY_TOO_EXPENSIVE, and its connection stays usable', async () => {
    const reads = new TableReads(rowReadsOf(sql, false));
    const endless = () => sql.unsafe('select count(*) from generate_series(1, 1000000000)').then((rows) => rows);
    await expect(reads.run({ artifact: 'one' }, endless)).rejects.toMatchObject({ code: 'QUERY_TOO_EXPENSIVE' });
    expect(await reads.run({ artifact: 'one' }, () => sql`select 1 as one`.then((rows) => [...rows]))).toEqual([{ one: 1 }]);
  });
});
