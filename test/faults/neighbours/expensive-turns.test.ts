/** Found 5: a turn has a budget of work that is refused before it is done, and one that takes long is logged and counted. */
import { afterEach, describe, expect, test } from 'vitest';
import { TurnWork } from '../../../actors/runtime/turn-work.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { Metrics } from '../../../src/platform/metrics.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { type Answer, attackerAddress, Caller, Victim } from './neighbour-stage.ts';
import { openArtifact } from './open-artifact.ts';

let started: TestEasel | undefined;
afterEach(async () => {
  await started?.close();
  started = undefined;
});

const refusalOf = ({ status, text }: Answer) => {
  const { code, param } = JSON.parse(text);
  return [status, code, param];
};

const increment = { method: 'PATCH', path: 'json/large', body: { op: 'increment', path: '$.n' } };
const atomic = (requests: readonly unknown[]) => JSON.stringify({ atomic: true, requests });
const merge = { 'content-type': 'application/json-patch+json' };

/** An anonymous attacker, the key `large` of 1 MB, and a victim that must not be refused meanwhile. */
async function underAttack(
  value: unknown,
  attack: (call: (method: string, path: string, body: string, headers?: object) => Promise<Answer>) => Promise<void>,
) {
  const easel = await startTestEasel();
  started = easel;
  const { id } = await openArtifact(easel);
  const attacker = new Caller(easel, attackerAddress());
  const victim = await Victim.of(easel);
  const call = (method: string, path: string, body: string, headers = {}) =>
    attacker.call({ method, path: `/v1/data/${id}/${path}`, body, headers });
  const body = JSON.stringify(value);
  expect(body.length).toBeLessThanOrEqual(LIMITS.jsonValueBytesMax);
  expect((await call('PUT', 'json/large', body)).status).toBe(201);
  const work = await victim.during(attack(call));
  expect(work.refused).toEqual([]);
  attacker.close();
  victim.close();
}

describe('work beyond the budget of a turn is refused, by the part of the request', () => {
  test('a hundred increments inside a value of 1 MB', async () => {
    await underAttack({ n: 0, filling: 'x'.repeat(1_000_000) }, async (call) => {
      for (let n = 0; n < 5; n += 1) {
        const answer = await call('POST', 'batch', atomic(Array.from({ length: 100 }, () => increment)));
        expect(refusalOf(answer)).toEqual([400, 'REQUEST_TOO_EXPENSIVE', 'requests.1.key']);
      }
      // Nothing of them was done, and one by itself is.
      const done = await call('PATCH', 'json/large', JSON.stringify(increment.body));
      expect(JSON.parse(done.text).data.value.n).toBe(1);
    });
  });

  test('a hundred increments inside a small value are done', async () => {
    await underAttack({ n: 0, filling: 'x'.repeat(10_000) }, async (call) => {
      expect((await call('POST', 'batch', atomic(Array.from({ length: 100 }, () => increment)))).status).toBe(200);
    });
  });

  test('a thousand moves inside an array of half a million elements', async () => {
    await underAttack(
      Array.from({ length: 500_000 }, () => 0),
      async (call) => {
        const moves = Array.from({ length: 1000 }, () => ({ op: 'move', from: '/0', path: '/400000' }));
        const [status, code, param] = refusalOf(await call('PATCH', 'json/large', JSON.stringify(moves), merge));
        expect([status, code]).toEqual([400, 'REQUEST_TOO_EXPENSIVE']);
        expect(Number(param)).toBeLessThan(30);
        expect((await call('PATCH', 'json/large', JSON.stringify(moves.slice(0, 2)), merge)).status).toBe(200);
      },
    );
  });

  test('reads of parts of a large value in one batch', async () => {
    await underAttack({ n: 1, filling: 'x'.repeat(1_000_000) }, async (call) => {
      const reads = Array.from({ length: 100 }, () => ({ path: 'json/large?path=$.n' }));
      expect(refusalOf(await call('POST', 'batch', atomic(reads)))).toEqual([400, 'REQUEST_TOO_EXPENSIVE', 'requests.1.path']);
      // Each in a turn of its own they are done, and others get their turn in between.
      const { results } = JSON.parse((await call('POST', 'batch', JSON.stringify({ requests: reads }))).text).data;
      expect(results.every(({ status }: { status: number }) => status === 200)).toBe(true);
    });
  });

  test('changes of large rows in one batch', async () => {
    await underAttack(0, async (call) => {
      const inserted = await call('POST', 'tables/rows', JSON.stringify({ text: 'x'.repeat(90_000) }));
      const { id } = JSON.parse(inserted.text).data.inserted[0];
      const patches = Array.from({ length: 100 }, (_, n) => ({ method: 'PATCH', path: `tables/rows/${id}`, body: { n } }));
      expect(refusalOf(await call('POST', 'batch', atomic(patches)))).toEqual([400, 'REQUEST_TOO_EXPENSIVE', 'requests.17.rowId']);
    });
  });
});

describe('the watch', () => {
  const watched = () => {
    const lines: object[] = [];
    const durations: number[] = [];
    let nowMs = 0;
    const work = new TurnWork({
      clock: { monotonicMs: () => nowMs, nowMs: () => nowMs },
      meter: { turn: (ms) => durations.push(ms) },
      log: { warn: (fields) => lines.push(fields) },
    });
    const turn = (ms: number, artifactId: string, operation?: string) => {
      work.begin();
      if (operation !== undefined) work.spend(1, operation);
      nowMs += ms;
      work.end(artifactId, () => 'row.put');
    };
    return { turn, lines, durations };
  };

  test('tells artifact and operation of a turn above 50 ms, at most once a second', () => {
    const { turn, lines, durations } = watched();
    turn(50, 'art_quick');
    turn(51, 'art_a', 'json.patch');
    turn(60, 'art_b');
    turn(900, 'art_c');
    turn(70, 'art_d');
    expect(lines).toEqual([
      { artifactId: 'art_a', operation: 'json.patch', ms: 51, others: 0 },
      { artifactId: 'art_d', operation: 'row.put', ms: 70, others: 2 },
    ]);
    expect(durations).toEqual([50, 51, 60, 900, 70]);
  });

  test('/metrics has the durations of turns as a histogram', async () => {
    const metrics = new Metrics();
    for (const ms of [0.05, 3, 70]) metrics.turn(ms);
    const text = await metrics.text();
    expect(text).toContain('easel_turn_seconds_bucket{le="0.0001"} 1');
    expect(text).toContain('easel_turn_seconds_bucket{le="0.05"} 2');
    expect(text).toContain('easel_turn_seconds_bucket{le="+Inf"} 3');
    expect(text).toContain('easel_turn_seconds_count 3');
  });
});
