/** Bounds what waits in memory for slow peers: whole documents may be large, and many may ask for one at once. */

/** Less than this is always sent: it is bounded by the number of connections. */
const SMALL_BYTES = 256 * 1024;

/** Somebody to whom much is to be sent. */
export interface Receiver {
  /** There may be room for it now: try again. */
  roomAgain(): void;
}

export class Outflow {
  readonly #bytesMax: number;
  /** What is on its way to each, in bytes. */
  readonly #flowing = new Map<Receiver, number>();
  readonly #waiting = new Set<Receiver>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether so much may be sent now; where not, `roomAgain` follows. One is always let through, however much it gets. */
  admits(receiver: Receiver, bytes: number): boolean {
    if (bytes < SMALL_BYTES || this.#flowing.size === 0 || this.#bytes + bytes <= this.#bytesMax) return true;
    this.#waiting.add(receiver);
    return false;
  }

  /** So much is on its way and waits for the peer, until `arrived`. */
  flowing(receiver: Receiver, bytes: number): void {
    if (bytes < SMALL_BYTES) return;
    this.#bytes += bytes;
    this.#flowing.set(receiver, (this.#flowing.get(receiver) ?? 0) + bytes);
  }

  /** Nothing waits for it any more; others that did not fit in before are told. */
  arrived(receiver: Receiver): void {
    this.#waiting.delete(receiver);
    const bytes = this.#flowing.get(receiver);
    if (bytes === undefined) return;
    this.#flowing.delete(receiver);
    this.#bytes -= bytes;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const other of waiting) other.roomAgain();
  }
}
