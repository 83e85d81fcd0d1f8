/** Found 8: ten bytes of SyncStep1 ask for a whole document. They have budgets, and repeated ones are answered once, after a pause. */
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';
import { CLOSE } from '../../../protocol/core/close-codes.ts';
import { frameSyncStep1, frameSyncUpdate, readMessage } from '../../../src/realtime/wire.ts';
import { join } from '../../realtime/providers.ts';
import { RawPeer } from '../../realtime/raw-peer.ts';
import { type Stage, stage } from '../../realtime/realtime-stage.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { attackerAddress, Victim } from './neighbour-stage.ts';

const EMPTY_VECTOR = Uint8Array.of(0);
const MALFORMED = Uint8Array.of(0, 9);
/** A refusal, as the reader of clients' frames calls it. */
const DENIED = 'token';
/** Small enough for the socket to take many answers at once. */
const TEXT_CHARS = 20_000;

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

/** An artifact that anybody may edit, with a document `d`. */
async function target(): Promise<Stage & { readonly doc: Y.Doc }> {
  const set = await stage(easel, { visibility: 'public', allow_anon_collab: true });
  const doc = new Y.Doc();
  doc.getText('text').insert(0, 'x'.repeat(TEXT_CHARS));
  const reply = await easel.fetch(`/v1/data/${set.artifactId}/documents/d/update`, {
    method: 'POST',
    token: set.owner.token,
    headers: { 'content-type': 'application/octet-stream' },
    body: Y.encodeStateAsUpdate(doc) as Uint8Array<ArrayBuffer>,
  });
  expect(reply.status, await reply.text()).toBe(200);
  return { ...set, doc };
}

function urlOf({ artifactId }: Stage): string {
  return `${easel.baseUrl.replace('http', 'ws')}/v1/data/${artifactId}/realtime`;
}

function kindOf(hex: string): string {
  return readMessage(Buffer.from(hex, 'hex')).kind;
}

it('[repeated] 200 requests of one client get a few answers at once, and one for all the others after a pause: to the newest', async () => {
  const set = await target();
  const attack = async () => {
    const peer = await RawPeer.open(`${urlOf(set)}/d`, { localAddress: attackerAddress() });
    onTestFinished(() => peer.close());
    for (let times = 0; times < 199; times += 1) peer.send(frameSyncStep1(EMPTY_VECTOR));
    peer.send(frameSyncStep1(Y.encodeStateVector(set.doc)), MALFORMED);
    const kinds: string[] = [];
    // The refusal of the malformed frame is sent after everything that the requests before it have got.
    while (kinds.at(-1) !== DENIED) kinds.push(kindOf(await peer.next()));
    expect(kinds).toEqual(['step1', 'step2', 'step2', 'step2', 'step2', DENIED]);
    easel.clock.advance(5000);
    const last = readMessage(Buffer.from(await peer.next(), 'hex'));
    expect(last).toMatchObject({ kind: 'step2', update: expect.objectContaining({ byteLength: 2 }) });
  };
  expect((await victim.during(attack())).refused).toEqual([]);
});

it('[beyond] a client that goes on asking is closed with 1013, and its unmodified provider converges by itself', async () => {
  const set = await target();
  const sockets: WebSocket[] = [];
  const closings: number[] = [];
  class Tapped extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      sockets.push(this);
      this.on('close', (code) => closings.push(code));
    }
  }
  const doc = new Y.Doc();
  const provider = new WebsocketProvider(urlOf(set), 'd', doc, {
    WebSocketPolyfill: Tapped as never,
    disableBc: true,
    params: { token: set.owner.token },
  });
  onTestFinished(() => provider.destroy());
  await new Promise((resolve) => provider.once('sync', resolve));
  const frame = frameSyncStep1(EMPTY_VECTOR);
  for (let times = 0; times < 1100; times += 1) sockets[0]?.send(frame);
  const closed = new Promise<void>((resolve) => provider.once('connection-close', () => resolve()));
  await closed;
  expect(closings).toEqual([CLOSE.overloaded]);
  doc.getText('text').insert(0, 'after ');
  const reader = join('y-websocket 3', { baseUrl: easel.baseUrl, artifactId: set.artifactId, document: 'd' });
  onTestFinished(() => reader.close());
  await reader.until(({ text }) => text.toString().startsWith('after x'));
  expect(reader.text.length).toBe(TEXT_CHARS + 6);
});

it('[forced] a provider that syncs again and again has all its changes acknowledged', async () => {
  const set = await target();
  const socket = new HocuspocusProviderWebsocket({ url: urlOf(set), WebSocketPolyfill: WebSocket });
  const provider = new HocuspocusProvider({ name: 'd', websocketProvider: socket, token: set.owner.token });
  provider.attach();
  onTestFinished(() => {
    provider.destroy();
    socket.destroy();
  });
  const settled = () =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (provider.unsyncedChanges === 0 && provider.isSynced) resolve();
      };
      provider.on('unsyncedChanges', look);
      look();
    });
  await settled();
  for (let times = 0; times < 50; times += 1) provider.forceSync();
  provider.document.getText('text').insert(0, 'typed ');
  const saved = settled();
  // The update is acknowledged at once, and the last of the requests when the pause is over.
  const pause = setInterval(() => easel.clock.advance(250), 20);
  onTestFinished(() => clearInterval(pause));
  await saved;
  expect(provider.unsyncedChanges).toBe(0);
});

it('[unknown state] a vector that is none gets the whole document', async () => {
  const set = await target();
  const peer = await RawPeer.open(`${urlOf(set)}/d`);
  onTestFinished(() => peer.close());
  peer.send(frameSyncStep1(Uint8Array.of(5, 1)));
  expect((await peer.take(2)).map(kindOf)).toEqual(['step1', 'step2']);
  const author = new Y.Doc();
  author.getText('text').insert(0, 'y');
  peer.send(frameSyncUpdate(Y.encodeStateAsUpdate(author)));
  expect(kindOf(await peer.next())).toBe('update');
});
