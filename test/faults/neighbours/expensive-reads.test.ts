/** Found 4: reads of a large table end in time on both databases, and nobody else's writes wait for them. */
import { afterEach, describe, expect, test } from 'vitest';
import { newId } from '../../../protocol/core/ids.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { everyDatabaseKind } from '../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { type Answer, attackerAddress, Caller, Victim } from './neighbour-stage.ts';
import { openArtifact } from './open-artifact.ts';

let started: TestEasel | undefined;
afterEach(async () => {
  await started?.close();
  started = undefined;
});

/** A full table, stored by SQL because inserting it takes longer than the test. */
async function fullTable(easel: TestEasel): Promise<string> {
  const { id } = await openArtifact(easel);
  const rows = LIMITS.tableRowsMax;
  await easel.sql`
    insert into data_table (artifact_id, name, row_count, seq, created_at_ms, updated_at_ms) values (${id}, 'large', ${rows}, 1, 0, 0)`;
  const prefix = newId('row').slice(0, -6);
  for (let from = 0; from < rows; from += 10_000) {
    await easel.sql`
      insert into table_row (artifact_id, table_name, row_id, data, created_seq, seq, created_at_ms, updated_at_ms)
      select ${id}, 'large', ${prefix}::text || lpad(n::text, 6, 'a'),
        jsonb_build_object('n', n, 'text', repeat('the same words in every row ', 20) || n), 1 + n, 1 + n, n, n
      from generate_series(${from + 1}::integer, ${from + 10_000}::integer) n`;
  }
  await easel.sql`update artifact set seq = ${rows + 1} where id = ${id}`;
  return id;
}

/** A filter of as many searches as one may have, none of which finds anything and each of which almost does, everywhere. */
const searches = { $or: Array.from({ length: 32 }, (_, n) => ({ text: { $contains: `${n % 10}e same words` } })) };
const metrics = Array.from({ length: 20 }, (_, n) => ({
  fn: ['min', 'max', 'sum', 'avg'][n % 4],
  field: n % 2 === 0 ? 'text' : 'n',
  as: `m${n}`,
}));

describe.each(everyDatabaseKind())('on %s', (database) => {
  test('expensive reads of one caller are ended or done while a stranger works', async () => {
    const easel = await startTestEasel({ database });
    started = easel;
    const id = await fullTable(easel);
    const victim = await Victim.of(easel);
    const attackers = Array.from({ length: 6 }, () => new Caller(easel, attackerAddress()));
    const call = (at: number, path: string, body: unknown): Promise<Answer> => {
      const attacker = attackers[at % attackers.length];
      if (attacker === undefined) throw new Error('there is no attacker');
      return attacker.call({ method: 'POST', path: `/v1/data/${id}/tables/large/${path}`, body: JSON.stringify(body) });
    };
    const codeOf = ({ status, text }: Answer) => (status === 200 ? 'done' : `${status} ${JSON.parse(text).code}`);
    const work = await victim.during(
      (async () => {
        const answers = await Promise.all([
          ...Array.from({ length: 3 }, (_, n) => call(n, 'count', { filter: searches })),
          ...Array.from({ length: 3 }, (_, n) => call(n + 3, 'aggregate', { metrics, groupBy: [], filter: searches })),
          call(0, 'query', { filter: searches, sort: '-text', limit: 1000 }),
          call(1, 'distinct', { filter: searches, field: 'text' }),
        ]);
        const codes = answers.map(codeOf);
        // By itself each takes many seconds on the embedded database. A large server may be through with some within their time.
        expect(codes).toContain('400 QUERY_TOO_EXPENSIVE');
        const others = codes.filter((code) => code !== '400 QUERY_TOO_EXPENSIVE');
        expect(others).toEqual(database === 'embedded' ? [] : others.map(() => 'done'));
      })(),
    );
    expect(work.refused).toEqual([]);
    // Without slices one such read keeps the embedded database for longer than this.
    expect(work.longestMs).toBeLessThan(5000);

    // Ordinary reads of a full table are done; on a very busy machine one may need more than its time, and be asked for again.
    const answerOf = async (...asked: Parameters<typeof call>) => JSON.parse((await call(...asked)).text).data;
    await expect.poll(() => answerOf(0, 'count', { filter: { n: { $gt: LIMITS.tableRowsMax - 10 } } })).toEqual({ count: 10 });
    const lastTwo = async () => (await answerOf(1, 'query', { sort: '-n', limit: 2 }))?.rows.map(({ n }: { n: number }) => n);
    await expect.poll(lastTwo).toEqual([LIMITS.tableRowsMax, LIMITS.tableRowsMax - 1]);
    const sums = async () => (await answerOf(2, 'aggregate', { metrics: [{ fn: 'sum', field: 'n' }] }))?.groups;
    await expect.poll(sums).toEqual([{ sum_n: (LIMITS.tableRowsMax * (LIMITS.tableRowsMax + 1)) / 2 }]);
    for (const attacker of attackers) attacker.close();
    victim.close();
  }, 180_000);
});
