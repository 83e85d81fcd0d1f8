/** One keep-alive connection of the open-loop generator: one request at a time, with a minimal parser for answers. */
import { connect, type Socket } from 'node:net';

/** `status` 0: the connection broke before the answer was whole. */
type Answered = (connection: PacedConnection, status: number) => void;

// All connections share one read buffer, because each chunk is parsed before the next one is read.
const CHUNK = Buffer.alloc(256 * 1024);
const CONTENT_LENGTH = /\r\ncontent-length: ?(\d+)/i;
const STATUS_AT = 'HTTP/1.1 '.length;

export class PacedConnection {
  /** The generator's number of the current call. */
  call = -1;
  readonly #socket: Socket;
  readonly #answered: Answered;
  #status = 0;
  #head = '';
  #bodyBytesLeft = 0;
  #open = true;

  private constructor(port: number, answered: Answered, opened: () => void, failed: (error: Error) => void) {
    this.#answered = answered;
    this.#socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer: CHUNK,
        callback: (bytes) => {
          this.#received(bytes);
          return true;
        },
      },
    });
    this.#socket.once('connect', opened);
    this.#socket.on('error', failed);
    this.#socket.once('close', () => {
      this.#open = false;
      if (this.call >= 0) this.#answered(this, 0);
    });
  }

  static open(port: number, answered: Answered): Promise<PacedConnection> {
    return new Promise((resolve, reject) => {
      const connection: PacedConnection = new PacedConnection(port, answered, () => resolve(connection), reject);
    });
  }

  get isOpen(): boolean {
    return this.#open;
  }

  send(call: number, request: Buffer): void {
    this.call = call;
    this.#status = 0;
    this.#socket.write(request);
  }

  close(): void {
    this.call = -1;
    this.#socket.destroy();
  }

  #received(bytes: number): void {
    if (this.#status === 0) {
      const text = this.#head + CHUNK.toString('latin1', 0, bytes);
      const headEnd = text.indexOf('\r\n\r\n');
      if (headEnd < 0) {
        this.#head = text;
        return;
      }
      this.#head = '';
      this.#status = Number(text.slice(STATUS_AT, STATUS_AT + 3));
      const length = CONTENT_LENGTH.exec(text)?.[1];
      if (length === undefined) throw new Error(`An answer has no Content-Length:\n${text.slice(0, headEnd)}`);
      this.#bodyBytesLeft = Number(length) - (text.length - headEnd - 4);
    } else {
      this.#bodyBytesLeft -= bytes;
    }
    if (this.#bodyBytesLeft === 0) this.#answered(this, this.#status);
  }
}
