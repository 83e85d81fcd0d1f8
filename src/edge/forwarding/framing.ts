/** Frames between nodes: type (1 byte), id (4), length of the payload (4), payload; numbers are big-endian. */

export const FRAME_HEAD_BYTES = 9;

export interface Frame<T extends number = number> {
  readonly type: T;
  readonly id: number;
  /** A view of received memory: copy what is kept. */
  readonly payload: Buffer;
}

export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame';
}

export function frameHead(type: number, id: number, bytes: number): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  head[0] = type;
  head.writeUInt32BE(id, 1);
  head.writeUInt32BE(bytes, 5);
  return head;
}

/** Cuts received bytes into frames. `bytesMax` of a type is undefined where there is no such type. */
export class FrameReader<T extends number = number> {
  readonly #bytesMax: (type: number) => number | undefined;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** With less there is no whole frame. */
  #needed = FRAME_HEAD_BYTES;

  constructor(bytesMax: (type: number) => number | undefined) {
    this.#bytesMax = bytesMax;
  }

  /** Throws `MalformedFrame`, after which nothing more can be read. `received` is kept while a frame in it is incomplete. */
  read(received: Buffer, onFrame: (frame: Frame<T>) => void): void {
    this.#pieces.push(received);
    this.#bytes += received.length;
    if (this.#bytes < this.#needed) return;
    // Joined only when a frame is whole, so that a large one is copied once.
    const input = this.#pieces.length === 1 ? received : Buffer.concat(this.#pieces, this.#bytes);
    let at = 0;
    this.#needed = FRAME_HEAD_BYTES;
    while (input.length - at >= FRAME_HEAD_BYTES) {
      const end = at + FRAME_HEAD_BYTES + this.#lengthAt(input, at);
      if (end > input.length) {
        this.#needed = end - at;
        break;
      }
      onFrame({ type: input[at] as T, id: input.readUInt32BE(at + 1), payload: input.subarray(at + FRAME_HEAD_BYTES, end) });
      at = end;
    }
    this.#pieces = at === input.length ? [] : [input.subarray(at)];
    this.#bytes = input.length - at;
  }

  #lengthAt(input: Buffer, at: number): number {
    const type = input[at] ?? 0;
    const length = input.readUInt32BE(at + 5);
    const max = this.#bytesMax(type);
    if (max === undefined || length > max) throw new MalformedFrame(`a frame of type ${type} with ${length} bytes`);
    return length;
  }
}
