/** The heartbeat of the change hub: one for all followers, however they come and go. */
import { expect, test } from 'vitest';
import { type ArtifactId, newId } from '../../../../protocol/core/ids.ts';
import type { Outlet, Taken } from '../../../../src/features/data/changes/follower.ts';
import { ChangeHub } from '../../../../src/features/data/changes/hub.ts';
import type { AccessWatch } from '../../../../src/features/people/access-watch/access-watch.ts';
import { LocalBus } from '../../../../src/platform/bus.ts';
import type { Sql } from '../../../../src/storage/sql.ts';
import { SILENT } from '../../../support/database.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const HEARTBEAT_MS = 15_000;

/** A database whose queries stay in flight until the test releases them. */
class HeldQueries {
  readonly heartbeats: (() => void)[] = [];
  readonly sql = ((parts: TemplateStringsArray) => {
    if (!parts.join('').includes('select id, seq from artifact')) return new Promise(() => undefined);
    return new Promise((resolve) => this.heartbeats.push(() => resolve([])));
  }) as unknown as Sql;
}

function stage() {
  const clock = new VirtualClock();
  const queries = new HeldQueries();
  const hub = new ChangeHub({
    sql: queries.sql,
    clock,
    log: SILENT,
    bus: new LocalBus(SILENT),
    access: {} as AccessWatch,
    runtime: { onCommitted: () => undefined },
    streams: { total: 1, network: 1, caller: 1, artifact: 1 },
    refusals: { refused: () => undefined },
  });
  const id: ArtifactId = newId('artifact');
  const sent = (): Taken => 'sent';
  const outlet: Outlet = { begin: sent, reset: sent, event: sent, end: () => undefined, fail: () => undefined };
  const follow = () => hub.follow(id, { types: ['json'], reserved: false, sinceSeq: undefined }, outlet, () => undefined);
  return { clock, queries, follow };
}

/** Resolves when all pending promise callbacks have run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test.each([
  ['the next follower joins while its query is in flight', true],
  ['the next follower joins afterwards', false],
])('exactly one heartbeat continues if the last follower leaves during one: %s', async (_when, isDuring) => {
  const { clock, queries, follow } = stage();
  const first = follow();
  clock.advance(HEARTBEAT_MS);
  expect(queries.heartbeats.length).toBe(1);
  first.close();
  if (isDuring) follow();
  queries.heartbeats[0]?.();
  await turn();
  if (!isDuring) follow();
  for (let beats = 2; beats <= 4; beats += 1) {
    clock.advance(HEARTBEAT_MS);
    expect(queries.heartbeats.length).toBe(beats);
    queries.heartbeats.at(-1)?.();
    await turn();
  }
});

test('no heartbeat is left without followers', async () => {
  const { clock, queries, follow } = stage();
  const only = follow();
  clock.advance(HEARTBEAT_MS);
  only.close();
  queries.heartbeats[0]?.();
  await turn();
  clock.advance(10 * HEARTBEAT_MS);
  expect(queries.heartbeats.length).toBe(1);
});
