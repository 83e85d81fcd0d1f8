/**
 * The line to somebody's Postgres server, read before the client reads it. The client believes what a server asks for while signing in: it derives
 * a key in the event loop in as many rounds as the server names, and what it cannot read there ends the process as an unhandled rejection.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { SourceFailure } from './target.ts';

/** Everything until the server is ready for the first query. Postgres sends less than 1 KB. */
const GREETING_BYTES_MAX = 64 * 1024;
/** Postgres asks for 4096; 50 000 take some 20 ms. */
const SCRAM_ROUNDS_MAX = 50_000;

/** A type and a length, which counts itself and not the type. */
const HEADER_BYTES = 5;
const LENGTH_BYTES = 4;
const AUTHENTICATION = 0x52;
const READY_FOR_QUERY = 0x5a;
const BACKEND_KEY = 0x4b;
/** The process that serves the connection and its secret, 4 bytes each. */
const BACKEND_KEY_BYTES = 8;
const NOTHING: Buffer = Buffer.alloc(0);

/** How far signing in is, by the code of an authentication message. It only goes forward, so each way is asked for once. */
const SIGN_IN_STEPS: ReadonlyMap<number, number> = new Map([
  [3, 1],
  [5, 1],
  [10, 1],
  [11, 2],
  [12, 3],
  [0, 4],
]);
const SCRAM_CHALLENGE = 11;
/** As the client reads it, every attribute once: of two it would take the last. */
const CHALLENGE = /^r=[^,]+,s=[A-Za-z0-9+/]+=*,i=([1-9]\d{0,9})$/;

/** What a server sends, in whole messages until it is ready for queries. */
class ServerMessages {
  /** Of a message that is not whole yet, or of its header. */
  #held = NOTHING;
  #greetingBytes = 0;
  #isGreeted = false;
  #signInStep = 0;
  #cancelKey: Buffer | undefined;
  /** Of a message behind the greeting, whose header has passed. */
  #passingBytes = 0;

  get cancelKey(): Buffer | undefined {
    return this.#cancelKey;
  }

  /** The bytes that the client may have. Throws SourceFailure. */
  take(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    if (!this.#isGreeted) this.#greetingBytes += chunk.length;
    let at = Math.min(this.#passingBytes, bytes.length);
    this.#passingBytes -= at;
    while (bytes.length - at >= HEADER_BYTES) {
      const size = 1 + bytes.readUInt32BE(at + 1);
      if (size < HEADER_BYTES) throw new SourceFailure('The host does not speak as Postgres does.');
      const available = Math.min(size, bytes.length - at);
      if (!this.#isGreeted && available < size) break;
      this.#check(bytes.subarray(at, at + available));
      this.#passingBytes = size - available;
      at += available;
    }
    this.#held = bytes.subarray(at);
    if (!this.#isGreeted && this.#greetingBytes > GREETING_BYTES_MAX) {
      throw new SourceFailure(`The database sends more than ${GREETING_BYTES_MAX} bytes before it takes a query.`);
    }
    return bytes.subarray(0, at);
  }

  /** `message` is whole during the greeting. */
  #check(message: Buffer): void {
    const type = message[0];
    if (type === READY_FOR_QUERY) this.#isGreeted = true;
    if (type === BACKEND_KEY && !this.#isGreeted && message.length === HEADER_BYTES + BACKEND_KEY_BYTES) {
      this.#cancelKey = Buffer.from(message.subarray(HEADER_BYTES));
    }
    if (type !== AUTHENTICATION) return;
    if (this.#isGreeted) throw new SourceFailure('The database asks to sign in again.');
    const code = message.length < HEADER_BYTES + LENGTH_BYTES ? undefined : message.readUInt32BE(HEADER_BYTES);
    const step = code === undefined ? undefined : SIGN_IN_STEPS.get(code);
    if (step === undefined) throw new SourceFailure('The database signs in in a way that is not known.');
    if (step <= this.#signInStep) throw new SourceFailure('The database asks to sign in again.');
    this.#signInStep = step;
    if (code === SCRAM_CHALLENGE) requireBoundedRounds(message.toString('utf8', HEADER_BYTES + LENGTH_BYTES));
  }
}

function requireBoundedRounds(challenge: string): void {
  const rounds = CHALLENGE.exec(challenge)?.[1];
  if (rounds === undefined) throw new SourceFailure('The database signs in in a way that is not known.');
  if (Number(rounds) <= SCRAM_ROUNDS_MAX) return;
  throw new SourceFailure(`The database asks for ${rounds} rounds of SCRAM; ${SCRAM_ROUNDS_MAX} are allowed.`);
}

/**
 * In place of the socket, because listeners of one event all hear it: what is refused may not reach the client. It is destroyed with a
 * SourceFailure then, and ends as the socket does.
 */
export class PostgresLine extends Duplex {
  readonly #socket: Socket;
  readonly #messages = new ServerMessages();

  constructor(socket: Socket) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    // Before the client listens. It is told by `errored`.
    this.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      if (!this.destroyed) this.#take(chunk);
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => {
      // Behind an end, what has been read before is still to be heard.
      if (!socket.readableEnded) this.destroy();
    });
  }

  /** By which the server ends what it does for this connection; undefined until it has named it. */
  get cancelKey(): Buffer | undefined {
    return this.#messages.cancelKey;
  }

  #take(chunk: Buffer): void {
    try {
      const passed = this.#messages.take(chunk);
      if (passed.length > 0 && !this.push(passed)) this.#socket.pause();
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
