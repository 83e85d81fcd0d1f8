/** The frames of a connection between two nodes. Their ids are streams, opened by the node that connected, one for each call that it forwards. */
import { FRAME_HEAD_BYTES, frameHead } from '../../edge/forwarding/framing.ts';

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

/** A body is cut into such pieces, so that those of other streams come in between. */
export const DATA_BYTES_MAX = 64 * 1024;
/** The heads that a client may send are smaller. */
export const HEAD_BYTES_MAX = 128 * 1024;

export function frameBytesMax(type: number): number | undefined {
  if (type < FRAME.open || type > FRAME.pong) return undefined;
  return type === FRAME.open || type === FRAME.head ? HEAD_BYTES_MAX : DATA_BYTES_MAX;
}

export function creditFrame(stream: number, bytes: number): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + 4);
  frameHead(FRAME.credit, stream, 4).copy(frame);
  frame.writeUInt32BE(bytes, FRAME_HEAD_BYTES);
  return frame;
}
