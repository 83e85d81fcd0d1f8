/**
 * Lets several connections share PGlite's one session over a unix socket.
 *
 * `@electric-sql/pglite-socket` takes turns by message: between one connection's Bind and Execute another's Bind can replace
 * the unnamed portal, and an error makes the backend skip messages of whoever comes next. Here a connection owns the session
 * from its first message until the backend says ReadyForQuery outside a transaction.
 */
import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';

/** While others wait, an owner that leaves a transaction open and says nothing is cut off. Same as on a server. */
const IDLE_IN_TRANSACTION_MS_MAX = 30_000;
/** Postgres' own bound of one message. */
const MESSAGE_BYTES_MAX = 1024 * 1024 * 1024;

const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;
const CANCEL_REQUEST = 80_877_102;
const IDLE = 'I'.charCodeAt(0);
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5]);

const PARSE = 'P'.charCodeAt(0);
const TERMINATE = 'X'.charCodeAt(0);

/** One client of the socket. */
class Connection {
  readonly socket: Socket;
  /** Received and not yet run. */
  readonly pending: Buffer[] = [];
  /** A message of which only the beginning has come. */
  partial: Buffer = Buffer.alloc(0);
  started = false;
  closed = false;
  /** Prepared statements it made in the shared session; dropped with it. */
  readonly statements = new Set<string>();

  constructor(socket: Socket) {
    this.socket = socket;
  }
}

export class PGliteSocket {
  readonly #db: PGlite;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  /** Connections with something to run, first come first served. */
  readonly #waiting = new Set<Connection>();
  #owner: Connection | null = null;
  /** Prepared statements of connections that have gone; in the middle of another's transaction they cannot be dropped. */
  readonly #orphans: Buffer[] = [];
  #ownerDeadline: NodeJS.Timeout | undefined;

  constructor(db: PGlite) {
    this.#db = db;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  listen(path: string): Promise<void> {
    rmSync(path, { force: true });
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(path, resolve);
    });
  }

  /** Cuts every connection; what they had not committed is rolled back. */
  async close(): Promise<void> {
    for (const connection of [...this.#connections]) this.#drop(connection);
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(socket: Socket): void {
    const connection = new Connection(socket);
    this.#connections.add(connection);
    socket.on('data', (bytes) => this.#receive(connection, bytes));
    socket.on('close', () => this.#drop(connection));
    // 'close' follows and does the work.
    socket.on('error', () => undefined);
  }

  #receive(connection: Connection, bytes: Buffer): void {
    const input = connection.partial.length === 0 ? bytes : Buffer.concat([connection.partial, bytes]);
    let at = 0;
    while (at < input.length) {
      const length = messageLength(input, at, connection.started);
      if (length === null) break;
      if (length < 4 || length > MESSAGE_BYTES_MAX) {
        this.#drop(connection);
        return;
      }
      if (at + length > input.length) break;
      this.#take(connection, input.subarray(at, at + length));
      if (connection.closed) return;
      at += length;
    }
    connection.partial = at === input.length ? Buffer.alloc(0) : Buffer.from(input.subarray(at));
    if (connection.pending.length > 0) {
      this.#waiting.add(connection);
      this.#run();
    }
  }

  #take(connection: Connection, message: Buffer): void {
    if (!connection.started) {
      const code = message.readInt32BE(4);
      if (code === SSL_REQUEST || code === GSS_REQUEST) connection.socket.write('N');
      else if (code === CANCEL_REQUEST) this.#drop(connection);
      else {
        connection.started = true;
        connection.pending.push(message);
      }
      return;
    }
    if (message[0] === TERMINATE) {
      this.#drop(connection);
      return;
    }
    if (message[0] === PARSE) {
      const name = message.toString('utf8', 5, message.indexOf(0, 5));
      if (name !== '') connection.statements.add(name);
    }
    connection.pending.push(message);
  }

  /** Runs what may run. PGlite itself is synchronous, so nothing comes between two lines of this. */
  #run(): void {
    for (;;) {
      const connection = this.#owner ?? firstOf(this.#waiting);
      if (connection === undefined || !this.#waiting.delete(connection)) break;
      const input = Buffer.concat(connection.pending);
      connection.pending.length = 0;
      const output = this.#execute(input);
      const ready = isReadyForQuery(output);
      this.#own(ready && output.at(-1) === IDLE ? null : connection);
      if (!connection.closed) connection.socket.write(output);
    }
  }

  #execute(input: Uint8Array): Buffer {
    const chunks: Buffer[] = [];
    // Everything but the (here empty) sync to a virtual disk happens before its first await.
    void this.#db.execProtocolRawStream(input, { syncToFs: false, onRawData: (bytes) => chunks.push(Buffer.from(bytes)) });
    return Buffer.concat(chunks);
  }

  #own(connection: Connection | null): void {
    clearTimeout(this.#ownerDeadline);
    this.#owner = connection;
    if (connection === null) {
      this.#dropOrphans();
      return;
    }
    this.#ownerDeadline = setTimeout(() => this.#drop(connection), IDLE_IN_TRANSACTION_MS_MAX);
    this.#ownerDeadline.unref();
  }

  #drop(connection: Connection): void {
    if (connection.closed) return;
    connection.closed = true;
    this.#connections.delete(connection);
    this.#waiting.delete(connection);
    connection.socket.destroy();
    if (this.#owner === connection) {
      this.#execute(Buffer.concat([SYNC, queryMessage('rollback')]));
      this.#own(null);
    }
    this.#orphans.push(...[...connection.statements].map(closeStatement));
    if (this.#owner === null) this.#dropOrphans();
    this.#run();
  }

  #dropOrphans(): void {
    if (this.#orphans.length > 0) this.#execute(Buffer.concat([...this.#orphans.splice(0), SYNC]));
  }
}

/** Bytes of the message at `at`, or null when its length has not come yet. */
function messageLength(input: Buffer, at: number, started: boolean): number | null {
  // The first message of a connection has no type byte.
  if (!started) return input.length - at < 8 ? null : input.readInt32BE(at);
  return input.length - at < 5 ? null : 1 + input.readInt32BE(at + 1);
}

function isReadyForQuery(output: Buffer): boolean {
  return output.length >= 6 && output.subarray(-6, -1).equals(READY_FOR_QUERY);
}

const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

function queryMessage(text: string): Buffer {
  const message = Buffer.alloc(text.length + 6);
  message.write('Q', 0);
  message.writeInt32BE(text.length + 5, 1);
  message.write(text, 5);
  return message;
}

function closeStatement(name: string): Buffer {
  const bytes = Buffer.from(name);
  const message = Buffer.alloc(bytes.length + 7);
  message.write('C', 0);
  message.writeInt32BE(bytes.length + 6, 1);
  message.write('S', 5);
  bytes.copy(message, 6);
  return message;
}

function firstOf<T>(set: ReadonlySet<T>): T | undefined {
  for (const value of set) return value;
  return undefined;
}
