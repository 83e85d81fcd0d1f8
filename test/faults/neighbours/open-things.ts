/** Every kind of thing that stays open with the access of its caller: how it is opened, used, and seen to be over. */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import * as Y from 'yjs';
import { CLOSE } from '../../../protocol/core/close-codes.ts';
import { frameSyncStep1, frameSyncUpdate } from '../../../src/realtime/wire.ts';
import type { TestEasel } from '../../support/easel.ts';

/** What a thing must never get, because it is written after its access has ended, and what it must never store. */
export const AFTERWARDS = 'written-afterwards';
export const INTRUDER = 'intruder';

/** Who opens things, and where. */
export interface Opener {
  readonly easel: TestEasel;
  readonly artifactId: string;
  /** Host, credential or cookie of the caller. */
  readonly headers: Readonly<Record<string, string>>;
  /** A key whose value is not in memory, and a blob that no socket takes at once. */
  readonly coldKey: string;
  readonly blobId: string;
}

export interface OpenThing {
  /** Writes and asks for what there is to read, as far as the thing can. */
  use(): void;
  /** All that it has received, as text. */
  readonly received: string;
  /** Settles when it is over: the code of a closed socket, or the status of an answer, 0 for a connection that was cut. */
  readonly over: Promise<number>;
  close(): void;
}

export const THINGS = {
  'y-websocket socket': yWebsocket,
  'hocuspocus socket with a document': hocuspocusWith,
  'hocuspocus socket without a document': hocuspocusWithout,
  'channels socket': channels,
  'stream of events': events,
  'streamed upload': upload,
  'streamed answer': answer,
  'queued turn': queuedTurn,
} as const satisfies Record<string, (opener: Opener) => Promise<OpenThing>>;

export type ThingName = keyof typeof THINGS;

const EMPTY_VECTOR = Uint8Array.of(0);
const DOCUMENT = 'shared';

function intruderUpdate(): Uint8Array {
  const doc = new Y.Doc();
  doc.getText('text').insert(0, INTRUDER);
  return Y.encodeStateAsUpdate(doc);
}

function text(value: string): Uint8Array {
  const bytes = new TextEncoder().encode(value);
  return Uint8Array.of(bytes.length, ...bytes);
}

/** The Auth frame of a client without a token: the credential of its connection counts. */
function authFrame(): Uint8Array {
  return Uint8Array.of(...text(DOCUMENT), 2, 0, 0);
}

class SocketThing implements OpenThing {
  readonly socket: WebSocket;
  readonly over: Promise<number>;
  readonly #use: (socket: WebSocket) => void;
  #received = '';

  constructor({ easel, artifactId, headers }: Opener, path: string, use: (socket: WebSocket) => void) {
    this.socket = new WebSocket(`ws://127.0.0.1:${easel.port}/v1/data/${artifactId}${path}`, { headers, perMessageDeflate: false });
    this.#use = use;
    this.over = new Promise((resolve) => this.socket.once('close', resolve));
    this.socket.on('error', () => undefined);
    this.socket.on('message', (data: Buffer) => {
      this.#received += data.toString('latin1');
    });
  }

  get received(): string {
    return this.#received;
  }

  async until(part: string): Promise<this> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, 'open');
    while (!this.#received.includes(part)) await once(this.socket, 'message');
    return this;
  }

  async opened(): Promise<this> {
    await once(this.socket, 'open');
    return this;
  }

  use(): void {
    if (this.socket.readyState === WebSocket.OPEN) this.#use(this.socket);
  }

  close(): void {
    this.socket.terminate();
  }
}

function yWebsocket(opener: Opener): Promise<OpenThing> {
  const thing = new SocketThing(opener, `/realtime/${DOCUMENT}`, (socket) => {
    socket.send(frameSyncUpdate(intruderUpdate()));
    socket.send(frameSyncStep1(EMPTY_VECTOR));
  });
  return thing.until('\0\0');
}

function useHocuspocus(socket: WebSocket): void {
  socket.send(authFrame());
  socket.send(frameSyncUpdate(intruderUpdate(), DOCUMENT));
  socket.send(frameSyncStep1(EMPTY_VECTOR, DOCUMENT));
}

/** A document is over with its denial. Its connection stays, because documents with other tokens may share it. */
class DocumentThing extends SocketThing {
  override readonly over: Promise<number>;

  constructor(opener: Opener) {
    super(opener, '/realtime', useHocuspocus);
    const closed = new Promise<number>((resolve) => this.socket.once('close', resolve));
    const denied = new Promise<number>((resolve) => {
      this.socket.on('message', (data: Buffer) => {
        if (/UNAUTHORIZED: |FORBIDDEN: |ARTIFACT_NOT_FOUND: /.test(data.toString('latin1'))) resolve(CLOSE.revoked);
      });
    });
    this.over = Promise.race([closed, denied]);
  }
}

async function hocuspocusWith(opener: Opener): Promise<OpenThing> {
  const thing = await new DocumentThing(opener).opened();
  thing.socket.send(authFrame());
  return thing.until('read');
}

/** A credential opens no document by itself, and the connection keeps it. */
function hocuspocusWithout(opener: Opener): Promise<OpenThing> {
  return new SocketThing(opener, '/realtime', useHocuspocus).opened();
}

async function channels(opener: Opener): Promise<OpenThing> {
  const thing = await new SocketThing(opener, '/channels', (socket) => {
    socket.send(JSON.stringify({ type: 'broadcast', event: 'said', data: INTRUDER }));
    socket.send(JSON.stringify({ type: 'subscribe', channel: 'json', since: 0 }));
  }).until('hello');
  thing.socket.send(JSON.stringify({ type: 'subscribe', channel: 'json' }));
  return thing.until('subscribed');
}

