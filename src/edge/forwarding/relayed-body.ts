/** The body of a call that is forwarded: passed on as it arrives and as the owner has room. A short one is kept until the answer, to be sent again. */
import type { Exchange } from '../exchange.ts';
import type { PeerStream } from './peer-stream.ts';

/** What may wait here for the owner, beyond its own window. */
const WAITING_BYTES_MAX = 64 * 1024;

export class RelayedBody {
  readonly #exchange: Exchange;
  /** All that has arrived, where it is kept. */
  readonly #kept: Buffer[] | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isComplete = false;
  #isAnswered = false;
  #stream: PeerStream | undefined;

  constructor(exchange: Exchange, isKept: boolean) {
    this.#exchange = exchange;
    this.#kept = isKept ? [] : undefined;
    exchange.receive(
      (chunk, isLast) => this.#arrived(chunk, isLast),
      () => this.#stream?.reset(),
    );
  }

  /** Whether it can be sent to another node from its beginning. */
  get canRepeat(): boolean {
    return this.#kept !== undefined;
  }

  relayTo(stream: PeerStream): void {
    if (this.#kept !== undefined && this.#stream !== undefined) {
      this.#waiting = [...this.#kept];
      this.#waitingBytes = this.#waiting.reduce((sum, { length }) => sum + length, 0);
    }
    this.#stream = stream;
    this.flush();
  }

  /** Sends what the owner has room for. */
  flush(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    while (this.#waiting.length > 0) {
      const first = this.#waiting[0] as Buffer;
      const room = stream.room;
      if (room === 0) break;
      const part = first.subarray(0, room);
      stream.data(part);
      this.#waitingBytes -= part.length;
      if (part.length === first.length) this.#waiting.shift();
      else this.#waiting[0] = first.subarray(part.length);
    }
    if (this.#waitingBytes > WAITING_BYTES_MAX) return;
    this.#exchange.resumeBody();
    if (this.#isComplete && this.#waiting.length === 0) stream.end();
  }

  /** The owner has answered: what still arrives is of no use. */
  answered(): void {
    this.#isAnswered = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#stream?.end();
    this.#exchange.resumeBody();
  }

  /** This node reads the body itself. */
  handBack(): void {
    this.#isAnswered = true;
    this.#exchange.keepBody(this.#kept === undefined ? this.#waiting : this.#kept, this.#isComplete);
  }

  #arrived(chunk: ArrayBuffer, isLast: boolean): void {
    if (isLast) this.#isComplete = true;
    if (this.#isAnswered) return;
    // Copied, because it is borrowed.
    const bytes = Buffer.from(Buffer.from(chunk));
    this.#kept?.push(bytes);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.flush();
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.#exchange.pauseBody();
  }
}
