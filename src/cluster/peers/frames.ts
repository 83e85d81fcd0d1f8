/**
 * The frames of a connection between two nodes: type (1 byte), stream (4), length of the payload (4), payload; numbers are big-endian.
 * Streams are opened by the node that connected, one for each call that it forwards.
 */

export const FRAME = {
  /** Opens the stream: the head of a request. */
  open: 1,
  /** The head of the answer. */
  head: 2,
  /** Bytes of the body, in either direction. Only these take credit. */
  data: 3,
  /** Nothing more comes from this side. */
  end: 4,
  /** The stream is over at once, for both sides. */
  reset: 5,
  /** So many bytes more may be sent on the stream: 4 bytes. */
  credit: 6,
  /** Stream 0. Answered with `pong`. */
  ping: 7,
  pong: 8,
} as const;

export type FrameType = (typeof FRAME)[keyof typeof FRAME];

const FRAME_HEAD_BYTES = 9;
/** A body is cut into such pieces, so that those of other streams come in between. */
export const DATA_BYTES_MAX = 64 * 1024;
/** The heads that a client may send are smaller. */
export const HEAD_BYTES_MAX = 128 * 1024;
const TYPE_MAX = FRAME.pong;

export interface Frame {
  readonly type: FrameType;
  readonly stream: number;
  /** A view of received memory: copy what is kept. */
  readonly payload: Buffer;
}

export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame';
}

export function frameHead(type: FrameType, stream: number, bytes: number): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  head[0] = type;
  head.writeUInt32BE(stream, 1);
  head.writeUInt32BE(bytes, 5);
  return head;
}

export function creditFrame(stream: number, bytes: number): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + 4);
  frameHead(FRAME.credit, stream, 4).copy(frame);
  frame.writeUInt32BE(bytes, FRAME_HEAD_BYTES);
  return frame;
}

/** Cuts received bytes into frames. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** With less there is no whole frame. */
  #needed = FRAME_HEAD_BYTES;

  /** Throws `MalformedFrame`, after which nothing more can be read. */
  read(received: Buffer, onFrame: (frame: Frame) => void): void {
    this.#pieces.push(received);
    this.#bytes += received.length;
    if (this.#bytes < this.#needed) return;
    // Joined only when a frame is whole, so that a large one is copied once.
    const input = this.#pieces.length === 1 ? received : Buffer.concat(this.#pieces, this.#bytes);
    let at = 0;
    this.#needed = FRAME_HEAD_BYTES;
    while (input.length - at >= FRAME_HEAD_BYTES) {
      const length = lengthAt(input, at);
      const end = at + FRAME_HEAD_BYTES + length;
      if (end > input.length) {
        this.#needed = end - at;
        break;
      }
      onFrame({
        type: input[at] as FrameType,
        stream: input.readUInt32BE(at + 1),
        payload: input.subarray(at + FRAME_HEAD_BYTES, end),
      });
      at = end;
    }
    this.#pieces = at === input.length ? [] : [input.subarray(at)];
    this.#bytes = input.length - at;
  }
}

function lengthAt(input: Buffer, at: number): number {
  const type = input[at] ?? 0;
  const length = input.readUInt32BE(at + 5);
  const isHead = type === FRAME.open || type === FRAME.head;
  if (type < FRAME.open || type > TYPE_MAX || length > (isHead ? HEAD_BYTES_MAX : DATA_BYTES_MAX))
    throw new MalformedFrame(`a frame of type ${type} with ${length} bytes`);
  return length;
}
