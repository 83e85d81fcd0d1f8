/** Found 9: updates that build on ones that never come. They stay out of the document, live and when it is opened again. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import * as Y from 'yjs';
import { CLOSE } from '../../../protocol/core/close-codes.ts';
import { frameSyncStep2, frameSyncUpdate, readMessage } from '../../../src/realtime/wire.ts';
import { framed } from '../../../src/storage/live/documents.ts';
import { type Client, join, PROVIDER_KINDS } from '../../realtime/providers.ts';
import { RawPeer } from '../../realtime/raw-peer.ts';
import { type Stage, stage } from '../../realtime/realtime-stage.ts';
import { databaseKinds } from '../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { attackerAddress, Victim } from './neighbour-stage.ts';

/** A document in which each character is an update, and those updates. */
function typed(characters: number): { readonly doc: Y.Doc; readonly updates: readonly Uint8Array[] } {
  const doc = new Y.Doc();
  const updates: Uint8Array[] = [];
  doc.on('update', (update: Uint8Array) => void updates.push(update));
  const text = doc.getText('text');
  for (let index = 0; index < characters; index += 1) text.insert(index, String.fromCharCode(97 + (index % 26)));
  return { doc, updates };
}

const whole = (characters: number) => (client: Client) => client.text.length === characters;

describe.each(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  let victim: Victim;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    victim = await Victim.of(easel);
  });
  afterAll(async () => {
    victim.close();
    await easel.close();
  });

  const open = () => stage(easel, { visibility: 'public', allow_anon_collab: true });

  const raw = async ({ artifactId }: Stage) => {
    const url = `${easel.baseUrl.replace('http', 'ws')}/v1/data/${artifactId}/realtime/d`;
    const peer = await RawPeer.open(url, { localAddress: attackerAddress() });
    onTestFinished(() => peer.close());
    return { peer, next: async () => readMessage(Buffer.from(await peer.next(), 'hex')) };
  };

  const client = (kind: (typeof PROVIDER_KINDS)[number], { artifactId, owner }: Stage, doc = new Y.Doc()) => {
    const joined = join(kind, { baseUrl: easel.baseUrl, artifactId, document: 'd', token: owner.token, doc });
    onTestFinished(() => joined.close());
    return joined;
  };

  const storedUpdates = async ({ artifactId }: Stage) => {
    const [row] = await easel.sql<{ count: number }[]>`
      select coalesce(sum(updates), 0)::int as count from document_update where artifact_id = ${artifactId}`;
    return row?.count;
  };

  it('[live] 10 000 of them are neither stored nor kept, their sender is closed with 1013, and its provider converges', async () => {
    const set = await open();
    const { doc, updates } = typed(10_000);
    const attack = async () => {
      const { peer } = await raw(set);
      peer.send(...updates.slice(1).map((update) => frameSyncUpdate(update)));
      return peer.closed;
    };
    const attacked = attack();
    expect((await victim.during(attacked)).refused).toEqual([]);
    expect((await attacked).code).toBe(CLOSE.overloaded);
    expect(await storedUpdates(set)).toBe(0);
    await client('hocuspocus 4', set, doc).until(({ isSaved }) => isSaved);
    expect(await storedUpdates(set)).toBe(1);
    await client('y-websocket 3', set).until(whole(10_000));
  });

  it('[asked] its sender is asked for what is missing; the update is acknowledged once that is stored', async () => {
    const set = await open();
    const { doc, updates } = typed(3);
    const { peer, next } = await raw(set);
    expect((await next()).kind).toBe('step1');
    peer.send(frameSyncStep2(Y.encodeStateAsUpdate(new Y.Doc())));
    peer.send(frameSyncUpdate(updates[1] as Uint8Array), frameSyncUpdate(updates[2] as Uint8Array));
    expect(await next()).toMatchObject({ kind: 'step1', stateVector: Uint8Array.of(0) });
    peer.send(frameSyncStep2(Y.encodeStateAsUpdate(doc)));
    const echoes = [await next(), await next()];
    expect(echoes.map((echo) => echo.kind === 'update' && Buffer.from(echo.update).equals(updates[1] as Uint8Array))).toEqual([
      true,
      false,
    ]);
    await client('y-websocket 3', set).until(whole(3));
  });

  it('[age] a sender that does not answer is closed', async () => {
    const set = await open();
    const { updates } = typed(2);
    const { peer, next } = await raw(set);
    peer.send(frameSyncUpdate(updates[1] as Uint8Array));
    expect([(await next()).kind, (await next()).kind]).toEqual(['step1', 'step1']);
    easel.clock.advance(10_000);
    expect((await peer.closed).code).toBe(CLOSE.overloaded);
  });

  it('[again and again] a sender whose answers do not close its gaps is closed', async () => {
    const set = await open();
    const { updates } = typed(2);
    const { peer, next } = await raw(set);
    let asked = -1;
    const ended = peer.closed.then(() => 'closed');
    for (;;) {
      peer.send(frameSyncUpdate(updates[1] as Uint8Array), frameSyncStep2(Uint8Array.of(0, 0)));
      const message = await Promise.race([next(), ended]);
      if (message === 'closed') break;
      if (typeof message === 'object' && message.kind === 'step1') asked += 1;
    }
    expect(asked).toBe(5);
    expect((await peer.closed).code).toBe(CLOSE.overloaded);
  });

  it.each(PROVIDER_KINDS)('[provider] %s closes a gap by itself, and each of its changes is acknowledged once', async (kind) => {
    const set = await open();
    const writer = client(kind, set);
    await writer.until(({ isSaved }) => isSaved);
    const lost = vi.spyOn(WebSocket.prototype, 'send').mockImplementationOnce(() => undefined);
    writer.type('lost ');
    expect(lost).toHaveBeenCalledTimes(1);
    lost.mockRestore();
    for (const word of ['and ', 'what ', 'follows']) writer.type(word);
    const reader = client('y-websocket 3', set);
    await reader.until(({ text }) => text.toString() === 'lost and what follows');
    // The lost one is never acknowledged by itself.
    if (writer.unsynced !== undefined) await writer.until(({ unsynced }) => unsynced === 1);
    writer.type('!');
    await reader.until(({ text }) => text.toString() === 'lost and what follows!');
    if (writer.unsynced !== undefined) await writer.until(({ unsynced }) => unsynced === 1);
    expect(writer.opened).toBe(1);
  });

  it('[cold open] a log of 13 000 that an earlier release stored is opened without holding the loop, and is whole once the missing comes', async () => {
    const set = await open();
    const { doc, updates } = typed(13_001);
    const data = Buffer.from(framed(updates.slice(1)), 'hex');
    await easel.sql`update artifact set seq = 13000 where id = ${set.artifactId}`;
    await easel.sql`
      insert into document (artifact_id, name, created_seq, seq, stored_bytes, created_at_ms, updated_at_ms)
      values (${set.artifactId}, 'd', 1, 13000, ${data.byteLength}, 0, 0)`;
    await easel.sql`
      insert into document_update (artifact_id, name, seq, data, updates, at_ms) values (${set.artifactId}, 'd', 13000, ${data}, 13000, 0)`;
    const reader = client('y-websocket 3', set);
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    expect((await victim.during(reader.until(({ isSynced }) => isSynced))).refused).toEqual([]);
    delay.disable();
    // 16 s without the bound, and some milliseconds with it.
    expect(delay.max / 1e9).toBeLessThan(5);
    client('hocuspocus 4', set, doc);
    await reader.until(whole(13_001));
    expect(reader.text.toString()).toBe(doc.getText('text').toString());
  });
});