/** An answer of which the first bytes are awaited by `until`. */
class AnswerThing implements OpenThing {
  readonly sent: ClientRequest;
  readonly over: Promise<number>;
  readonly answered: Promise<IncomingMessage>;
  #received = '';

  constructor({ easel, artifactId, headers }: Opener, method: string, path: string, more: Readonly<Record<string, string>> = {}) {
    this.sent = request({
      host: '127.0.0.1',
      port: easel.port,
      agent: false,
      method,
      path: `/v1/data/${artifactId}${path}`,
      headers: { ...headers, ...more },
    });
    this.sent.on('error', () => undefined);
    this.answered = new Promise((resolve) => this.sent.once('response', resolve));
    this.over = new Promise((resolve) => {
      this.sent.once('close', () => resolve(0));
      void this.answered.then((reply) => {
        reply.on('data', (chunk: Buffer) => {
          this.#received += chunk.toString('latin1');
        });
        reply.on('error', () => undefined);
        reply.once('close', () => resolve(reply.complete ? (reply.statusCode ?? 0) : 0));
      });
    });
  }

  get received(): string {
    return this.#received;
  }

  async until(part: string): Promise<this> {
    const reply = await this.answered;
    while (!this.#received.includes(part)) await once(reply, 'data');
    return this;
  }

  use(): void {
    // A body that is still arriving goes on.
    if (!this.sent.writableEnded && !this.sent.destroyed) this.sent.write(INTRUDER);
  }

  close(): void {
    this.sent.destroy();
  }
}

function events(opener: Opener): Promise<OpenThing> {
  return eventsOf(opener, 'json');
}

export function eventsOf(opener: Opener, types: string): Promise<OpenThing> {
  const thing = new AnswerThing(opener, 'GET', `/changes?types=${types}`, { accept: 'text/event-stream' });
  thing.sent.end();
  return thing.until('hello');
}

/** Half of a form with a file; its rest follows with `use`. */
async function upload(opener: Opener): Promise<OpenThing> {
  const head = '--cut\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n';
  const length = String(2 * 1024 * 1024);
  const more = { 'content-type': 'multipart/form-data; boundary=cut', 'content-length': length };
  const thing = new AnswerThing(opener, 'POST', '/blobs', more);
  await new Promise<void>((written) => thing.sent.write(head + 'x'.repeat(100_000), () => written()));
  await bodyArrives(opener.easel);
  return thing;
}

/** Settles when a request with a body is being received. */
async function bodyArrives(easel: TestEasel): Promise<void> {
  for (;;) {
    const metrics = await (await easel.fetch('/metrics')).text();
    if (Number(/^easel_body_bytes_in_flight (\S+)$/m.exec(metrics)?.[1]) > 0) return;
  }
}

/** A reader of a large file who takes only the first bytes until `use`. */
class SlowReader implements OpenThing {
  readonly over: Promise<number>;
  readonly #socket: Socket;
  #bytes = 0;

  private constructor(socket: Socket, bytesWanted: number) {
    this.#socket = socket;
    this.over = new Promise((resolve) => socket.once('close', () => resolve(this.#bytes < bytesWanted ? 0 : 200)));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      this.#bytes += chunk.length;
      if (this.#bytes >= bytesWanted) socket.destroy();
    });
  }

  static async open({ easel, artifactId, headers, blobId }: Opener): Promise<SlowReader> {
    const lines = Object.entries({ host: `127.0.0.1:${easel.port}`, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(easel.port, '127.0.0.1');
    socket.write(`GET /v1/data/${artifactId}/blobs/${blobId}/content HTTP/1.1\r\n${lines.join('')}\r\n`);
    const reader = new SlowReader(socket, BLOB_BYTES);
    await once(socket, 'data');
    socket.pause();
    return reader;
  }

  get received(): string {
    return '';
  }

  use(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** More than the buffers of both sockets hold. */
export const BLOB_BYTES = 20 * 1024 * 1024;

function answer(opener: Opener): Promise<OpenThing> {
  return SlowReader.open(opener);
}

/** A call that waits until a value is read, which the lock of `releaseTurns` delays. */
class QueuedCall extends AnswerThing {
  readonly #release: () => Promise<void>;

  constructor(opener: Opener, method: string, release: () => Promise<void>) {
    super(opener, method, `/json/${opener.coldKey}`, method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {});
    this.#release = release;
    this.sent.end(method === 'PATCH' ? JSON.stringify({ [INTRUDER]: true }) : undefined);
  }

  override use(): void {
    void this.#release();
  }

  override close(): void {
    void this.#release();
    super.close();
  }
}

async function queuedTurn(opener: Opener): Promise<OpenThing> {
  const { easel } = opener;
  let release: () => void = () => undefined;
  let locked: () => void = () => undefined;
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const held = easel.sql.begin(async (tx) => {
    await tx`lock table json_key in access exclusive mode`;
    locked();
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  await isLocked;
  const free = async () => {
    release();
    await held;
  };
  // A pass opens nothing for writing.
  const thing = new QueuedCall(opener, opener.headers.cookie === undefined ? 'PATCH' : 'GET', free);
  for (let tries = 0; tries < 2000; tries += 1) {
    const [row] = await easel.sql<{ waiting: number }[]>`
      select count(*)::int as waiting from pg_locks l join pg_database d on d.oid = l.database
      where not l.granted and d.datname = current_database()`;
    if ((row?.waiting ?? 0) > 0) return thing;
  }
  thing.use();
  throw new Error(`the call does not wait for its value: ${await thing.over} ${thing.received}`);
}
