/** Found 11: a writer at full speed fills the backlog of commits. It has a share of its own, and a part of each commit. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as Y from 'yjs';
import { CLOSE } from '../../../protocol/core/close-codes.ts';
import { frameSyncUpdate } from '../../../src/realtime/wire.ts';
import { join } from '../../realtime/providers.ts';
import { RawPeer } from '../../realtime/raw-peer.ts';
import { type Stage, stage } from '../../realtime/realtime-stage.ts';
import { everyDatabaseKind } from '../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { attackerAddress, Victim } from './neighbour-stage.ts';

const EDITS = 60_000;
/** Edits of this size exceed the backlog by their bytes before the frames that wait exceed their bound. */
const LARGE_EDITS = 6000;
const LARGE_EDIT_CHARS = 8 * 1024;
const LETTERS = [...'abcdefghij'];

/** Many edits of one author, each a frame. */
function flood(edits: number): readonly Uint8Array[] {
  const doc = new Y.Doc();
  const frames: Uint8Array[] = [];
  doc.on('update', (update: Uint8Array) => void frames.push(frameSyncUpdate(update)));
  const map = doc.getMap('map');
  for (let index = 0; index < edits; index += 1) map.set('k', String(index).padEnd(LARGE_EDIT_CHARS));
  return frames;
}

describe.each(everyDatabaseKind())('%s', (database) => {
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
  const client = (set: Stage, doc = new Y.Doc()) => {
    const joined = join('y-websocket 3', { baseUrl: easel.baseUrl, artifactId: set.artifactId, document: 'd', doc });
    onTestFinished(() => joined.close());
    return joined;
  };
  const refusedWrites = async () => {
    const metrics = await (await easel.fetch('/metrics')).text();
    return Number(/^easel_refused_writes_total\{by="artifact"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
  };

  it('[full speed] only the writer itself is refused: a stranger types on one connection, and his calls are answered', async () => {
    const set = await open();
    const stranger = await open();
    const frames = flood(LARGE_EDITS);
    const typist = client(stranger);
    const reader = client(stranger);
    await Promise.all([typist.until(({ isSynced }) => isSynced), reader.until(({ isSynced }) => isSynced)]);
    const before = await refusedWrites();
    const attack = async () => {
      const url = `${easel.baseUrl.replace('http', 'ws')}/v1/data/${set.artifactId}/realtime/d`;
      const peer = await RawPeer.open(url, { localAddress: attackerAddress() });
      onTestFinished(() => peer.close());
      peer.send(...frames);
      for (const letter of LETTERS) {
        typist.type(letter);
        await reader.until(({ text }) => text.toString().endsWith(letter));
      }
      return peer.closed;
    };
    const attacked = attack();
    expect((await victim.during(attacked)).refused).toEqual([]);
    expect((await attacked).code).toBe(CLOSE.overloaded);
    expect([typist.opened, reader.text.toString()]).toEqual([1, LETTERS.join('')]);
    expect(await refusedWrites()).toBeGreaterThan(before);
  });

  it('[told 1013] an unmodified provider that was too fast converges by itself, and what it left has no gap', async () => {
    const set = await open();
    const writer = client(set);
    await writer.until(({ isSynced }) => isSynced);
    for (let edit = 0; edit < EDITS; edit += 1) writer.doc.getMap('map').set('k', edit);
    writer.type('done');
    const reader = client(set);
    await reader.until(({ text }) => text.toString() === 'done');
    expect(reader.doc.getMap('map').get('k')).toBe(EDITS - 1);
    expect(writer.opened).toBeGreaterThan(1);
    await easel.runtime.discard(set.artifactId as never);
    const later = client(set);
    await later.until(({ isSynced }) => isSynced);
    expect([later.text.toString(), later.doc.store.pendingStructs]).toEqual(['done', null]);
  });
});
