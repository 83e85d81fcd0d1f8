/** A conditional read that is over the limit is refused before anything is computed for it. Source: issue 10, Found 13. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { callData, type DataArtifact, publishArtifact } from '../../support/data-client.ts';
import { databaseKinds } from '../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { attackerAddress, Caller, Victim } from './neighbour-stage.ts';

describe.each(databaseKinds())('on %s', (kind) => {
  let easel: TestEasel;
  let victim: Victim;
  let open: DataArtifact;

  beforeAll(async () => {
    easel = await startTestEasel({ database: kind });
    victim = await Victim.of(easel);
    const attacker = await easel.newUser('pro');
    open = await publishArtifact(easel, attacker, { visibility: 'public', allowAnonWrite: true });
    const text = 'a line of a large document\n'.repeat(30_000);
    const ops = [{ op: 'text.append', type: 'body', text }];
    const written = await callData(easel, open, 'POST', '/documents/large', { token: attacker.token, body: { ops } });
    expect([written.status, written.body.code]).toEqual([200, undefined]);
  });
  afterAll(async () => {
    victim.close();
    await easel.close();
  });

  test('refused conditional reads of a large document ask its actor nothing', async () => {
    const left = easel.runtime.spend(open.id, 0).remaining;
    expect(easel.runtime.spend(open.id, left).accepted).toBe(true);
    const asked = vi.spyOn(easel.runtime, 'ask');
    const path = `/v1/data/${open.id}/documents/large`;
    const attack = async () => {
      const callers = Array.from({ length: 5 }, (_, index) => new Caller(easel, attackerAddress(index)));
      const statuses: number[] = [];
      for (let round = 0; round < 40; round += 1) {
        const answers = await Promise.all(callers.map((caller) => caller.call({ path, headers: { 'if-none-match': '"x"' } })));
        statuses.push(...answers.map(({ status }) => status));
      }
      for (const caller of callers) caller.close();
      expect(new Set(statuses)).toEqual(new Set([429]));
    };
    const work = await victim.during(attack());
    expect(work.refused).toEqual([]);
    expect(asked.mock.calls.filter(([id]) => id === open.id)).toEqual([]);
    expect(asked.mock.calls.length).toBeGreaterThan(0);
    asked.mockRestore();
  });

  test('what is left is spent by reads that find something new, and by none that does not', async () => {
    easel.clock.advance(60_001);
    const path = `/v1/data/${open.id}/documents/large`;
    const caller = new Caller(easel, attackerAddress(9));
    const { headers } = await caller.call({ path });
    const etag = headers.etag ?? '';
    for (let read = 0; read < 5; read += 1) expect((await caller.call({ path, headers: { 'if-none-match': etag } })).status).toBe(304);
    const { headers: after } = await caller.call({ path, headers: { 'if-none-match': '"x"' } });
    expect(after.ratelimit).toMatch(/^"data";r=998;/);
    caller.close();
  });
});
