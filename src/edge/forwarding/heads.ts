/** The heads of a forwarded call: of its request and of its answer, as JSON, in front of what is short enough to go along. */
import type { RequestHeaders } from '../headers.ts';

/** A body up to this size travels in the frame of its head. */
export const SHORT_BODY_BYTES = 64 * 1024;

export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Name, value, name, value … */
  readonly headers: readonly string[];
  /** As the node that took the request decided it. */
  readonly address: string;
}

export interface AnswerHead {
  readonly status: string;
  /** Name, value, name, value … */
  readonly headers: readonly string[];
  /** `whole`: the body is behind this head. `length`: so many bytes follow. `open`: they follow until the end. `none`: there is no body. */
  readonly body: 'whole' | 'length' | 'open' | 'none';
  readonly lengthBytes: number;
  /** The connection of the client closes after the answer. */
  readonly closes: boolean;
}

const LENGTH_BYTES = 4;

/** Opens a stream that carries WebSockets instead of one call. */
export interface LaneHead {
  readonly lane: 'sockets';
}

export type Head = RequestHead | AnswerHead | LaneHead;

export function encodeHead(head: Head, body?: Uint8Array): Buffer {
  const text = JSON.stringify(head);
  const textBytes = Buffer.byteLength(text);
  const payload = Buffer.allocUnsafe(LENGTH_BYTES + textBytes + (body?.length ?? 0));
  payload.writeUInt32BE(textBytes, 0);
  payload.write(text, LENGTH_BYTES);
  if (body !== undefined) payload.set(body, LENGTH_BYTES + textBytes);
  return payload;
}

/** The peer is a node like this one, proved by the secret: its heads have these fields. `body` is a view. */
export function decodeHead<H extends Head>(payload: Buffer): { readonly head: H; readonly body: Buffer } {
  const end = LENGTH_BYTES + payload.readUInt32BE(0);
  return { head: JSON.parse(payload.toString('utf8', LENGTH_BYTES, end)) as H, body: payload.subarray(end) };
}

/** All headers as they came, but for the id of the request, which is the one that this node has given it. */
export function headersOf(headers: RequestHeaders, requestId: string): string[] {
  return [...headers.all(), 'x-request-id', requestId];
}
