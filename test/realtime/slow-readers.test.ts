/** Peers that do not read: what waits for them is bounded, and they have everything once they read again (anchors 6). */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import * as Y from 'yjs';
import { Outflow } from '../../src/realtime/outflow.ts';
import { frameSyncStep1, readMessage } from '../../src/realtime/wire.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type Client, join } from './providers.ts';
import { type Stage, stage } from './stage.ts';

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

/** A TCP connection that speaks as much WebSocket as it needs, and reads only when it is told to. */
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

  /** With a mask of zeros. */
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
  // More than any kernel holds for a connection on its own.
  for (let round = 0; round < 200; round += 1) {
    typist.text.insert(0, piece);
    await fast.until(({ text }) => text.length === typist.text.length);
    if (round % 20 === 19) most = Math.max(most, await bufferedBytes());
  }
  // What the writer is told of its own updates may wait a moment too.
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(2 * (HIGH_WATER_BYTES + 2 * piece.length));
  slow.resume();
  const text = slow.doc.getText('text');
  await slow.until(() => text.length === typist.text.length);
  // One for each time that the kernel took all there was, which makes room as it likes.
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
    // Beats come in between.
    easel.clock.advance(10_000);
  }
  await slow.until(() => text.length === typist.text.length);
  expect(text.toString()).toBe(typist.text.toString());
});

test('whole documents for many slow peers wait their turn', () => {
  const outflow = new Outflow(10_000_000);
  const told: string[] = [];
  const receiver = (name: string) => ({ roomAgain: () => void told.push(name) });
  const [a, b, c] = [receiver('a'), receiver('b'), receiver('c')];
  expect(outflow.admits(a, 50_000_000)).toBe(true);
  outflow.flowing(a, 50_000_000);
  expect([outflow.admits(b, 1_000_000), outflow.admits(c, 1_000_000), outflow.admits(c, 1000)]).toEqual([false, false, true]);
  outflow.arrived(c);
  outflow.arrived(a);
  expect([told, outflow.bytes]).toEqual([['b'], 0]);
  expect(outflow.admits(b, 1_000_000)).toBe(true);
});
