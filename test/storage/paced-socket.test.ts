/** A large answer of the database is read a chunk at a time, each in a slice of the event loop. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pacedSocket } from '../../src/storage/paced-socket.ts';
import { temporaryDir } from '../support/database.ts';

const MESSAGES = 60;
const MESSAGE_BYTES = 70_000;

/** As Postgres sends them: a type, the length with itself, the content. */
function message(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

let folder: ReturnType<typeof temporaryDir>;
let server: Server;
let path: string;
beforeEach(async () => {
  folder = temporaryDir();
  path = join(folder.path, 'database.sock');
});
afterEach(() => {
  server.close();
  folder.remove();
});

async function serve(answer: (socket: Socket) => void): Promise<void> {
  server = createServer(answer).listen(path);
  await once(server, 'listening');
}

/** Slices run when the test says so. */
class HeldTurns {
  readonly slices: (() => void)[] = [];
  #wake: () => void = () => undefined;

  counted = 0;

  worked(): void {
    this.counted += 1;
  }

  run(_lane: string, slice: () => void): void {
    this.slices.push(slice);
    this.#wake();
  }

  async next(): Promise<() => void> {
    if (this.slices.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.slices.shift() ?? (() => undefined);
  }
}

test('after each full chunk nothing is read until the next slice, and everything arrives', async () => {
  const sent = Buffer.concat(Array.from({ length: MESSAGES }, (_, at) => message('D', Buffer.alloc(MESSAGE_BYTES, `row ${at} `))));
  await serve((socket) => socket.end(sent));
  const turns = new HeldTurns();
  const socket = pacedSocket({ path }, turns);
  const read: Buffer[] = [];
  let ended = false;
  // The client listens once it is connected.
  socket.once('connect', () => socket.on('data', (chunk: Buffer) => read.push(chunk)));
  socket.once('end', () => {
    ended = true;
  });
  let slices = 0;
  while (!ended) {
    const slice = await Promise.race([turns.next(), once(socket, 'end').then(() => undefined)]);
    if (slice === undefined) break;
    expect(socket.isPaused()).toBe(true);
    const before = read.length;
    // Others have their turns meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
    expect(read.length).toBe(before);
    slices += 1;
    slice();
  }
  expect(slices).toBeGreaterThan(10);
  // What the client does with a chunk counts, so that others get as much of the loop.
  expect(turns.counted).toBeGreaterThanOrEqual(slices);
  expect(Buffer.concat(read).equals(sent)).toBe(true);
});

test('a small answer waits for nothing', async () => {
  const small = message('Z', Buffer.from('I'));
  await serve((socket) => socket.end(small));
  const turns = new HeldTurns();
  const socket = pacedSocket({ path }, turns);
  const read: Buffer[] = [];
  socket.once('connect', () => socket.on('data', (chunk: Buffer) => read.push(chunk)));
  await once(socket, 'end');
  expect(Buffer.concat(read).equals(small)).toBe(true);
  expect(turns.slices).toEqual([]);
});

test('what is not the protocol ends the connection with an error', async () => {
  await serve((socket) => socket.end(Buffer.from([0x44, 0xff, 0xff, 0xff, 0xff, 0])));
  const [error] = (await once(pacedSocket({ path }, new HeldTurns()), 'error')) as [Error];
  expect(error.message).toBe('the database sent a message of 4294967295 bytes');
});
