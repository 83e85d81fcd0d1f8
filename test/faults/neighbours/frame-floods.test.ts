/** Found 11: a receive buffer holds tens of thousands of small frames. They are handled in slices, between which others are served. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import * as Y from 'yjs';
import { CLOSE } from '../../../protocol/core/close-codes.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { frameSyncUpdate } from '../../../src/realtime/wire.ts';
import { join } from '../../realtime/providers.ts';
import { change, type Stage, stage } from '../../realtime/realtime-stage.ts';
import { databaseKinds } from '../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { attackerAddress, Caller, Victim } from './neighbour-stage.ts';

/** Fewer than may wait for one socket. */
const EDITS = LIMITS.framesWaitingPerSocketMax / 2;
const FLOOD = 60_000;
/** What a writer sends before the part before it is stored. */
const PART = 2500;

/** An author of small edits, which it tells as the bytes of a client's frames. */
function author(): (count: number) => Buffer {
  const doc = new Y.Doc();
  const map = doc.getMap('map');
  let last = 0;
  let frames: Uint8Array[] = [];
  doc.on('update', (update: Uint8Array) => {
    const payload = frameSyncUpdate(update);
    // A frame of a client has a mask, here of zeros.
    frames.push(Uint8Array.of(0x82, 0x80 | payload.length, 0, 0, 0, 0), payload);
  });
  return (count) => {
    frames = [];
    for (const end = last + count; last < end; ) {
      last += 1;
      map.set('k', last);
    }
    return Buffer.concat(frames);
  };
}

/** Binary frames that are ignored, each of three bytes. */
function noise(count: number): Buffer {
  return Buffer.alloc(9 * count, Buffer.from([0x82, 0x83, 0, 0, 0, 0, 9, 9, 9]));
}

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

  const open = async () => stage(easel, { visibility: 'public', allow_anon_collab: true });
  const reader = (set: Stage) => {
    const joined = join('y-websocket 3', { baseUrl: easel.baseUrl, artifactId: set.artifactId, document: 'd', doc: new Y.Doc() });
    onTestFinished(() => joined.close());
    return joined;
  };
  /** A connection of its own network; `write` sends all bytes at once. */
  const attacker = async (set: Stage, index = 0) => {
    const url = `${easel.baseUrl.replace('http', 'ws')}/v1/data/${set.artifactId}/realtime/d`;
    const socket = new WebSocket(url, { localAddress: attackerAddress(index), perMessageDeflate: false });
    onTestFinished(() => socket.terminate());
    socket.on('error', () => undefined);
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    await once(socket, 'message');
    const { _socket: tcp } = socket as unknown as { _socket: NodeJS.WritableStream };
    return { socket, closed, write: (bytes: Buffer) => new Promise<void>((resolve) => tcp.write(bytes, () => resolve())) };
  };

  it('[one buffer] a stranger’s calls are answered between its frames, and the edits apply in their order', async () => {
    const set = await open();
    const watching = reader(set);
    await watching.until(({ isSynced }) => isSynced);
    const map = watching.doc.getMap('map');
    const values: number[] = [];
    map.observe(() => void values.push(Number(map.get('k'))));
    const { write } = await attacker(set);
    const stranger = new Caller(easel, attackerAddress(1));
    onTestFinished(() => stranger.close());
    // How far the flood was at each answer to the stranger.
    const seen: number[] = [];
    const attack = (async () => {
      await write(author()(EDITS));
      while (map.get('k') !== EDITS) {
        expect((await stranger.call({ path: '/healthz' })).status).toBe(200);
        seen.push(values.length);
      }
    })();
    expect((await victim.during(attack)).refused).toEqual([]);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    expect(new Set(values).size).toBe(EDITS);
    expect(new Set(seen).size).toBeGreaterThan(5);
  });

  it('[too many] the flood is closed with 1013 and the stranger is not refused', async () => {
    const set = await open();
    const flood = await attacker(set);
    const attack = flood.write(noise(2 * FLOOD)).then(() => flood.closed);
    expect((await victim.during(attack)).refused).toEqual([]);
    expect(await attack).toBe(CLOSE.overloaded);
    const metrics = await (await easel.fetch('/metrics')).text();
    expect(metrics).toMatch(/^easel_share_refusals_total\{resource="frames of one socket",share="total"\} [1-9]/m);
    await expect
      .poll(async () => (await (await easel.fetch('/metrics')).text()).includes('easel_socket_frame_bytes_waiting 0\n'))
      .toBe(true);
  });

  it('[revoked] frames that wait when access ends are not applied', async () => {
    const set = await open();
    const flood = await attacker(set);
    const watching = reader(set);
    await watching.until(({ isSynced }) => isSynced);
    const map = watching.doc.getMap('map');
    const edits = author();
    let sent = 0;
    let stored = 0;
    const send = () => {
      sent += PART;
      return flood.write(edits(PART));
    };
    // Many are under way whenever the access ends, and never more than may wait for a commit: an echo tells that an edit is stored.
    flood.socket.on('message', () => {
      stored += 1;
      if (sent - stored < PART && flood.socket.readyState === WebSocket.OPEN) void send();
    });
    await send();
    await watching.until(() => Number(map.get('k')) > 100);
    await change(easel, set, { visibility: 'private' });
    expect(await flood.closed).toBe(CLOSE.gone);
    const read = async () => (await easel.fetch(`/v1/data/${set.artifactId}/documents/d`, { token: set.owner.token })).text();
    const afterwards = await read();
    for (let calls = 0; calls < 20; calls += 1) await easel.fetch('/healthz');
    expect(await read()).toBe(afterwards);
  });

  it('[gone] edits of a client that closes its connection right after them are applied', async () => {
    const set = await open();
    const watching = reader(set);
    await watching.until(({ isSynced }) => isSynced);
    const flood = await attacker(set);
    await flood.write(author()(EDITS));
    flood.socket.close();
    await flood.closed;
    await watching.until(({ doc }) => doc.getMap('map').get('k') === EDITS);
    expect(watching.doc.getMap('map').get('k')).toBe(EDITS);
  });
});
