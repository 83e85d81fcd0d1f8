/** Large JSON bodies: what they may hold is bounded while they are read, in slices, and the limit is spent first. Source: issue 10, Found 1. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { LoopTurns } from '../../../src/platform/loop-turns.ts';
import { type DataArtifact, publishArtifact } from '../../support/data-client.ts';
import { databaseKinds } from '../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { PAGE, sha256 } from '../../support/requests.ts';
import { type Answer, attackerAddress, Caller, Victim } from './neighbour-stage.ts';

const MB = 1024 * 1024;
/** What the loop is held is tens of milliseconds; without slices and bounds it is tens of seconds. */
const HELD_MS_MAX = 8000;

function objects(bytes: number): string {
  return `[${'{},'.repeat(bytes / 3)}{}]`;
}

function codeOf({ text }: Answer): unknown {
  return (JSON.parse(text) as { code?: unknown }).code;
}

describe.each(databaseKinds())('on %s', (kind) => {
  let easel: TestEasel;
  let victim: Victim;
  let open: DataArtifact;
  let attackerToken = '';
  const callers: Caller[] = [];

  beforeAll(async () => {
    easel = await startTestEasel({ database: kind });
    victim = await Victim.of(easel);
    const attacker = await easel.newUser('pro');
    attackerToken = attacker.token;
    open = await publishArtifact(easel, attacker, { visibility: 'public', allowAnonWrite: true });
  });
  afterAll(async () => {
    for (const caller of callers) caller.close();
    victim.close();
    await easel.close();
  });

  function attacker(index: number): Caller {
    const caller = new Caller(easel, attackerAddress(index));
    callers.push(caller);
    return caller;
  }

  test('a publish of millions of files is refused at the first value beyond its schema, and nobody waits', async () => {
    // Whoever parsed the whole would say INVALID_JSON, because of its end.
    const body = `{"files":${objects(36 * MB)}]]]`;
    const publish = { method: 'POST', path: '/v1/publish', token: attackerToken, body };
    const attack = Promise.all([1, 2].map((index) => attacker(index).call(publish)));
    const work = await victim.during(attack);
    expect(work.refused).toEqual([]);
    expect((await attack).map((answer) => [answer.status, codeOf(answer)])).toEqual(Array(2).fill([400, 'INVALID_REQUEST']));
    expect(work.longestMs).toBeLessThan(HELD_MS_MAX);
  });

  test('inserts of 8 MB of the dearest kinds are read in slices', async () => {
    const bodies = [
      // Whoever parsed the whole would say INVALID_JSON, because of its end.
      `{"rows":[{"a":${objects(LIMITS.insertBodyBytesMax - 30)}}]}]`,
      `${objects(LIMITS.insertBodyBytesMax - 10)}]`,
      `{"rows":${objects(LIMITS.insertBodyBytesMax - 30)}}]`,
      `{"rows":[{${Array.from({ length: 400_000 }, (_, index) => `"k${index}":0`).join()}}]}`,
    ];
    const path = `/v1/data/${open.id}/tables/rows`;
    const attack = Promise.all(bodies.map((body, index) => attacker(3 + index).call({ method: 'POST', path, body })));
    const work = await victim.during(attack);
    expect(work.refused).toEqual([]);
    const answers = await attack;
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    expect(answers.map(({ text }) => (JSON.parse(text) as { error: string }).error)).toEqual([
      'The body has more than 600000 values, which this request cannot have.',
      'The body must have at most 500 items.',
      'rows must have at most 500 items.',
      'The body has an object with more than 120000 members.',
    ]);
    expect(work.longestMs).toBeLessThan(HELD_MS_MAX);
  });

  test('a body with a hundred thousand problems is told of few', async () => {
    const values = Array<string>(100_000).fill('"\\ud800"').join();
    const body = `{"ops":[{"op":"array.push","type":"list","values":[${values}]}]}`;
    const attack = attacker(7).call({ method: 'POST', path: `/v1/data/${open.id}/documents/d`, token: attackerToken, body });
    const work = await victim.during(attack);
    expect(work.refused).toEqual([]);
    const answer = await attack;
    expect([answer.status, codeOf(answer), (JSON.parse(answer.text) as { issues: unknown[] }).issues.length]).toEqual([
      400,
      'INVALID_REQUEST',
      1,
    ]);
  });

  test('without anything left of the limit a body is refused unread', async () => {
    const left = easel.runtime.spend(open.id, 0).remaining;
    expect(easel.runtime.spend(open.id, left).accepted).toBe(true);
    const path = `/v1/data/${open.id}/tables/rows`;
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, index) => attacker(10 + index).call({ method: 'POST', path, body: `${objects(4 * MB)}]` })),
    );
    expect(answers.map((answer) => [answer.status, codeOf(answer)])).toEqual(Array(4).fill([429, 'RATE_LIMITED']));
  });

  test('a whole version sent inline is published while others work', async () => {
    const file = Buffer.alloc(LIMITS.versionFileBytesMax, 'easel ');
    const files = [...PAGE, ...[1, 2, 3].map((index) => ({ path: `${index}.bin`, content: file.toString('base64'), encoding: 'base64' }))];
    const text = { path: 'text.txt', content: 'a "quoted" line\n'.repeat(MB), encoding: 'utf8' };
    const body = JSON.stringify({ files: [...files, text] });
    const turns = vi.spyOn(LoopTurns.prototype, 'next');
    const attack = attacker(20).call({ method: 'POST', path: '/v1/publish', token: attackerToken, body });
    const work = await victim.during(attack);
    expect(work.refused).toEqual([]);
    const answer = await attack;
    expect(answer.status).toBe(200);
    // A slice of parsing is at most a megabyte, a slice of decoding four.
    expect(turns.mock.calls.length).toBeGreaterThan(body.length / MB + body.length / (5 * MB));
    turns.mockRestore();
    const { artifact } = JSON.parse(answer.text) as { artifact: { id: string } };
    const { files: stored } = (await (await easel.fetch(`/v1/artifacts/${artifact.id}/versions/1`, { token: attackerToken })).json()) as {
      files: { path: string; size_bytes: number; sha256: string }[];
    };
    expect(stored.map(({ path, size_bytes, sha256: digest }) => [path, size_bytes, digest])).toEqual([
      ...['1.bin', '2.bin', '3.bin'].map((path) => [path, file.length, sha256(file)]),
      ['index.html', PAGE[0]?.content.length, sha256(PAGE[0]?.content ?? '')],
      ['text.txt', text.content.length, sha256(text.content)],
    ]);
    expect(work.longestMs).toBeLessThan(HELD_MS_MAX);
  });
});
