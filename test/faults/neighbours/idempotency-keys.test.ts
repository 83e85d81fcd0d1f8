/** Found 6: an Idempotency-Key stores answers of writes only, small ones only, and a share of them for each caller; a refused call writes nothing. */
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { IdempotencyShares } from '../../../src/edge/idempotency-shares.ts';
import { databaseKinds } from '../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { attackerAddress, Caller, Victim } from './neighbour-stage.ts';
import { openArtifact } from './open-artifact.ts';

let started: TestEasel | undefined;
afterEach(async () => {
  await started?.close();
  started = undefined;
});

const HUNDRED_READS = { requests: Array.from({ length: 100 }, () => ({ method: 'GET', path: 'json' })) };
const COUNT_WRITES = `
  create table written (n integer);
  create function count_write() returns trigger language plpgsql as 'begin insert into written values (1); return null; end';
  create trigger count_writes after insert or update or delete on idempotency_record for each row execute function count_write()`;
const KEY = 'a-key-of-enough-characters';

async function stored(easel: TestEasel): Promise<{ records: number; bytes: number }> {
  const [row] = await easel.sql<{ records: number; bytes: number }[]>`
    select count(*) as records, coalesce(sum(octet_length(body)), 0)::bigint as bytes from idempotency_record`;
  return row ?? { records: -1, bytes: -1 };
}

describe.each(databaseKinds())('on %s', (database) => {
  test('reads store nothing, and a call over the limit writes nothing', async () => {
    const easel = await startTestEasel({ database });
    started = easel;
    const { id } = await openArtifact(easel);
    const attacker = new Caller(easel, attackerAddress());
    const victim = await Victim.of(easel);
    await easel.sql.unsafe(COUNT_WRITES).simple();
    const written = async () => (await easel.sql<{ count: number }[]>`select count(*) as count from written`)[0]?.count;
    const call = (path: string, body: unknown, key: string) =>
      attacker.call({
        method: 'POST',
        path: `/v1/data/${id}/${path}`,
        body: JSON.stringify(body),
        headers: { 'idempotency-key': `${KEY}-${key}` },
      });
    const work = await victim.during(
      (async () => {
        await call('tables/notes', { rows: [{ text: 'x'.repeat(1000) }] }, 'insert');
        for (let n = 0; n < 60; n += 1) {
          for (const read of ['query', 'count']) expect((await call(`tables/notes/${read}`, {}, `${n}`)).status).toBe(200);
        }
        const before = await stored(easel);
        expect(before.records).toBe(1);
        await call('batch', HUNDRED_READS, 'fill');
        let refused = 0;
        for (let n = 0; n < 20; n += 1) {
          const { status } = await call('batch', HUNDRED_READS, `b${n}`);
          if (status === 429) refused += 1;
        }
        expect(refused).toBeGreaterThan(5);
        expect((await stored(easel)).records).toBe(22 - refused);
        // Each record was inserted once and updated once, with its answer.
        expect(await written()).toBe(2 * (22 - refused));
      })(),
    );
    expect(work.refused).toEqual([]);
    attacker.close();
    victim.close();
  });

  test('a large answer is not kept, and its repetition does not do the write again', async () => {
    const easel = await startTestEasel({ database });
    started = easel;
    const { id } = await openArtifact(easel);
    const attacker = new Caller(easel, attackerAddress());
    // Random letters, so that compression does not make the answer small.
    const rows = Array.from({ length: 40 }, () => ({ text: randomBytes(3000).toString('base64') }));
    const insert = (key: string, given: unknown) =>
      attacker.call({
        method: 'POST',
        path: `/v1/data/${id}/tables/notes`,
        body: JSON.stringify(given),
        headers: { 'idempotency-key': `${KEY}-${key}` },
      });
    expect((await insert('large', rows)).status).toBe(201);
    const again = await insert('large', rows);
    expect([again.status, JSON.parse(again.text).code]).toEqual([409, 'IDEMPOTENCY_ANSWER_NOT_KEPT']);
    expect(again.headers['idempotent-replayed']).toBe('true');
    const repetitive = Array.from({ length: 400 }, (_, n) => ({ n, text: 'the same words in every row '.repeat(20) }));
    const first = await insert('compressible', repetitive);
    const replayed = await insert('compressible', repetitive);
    expect([replayed.status, replayed.text]).toEqual([201, first.text]);
    expect(replayed.headers['idempotent-replayed']).toBe('true');
    const [{ count } = { count: 0 }] = await easel.sql<
      { count: number }[]
    >`select count(*) as count from table_row where artifact_id = ${id}`;
    expect(count).toBe(440);
    const { records, bytes } = await stored(easel);
    expect(records).toBe(2);
    expect(bytes).toBeLessThan(LIMITS.idempotencyRecordBytesMax);
    attacker.close();
  });
});

describe('shares', () => {
  const mallory = { caller: 'user:mallory', network: '10.0.0.1' };
  const stranger = { caller: 'user:stranger', network: '10.0.0.2' };

  test('a caller with all its requests in flight is refused, and another is not', () => {
    const shares = new IdempotencyShares();
    const leaves = Array.from({ length: LIMITS.idempotencyInFlightPerCallerMax }, () => shares.enter(mallory, 0));
    expect(() => shares.enter(mallory, 0)).toThrow(/are in progress/);
    shares.enter(stranger, 0)();
    leaves[0]?.();
    shares.enter(mallory, 0)();
  });

  test('records of a day are bounded for a caller and for a network, and the next day begins anew', () => {
    const shares = new IdempotencyShares();
    for (let n = 0; n < LIMITS.idempotencyRecordsPerCallerMax; n += 1) shares.record(mallory, 0);
    expect(() => shares.enter(mallory, 1000)).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }));
    shares.enter(stranger, 1000)();
    const sibling = { ...mallory, caller: 'user:sibling' };
    shares.enter(sibling, 1000)();
    for (let n = 0; n < LIMITS.idempotencyRecordsPerCallerMax; n += 1) shares.record(sibling, 0);
    expect(() => shares.enter({ ...mallory, caller: 'user:third' }, 1000)).toThrow(/within a day/);
    shares.enter(mallory, LIMITS.idempotencyTtlMs)();
  });

  test('beyond its bytes a caller has no more answers kept', () => {
    const shares = new IdempotencyShares();
    expect(shares.store(LIMITS.idempotencyBytesPerCallerMax, mallory, 0)).toBe(true);
    expect(shares.store(1, mallory, 0)).toBe(false);
    expect(shares.store(1, stranger, 0)).toBe(true);
  });
});
