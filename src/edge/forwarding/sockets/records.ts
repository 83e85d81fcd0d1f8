/**
 * What two nodes say about the WebSockets that one of them keeps for the other: the front has the client, the owner has the artifact. A record is
 * a frame whose id is the socket, which the front numbers.
 */

export const RECORD = {
  /** Front: a client asks for a WebSocket. Payload: the head of its request. */
  open: 1,
  /** Front: the client has left. Payload: close code (2 bytes), reason. */
  closed: 2,
  /** Front: a published frame was dropped, because the client does not read. */
  dropped: 3,
  /** Front: so many bytes more have reached the client's socket (4 bytes), of which so many wait there (4). */
  taken: 4,
  /** Owner: there is no WebSocket. Payload: the head of the answer; empty where the connection is to be closed without one. */
  refused: 5,
  /** Owner: there is one. */
  upgraded: 6,
  /** Owner: the client gets what is published to the topic. Payload: the topic. */
  subscribe: 7,
  unsubscribe: 8,
  /** Owner, id 0: a frame for all subscribers of a topic; see `encodePublished`. */
  publish: 9,
  /** Owner: close the connection. Payload: close code (2 bytes), reason. */
  end: 10,
  /** Owner: cut the connection. */
  cut: 11,
  /** Either: the beginning of a message, or of what is published, whose rest follows with the same id. */
  piece: 12,
  text: 13,
  binary: 14,
  /** Owner, id 0: one message for several sockets; see `encodeShared`. */
  shared: 15,
} as const;

/** Longer payloads go in pieces, so that those of other sockets come in between. */
export const PIECE_BYTES = 32 * 1024;
/** Heads of requests and answers are the longest that are not cut into pieces. */
const RECORD_BYTES_MAX = 128 * 1024;

export function recordBytesMax(type: number): number | undefined {
  if (type < RECORD.open || type > RECORD.shared) return undefined;
  return type === RECORD.piece ? PIECE_BYTES : RECORD_BYTES_MAX;
}

const CODE_BYTES = 2;

export function encodeClose(code: number, reason: Uint8Array): Buffer {
  const payload = Buffer.allocUnsafe(CODE_BYTES + reason.length);
  payload.writeUInt16BE(code, 0);
  payload.set(reason, CODE_BYTES);
  return payload;
}

export function decodeClose(payload: Buffer): { readonly code: number; readonly reason: Buffer } {
  return { code: payload.readUInt16BE(0), reason: payload.subarray(CODE_BYTES) };
}

export function encodeTaken(bytes: number, waitingBytes: number): Buffer {
  const payload = Buffer.allocUnsafe(8);
  payload.writeUInt32BE(bytes, 0);
  payload.writeUInt32BE(waitingBytes, 4);
  return payload;
}

export function decodeTaken(payload: Buffer): { readonly bytes: number; readonly waitingBytes: number } {
  return { bytes: payload.readUInt32BE(0), waitingBytes: payload.readUInt32BE(4) };
}

export interface Published {
  readonly topic: string;
  readonly isBinary: boolean;
  /** Sockets that have subscribed to the topic and do not get this frame: its author, and those that get it behind what they still wait for. */
  readonly except: readonly number[];
  readonly frame: Uint8Array;
}

/** Whether it is binary (1), length of the topic (2), topic, number of exceptions (4), exceptions (4 each), frame. */
export function encodePublished({ topic, isBinary, except, frame }: Published): Buffer {
  const topicBytes = Buffer.byteLength(topic);
  const payload = Buffer.allocUnsafe(7 + topicBytes + 4 * except.length + frame.length);
  payload[0] = isBinary ? 1 : 0;
  payload.writeUInt16BE(topicBytes, 1);
  payload.write(topic, 3);
  let at = payload.writeUInt32BE(except.length, 3 + topicBytes);
  for (const id of except) at = payload.writeUInt32BE(id, at);
  payload.set(frame, at);
  return payload;
}

export function decodePublished(payload: Buffer): Published {
  const topicEnd = 3 + payload.readUInt16BE(1);
  const count = payload.readUInt32BE(topicEnd);
  const exceptEnd = topicEnd + 4 + 4 * count;
  const except: number[] = [];
  for (let at = topicEnd + 4; at < exceptEnd; at += 4) except.push(payload.readUInt32BE(at));
  return { topic: payload.toString('utf8', 3, topicEnd), isBinary: payload[0] === 1, except, frame: payload.subarray(exceptEnd) };
}

export interface Shared {
  readonly ids: readonly number[];
  readonly isBinary: boolean;
  readonly message: Uint8Array;
}

/** Whether it is binary (1), number of sockets (4), sockets (4 each), message. */
export function encodeShared({ ids, isBinary, message }: Shared): Buffer {
  const payload = Buffer.allocUnsafe(5 + 4 * ids.length + message.length);
  payload[0] = isBinary ? 1 : 0;
  let at = payload.writeUInt32BE(ids.length, 1);
  for (const id of ids) at = payload.writeUInt32BE(id, at);
  payload.set(message, at);
  return payload;
}

export function decodeShared(payload: Buffer): Omit<Shared, 'message'> & { readonly message: Buffer } {
  const end = 5 + 4 * payload.readUInt32BE(1);
  const ids: number[] = [];
  for (let at = 5; at < end; at += 4) ids.push(payload.readUInt32BE(at));
  return { ids, isBinary: payload[0] === 1, message: payload.subarray(end) };
}
