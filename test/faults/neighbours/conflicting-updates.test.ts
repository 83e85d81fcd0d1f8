/** Updates made so that Yjs compares each of their items with thousands of others: 60 KB of them held the loop for 25 s. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { frameSyncUpdate } from '../../../src/realtime/wire.ts';
import { join } from '../../realtime/providers.ts';
import { RawPeer } from '../../realtime/raw-peer.ts';
import { stage } from '../../realtime/realtime-stage.ts';
import { itemsAtOnePlace } from '../../support/crafted-updates.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { attackerAddress, Victim } from './neighbour-stage.ts';

const ITEMS = 10_000;

let easel: TestEasel;
let victim: Victim;
beforeAll(async () => {
  easel = await startTestEasel();
  victim = await Victim.of(easel);
});
afterAll(async () => {
  victim.close();
  await easel.close();
});

it('are refused, their sender is closed, and the document goes on for others', async () => {
  const { artifactId, owner } = await stage(easel, { visibility: 'public', allow_anon_collab: true });
  const attack = async () => {
    const url = `${easel.baseUrl.replace('http', 'ws')}/v1/data/${artifactId}/realtime/d`;
    const peer = await RawPeer.open(url, { localAddress: attackerAddress() });
    onTestFinished(() => peer.close());
    for (const client of [1, 2, 3]) peer.send(frameSyncUpdate(itemsAtOnePlace(client, ITEMS, 'text')));
    return peer.closed;
  };
  const attacked = attack();
  expect((await victim.during(attacked)).refused).toEqual([]);
  expect((await attacked).code).not.toBe(1000);
  const [row] = await easel.sql<{ count: number }[]>`
    select coalesce(sum(updates), 0)::int as count from document_update where artifact_id = ${artifactId}`;
  expect(row?.count).toBe(1);
  const reader = join('hocuspocus 4', { baseUrl: easel.baseUrl, artifactId, document: 'd', token: owner.token });
  onTestFinished(() => reader.close());
  await reader.until(({ text }) => text.toString() === 'x'.repeat(ITEMS));
});
