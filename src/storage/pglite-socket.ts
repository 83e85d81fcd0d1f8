/**
 * Lets several connections share PGlite's one session over a unix socket.
 *
 * `@electric-sql/pglite-socket` takes turns by message: between one connection's Bind and Execute another's Bind can replace
 * the unnamed portal, and an error makes the backend skip messages of the next connection. Here a connection owns the session
 * from its first message until the backend says ReadyForQuery outside a transaction. The session then goes to the waiting connection that has
 * used it least, so that a commit waits for one slice of a long read at most, not for a slice of each read.
 */
import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';
import { SpareBuffers } from '../platform/spare-buffers.ts';
import { PGliteOutput } from './pglite-output.ts';

/** While others wait, an owner that is idle in a transaction for this long is disconnected, as a server would do. */
const IDLE_IN_TRANSACTION_MS_MAX = 30_000;
/** What a connection that was silent may be ahead of those that were not. */
const LEAD_MS = 20;
/** After a longer statement what has arrived meanwhile is received before the next one is chosen. */
const RECEIVE_AFTER_MS = 1;
/** Postgres' own limit of one message. */
const MESSAGE_BYTES_MAX = 1024 * 1024 * 1024;

const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;
const CANCEL_REQUEST = 80_877_102;
const IDLE = 'I'.charCodeAt(0);

const PARSE = 'P'.charCodeAt(0);
const TERMINATE = 'X'.charCodeAt(0);

/** One client of the socket. */
class Connection {
  readonly socket: Socket;
  /** Received but not executed yet. */
  readonly pending: Buffer[] = [];
  started = false;
  closed = false;
  /** How long it has had the session. */
  usedMs = 0;
  /** Its prepared statements in the shared session, dropped when it closes. */
  readonly statements = new Set<string>();
  /** The received pieces of an incomplete message. */
  readonly #pieces: Buffer[] = [];
  #piecesBytes = 0;
  /** Length of that message; 0 while it is unknown. */
  #messageBytes = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /**
   * All bytes that were received and not taken, or null while the message is incomplete. The pieces are joined only once, because joining
   * at each piece would copy a large message for every 64 KB of it.
   */
  join(bytes: Buffer): Buffer | null {
    this.#pieces.push(bytes);
    this.#piecesBytes += bytes.length;
    if (this.#piecesBytes < this.#messageBytes) return null;
    const input = this.#pieces.length === 1 ? bytes : Buffer.concat(this.#pieces, this.#piecesBytes);
    this.keep(Buffer.alloc(0), 0);
    return input;
  }

  /** Keeps the beginning of a message of `messageBytes`; 0 if its length is unknown. */
  keep(beginning: Buffer, messageBytes: number): void {
    this.#pieces.length = 0;
    if (beginning.length > 0) this.#pieces.push(beginning);
    this.#piecesBytes = beginning.length;
    this.#messageBytes = messageBytes;
  }
}

export class PGliteSocket {
  readonly #db: PGlite;
  readonly #nowMs: () => number;
  readonly #spare = new SpareBuffers();
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  /** Connections with messages to execute, in order of arrival. */
  readonly #waiting = new Set<Connection>();
  /** What those that were served last have used. */
  #servedMs = 0;
  #isScheduled = false;
  #owner: Connection | null = null;
  /** Prepared statements of closed connections, dropped once no other connection is in a transaction. */
  readonly #orphans: Buffer[] = [];
  #ownerDeadline: NodeJS.Timeout | undefined;

