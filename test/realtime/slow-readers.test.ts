/** Peers that do not read: their backlog is bounded, and they get everything once they read again (anchors 6). */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import * as Y from 'yjs';
import { LIMITS } from '../../protocol/core/limits.ts';
import { Outflow, type Receiver } from '../../src/realtime/outflow.ts';
import { frameSyncStep1, readMessage } from '../../src/realtime/wire.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { type Client, join } from './providers.ts';
import { type Stage, stage } from './realtime-stage.ts';

const HIGH_WATER_BYTES = 256 * 1024;

let easel: TestEasel;
let set: Stage;
const open: { close(): void }[] = [];

beforeAll(async () => {
  easel = await startTestEasel();
  set = await stage(easel);
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
afterAll(() => easel.close());

/** A TCP connection with a minimal WebSocket client that reads only on request. */
class SlowPeer {
  readonly doc = new Y.Doc();
  readonly #socket: Socket;
  #bytes = Buffer.alloc(0);
  #looks = new Set<() => void>();
  step2s = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#read();
      for (const look of [...this.#looks]) look();
    });
  }

  static async open(document: string, token: string): Promise<SlowPeer> {
    const socket = connect(easel.port, '127.0.0.1');
    open.push({ close: () => socket.destroy() });
    await once(socket, 'connect');
    const head = `GET /v1/data/${set.artifactId}/realtime/${document}?token=${token} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
    socket.write(head);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    const end = answer.indexOf('\r\n\r\n');
    expect(answer.subarray(0, 12).toString()).toBe('HTTP/1.1 101');
    const peer = new SlowPeer(socket);
    peer.#bytes = Buffer.from(answer.subarray(end + 4));
    return peer;
  }

  /** Sends a frame with a mask of zeros. */
  send(frame: Uint8Array): void {
    this.#socket.write(Buffer.concat([Buffer.from([0x82, 0x80 | frame.length, 0, 0, 0, 0]), frame]));
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!holds()) return;
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
    });
  }

  #read(): void {
    for (;;) {
      const short = (this.#bytes[1] ?? 0) & 127;
      const headBytes = short === 127 ? 10 : short === 126 ? 4 : 2;
      if (this.#bytes.length < headBytes) return;
      const length = short === 127 ? Number(this.#bytes.readBigUInt64BE(2)) : short === 126 ? this.#bytes.readUInt16BE(2) : short;
      if (this.#bytes.length < headBytes + length) return;
      const isBinary = ((this.#bytes[0] ?? 0) & 15) === 2;
      const frame = this.#bytes.subarray(headBytes, headBytes + length);
      if (isBinary) this.#take(frame);
      this.#bytes = this.#bytes.subarray(headBytes + length);
    }
  }

  #take(frame: Uint8Array): void {
    const message = readMessage(new Uint8Array(frame));
    if (message.kind === 'step2') this.step2s += 1;
    if (message.kind === 'step2' || message.kind === 'update') Y.applyUpdate(this.doc, message.update);
  }
}

async function bufferedBytes(): Promise<number> {
  const text = await (await easel.fetch('/metrics')).text();
  return Number(/^easel_socket_bytes_buffered (\d+)$/m.exec(text)?.[1]);
}

async function writer(document: string): Promise<Client> {
  const client = join('y-websocket 3', { baseUrl: easel.baseUrl, artifactId: set.artifactId, document, token: set.owner.token });
  open.push(client);
  await client.until(({ isSynced }) => isSynced);
  return client;
}

test('a stalled reader gets the difference when it reads again and then what everybody gets; others are not held up', async () => {
  const typist = await writer('stalled');
  const fast = await writer('stalled');
  const slow = await SlowPeer.open('stalled', set.owner.token);
  slow.send(frameSyncStep1(Uint8Array.of(0)));
  await slow.until(() => slow.step2s === 1);
  slow.pause();
  let most = 0;
  const piece = 'x'.repeat(64 * 1024);
  // More than any kernel buffers for a connection.
  for (let round = 0; round < 200; round += 1) {
    typist.text.insert(0, piece);
    await fast.until(({ text }) => text.length === typist.text.length);
    if (round % 20 === 19) most = Math.max(most, await bufferedBytes());
  }
  // Acknowledgements to the writer may be queued for a moment too.
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(2 * (HIGH_WATER_BYTES + 2 * piece.length));
  slow.resume();
  const text = slow.doc.getText('text');
  await slow.until(() => text.length === typist.text.length);
  // One difference for each time that the kernel took the whole backlog, whose timing varies.
  const differences = slow.step2s - 1;
  expect(differences).toBeGreaterThan(0);
  expect(differences).toBeLessThan(10);
  typist.type('live again');
  await slow.until(() => text.toString().endsWith('live again'));
  expect(slow.step2s - 1).toBe(differences);
  expect(text.toString()).toBe(typist.text.toString());
});

test('one that reads a little now and then converges as well', async () => {
  const typist = await writer('hesitant');
  const slow = await SlowPeer.open('hesitant', set.owner.token);
  slow.send(frameSyncStep1(Uint8Array.of(0)));
  await slow.until(() => slow.step2s === 1);
  const text = slow.doc.getText('text');
  for (let round = 0; round < 6; round += 1) {
    slow.pause();
    for (let at = 0; at < 40; at += 1) {
      typist.text.insert(0, `${round}`.repeat(64 * 1024));
      await new Promise(setImmediate);
    }
    slow.resume();
    const { length } = text;
    await slow.until(() => text.length > length);
    // A heartbeat arrives in between. The system's buffers hide from the server that it reads, so it must not look stalled.
    easel.clock.advance(3000);
  }
  await slow.until(() => text.length === typist.text.length);
  expect(text.toString()).toBe(typist.text.toString());
});

const MB = 1024 * 1024;

/** Twelve MB for all, of which a network or an artifact may have six. */
function outflow() {
  const clock = new VirtualClock();
  const refused: string[] = [];
  const refusals = { refused: (resource: string, share: string) => void refused.push(`${resource} ${share}`) };
  const flow = new Outflow({ clock, refusals, bounds: { total: 12 * MB, network: 6 * MB, caller: 6 * MB, artifact: 6 * MB } });
  const told: string[] = [];
  /** A receiver that takes nothing; it sends when its turn comes, as a member of a room does. */
  const receiver = (name: string, network: string, artifact: string, bytes: number) => {
    const one: Receiver & { unreadBytes: number } = {
      holders: { network, artifact },
      unreadBytes: bytes,
      roomAgain: () => {
        told.push(name);
        send();
      },
      waitedTooLong: () => void told.push(`${name} waited too long`),
    };
    const send = () => {
      const admitted = flow.admits(one, bytes);
      if (admitted) flow.flowing(one, bytes);
      return admitted;
    };
    return Object.assign(one, { send, name });
  };
  return { clock, flow, told, refused, receiver };
}

test('whole documents for slow peers have a share by network and artifact, and any single one is sent', () => {
  const { flow, receiver } = outflow();
  expect(receiver('huge', 'a', 'x', 50 * MB).send()).toBe(true);
  expect(flow.bytes).toBe(6 * MB);
  expect(receiver('same network', 'a', 'y', MB).send()).toBe(false);
  expect(receiver('same artifact', 'b', 'x', MB).send()).toBe(false);
  expect(receiver('small', 'a', 'x', 1000).send()).toBe(true);
  expect(receiver('stranger', 'b', 'y', 5 * MB).send()).toBe(true);
});

test('who waits gets a turn by artifact, one receiver in a turn of the event loop', () => {
  const { clock, flow, told, receiver } = outflow();
  const first = ['a', 'b', 'c', 'd'].map((name) => receiver(name, name, name, 3 * MB));
  expect(first.map(({ send }) => send())).toEqual([true, true, true, true]);
  const crowd = ['e', 'f', 'g'].map((name) => receiver(name, name, 'crowd', 3 * MB));
  const alone = receiver('alone', 'h', 'other', 3 * MB);
  expect([...crowd, alone].map(({ send }) => send())).toEqual([false, false, false, false]);
  flow.arrived(first[0] as Receiver);
  flow.arrived(first[1] as Receiver);
  clock.advance(1);
  expect(told).toEqual(['e']);
  clock.advance(10);
  expect(told).toEqual(['e', 'alone']);
  flow.arrived(first[2] as Receiver);
  clock.advance(10);
  expect(told).toEqual(['e', 'alone', 'f']);
});

test('a large difference is not overtaken for ever by smaller ones', () => {
  const { clock, flow, told, receiver } = outflow();
  const first = ['a', 'b', 'c'].map((name) => receiver(name, name, name, 4 * MB));
  for (const { send } of first) send();
  expect(receiver('large', 'd', 'd', 6 * MB).send()).toBe(false);
  flow.arrived(first[0] as Receiver);
  clock.advance(10);
  expect(receiver('small', 'e', 'e', 3 * MB).send()).toBe(false);
  flow.arrived(first[1] as Receiver);
  clock.advance(10);
  expect(told).toEqual(['large']);
});

test('what a peer has taken is no longer charged, and who waits for too long is told', () => {
  const { clock, flow, told, refused, receiver } = outflow();
  const slow = receiver('slow', 'a', 'x', 6 * MB);
  slow.send();
  const [soon, late] = [receiver('soon', 'b', 'x', 3 * MB), receiver('late', 'c', 'x', 4 * MB)];
  expect([soon.send(), late.send()]).toEqual([false, false]);
  slow.unreadBytes = 2 * MB;
  clock.advance(1100);
  expect(told).toEqual(['soon']);
  clock.advance(LIMITS.outflowWaitMs);
  expect(told).toEqual(['soon', 'late waited too long']);
  expect([refused, flow.waiting]).toEqual([['outflow artifact'], 0]);
});
