/** What the embedded database answers, copied out of its memory into blocks that are used again once the client has them. */
import type { Socket } from 'node:net';
import type { SpareBuffers } from '../platform/spare-buffers.ts';

const BLOCK_BYTES = 64 * 1024;
/** ReadyForQuery: type, length, and the state of the transaction. */
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5]);

export class PGliteOutput {
  readonly #spare: SpareBuffers;
  /** All but the last are full. */
  readonly #blocks: Buffer[] = [];
  #lastBytes = BLOCK_BYTES;

  constructor(spare: SpareBuffers) {
    this.#spare = spare;
  }

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      let block = this.#blocks.at(-1);
      if (block === undefined || this.#lastBytes === BLOCK_BYTES) {
        block = this.#spare.take(BLOCK_BYTES);
        this.#blocks.push(block);
        this.#lastBytes = 0;
      }
      const part = bytes.subarray(at, at + BLOCK_BYTES - this.#lastBytes);
      block.set(part, this.#lastBytes);
      this.#lastBytes += part.length;
      at += part.length;
    }
  }

  /** The state of the transaction where the answer is complete: the last byte of ReadyForQuery. */
  get readyState(): number | undefined {
    const ends = this.#filled().slice(-2);
    const end = Buffer.concat(ends.map((block) => block.subarray(-(READY_FOR_QUERY.length + 1)))).subarray(-(READY_FOR_QUERY.length + 1));
    return end.subarray(0, -1).equals(READY_FOR_QUERY) ? end.at(-1) : undefined;
  }

  writeTo(socket: Socket): void {
    socket.cork();
    for (const block of this.#filled()) socket.write(block, () => this.#spare.give(block));
    socket.uncork();
  }

  #filled(): Buffer[] {
    const last = this.#blocks.length - 1;
    return this.#blocks.map((block, at) => (at === last ? block.subarray(0, this.#lastBytes) : block));
  }
}