  constructor(db: PGlite, nowMs: () => number = () => performance.now()) {
    this.#db = db;
    this.#nowMs = nowMs;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  listen(path: string): Promise<void> {
    rmSync(path, { force: true });
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(path, resolve);
    });
  }

  /** Closes every connection and rolls back open transactions. */
  async close(): Promise<void> {
    for (const connection of [...this.#connections]) this.#drop(connection);
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(socket: Socket): void {
    const connection = new Connection(socket);
    this.#connections.add(connection);
    socket.on('data', (bytes) => this.#receive(connection, bytes));
    socket.on('close', () => this.#drop(connection));
    // The 'close' event follows and cleans up.
    socket.on('error', () => undefined);
  }

  #receive(connection: Connection, bytes: Buffer): void {
    // A large message takes a while to arrive, and its sender is not idle.
    if (connection === this.#owner) this.#ownerDeadline?.refresh();
    const input = connection.join(bytes);
    if (input === null) return;
    let at = 0;
    let begin = 0;
    while (at < input.length) {
      const length = messageLength(input, at, connection.started);
      if (length !== null && (length < 4 || length > MESSAGE_BYTES_MAX)) {
        this.#drop(connection);
        return;
      }
      if (length === null || at + length > input.length) {
        // Copied, because a view would keep the message before it in memory.
        connection.keep(Buffer.from(input.subarray(at)), length ?? 0);
        break;
      }
      const isForBackend = this.#take(connection, input.subarray(at, at + length));
      if (connection.closed) return;
      at += length;
      if (!isForBackend) begin = at;
    }
    // One view of all messages, without a copy, because messages that are not for the backend come first.
    if (begin < at) connection.pending.push(input.subarray(begin, at));
    if (connection.pending.length === 0) return;
    this.#wait(connection);
    this.#schedule();
  }

  /** Whether the message is for the backend. */
  #take(connection: Connection, message: Buffer): boolean {
    if (!connection.started) {
      const code = message.readInt32BE(4);
      if (code === SSL_REQUEST || code === GSS_REQUEST) {
        connection.socket.write('N');
        return false;
      }
      if (code === CANCEL_REQUEST) {
        this.#drop(connection);
        return false;
      }
      connection.started = true;
      return true;
    }
    if (message[0] === TERMINATE) {
      this.#drop(connection);
      return false;
    }
    if (message[0] === PARSE) {
      const name = message.toString('utf8', 5, message.indexOf(0, 5));
      if (name !== '') connection.statements.add(name);
    }
    return true;
  }

  #wait(connection: Connection): void {
    if (this.#waiting.has(connection)) return;
    // A silence does not save up turns beyond the lead.
    connection.usedMs = Math.max(connection.usedMs, this.#servedMs - LEAD_MS);
    this.#waiting.add(connection);
  }

  /** Executes what can be executed. PGlite is synchronous, so nothing runs within a statement. */
  #run(): void {
    for (;;) {
      const connection = this.#owner ?? leastUsed(this.#waiting);
      if (connection === undefined || !this.#waiting.delete(connection)) return;
      this.#servedMs = Math.max(this.#servedMs, connection.usedMs);
      const beganMs = this.#nowMs();
      const output = this.#execute(joined(connection.pending.splice(0)));
      const tookMs = this.#nowMs() - beganMs;
      connection.usedMs += tookMs;
      this.#own(output.readyState === IDLE ? null : connection);
      if (!connection.closed) output.writeTo(connection.socket);
      if (tookMs > RECEIVE_AFTER_MS && this.#waiting.size > 0) {
        this.#schedule();
        return;
      }
    }
  }

  /** Runs after everything that has arrived was received, so that the choice is among all who wait. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#run();
    });
  }

  #execute(input: Uint8Array): PGliteOutput {
    const output = new PGliteOutput(this.#spare);
    // PGlite does everything before its first await, except the sync of a virtual disk, which is empty here.
    void this.#db.execProtocolRawStream(input, { syncToFs: false, onRawData: (bytes) => output.add(bytes) });
    return output;
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
    this.#schedule();
  }

  #dropOrphans(): void {
    if (this.#orphans.length > 0) this.#execute(Buffer.concat([...this.#orphans.splice(0), SYNC]));
  }
}

/** Length of the message at `at`; null if it is not received yet. */
function messageLength(input: Buffer, at: number, started: boolean): number | null {
  // The first message of a connection has no type byte.
  if (!started) return input.length - at < 8 ? null : input.readInt32BE(at);
  return input.length - at < 5 ? null : 1 + input.readInt32BE(at + 1);
}

/** Does not copy a single piece. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
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

/** Of those that have used the same, the first. */
function leastUsed(connections: ReadonlySet<Connection>): Connection | undefined {
  let least: Connection | undefined;
  for (const connection of connections) if (least === undefined || connection.usedMs < least.usedMs) least = connection;
  return least;
}
