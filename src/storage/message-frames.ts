/**
 * Hands on the messages of the Postgres protocol whole, and no two answers together. The client would join the chunks of a message that is cut,
 * by allocating it once more; and whoever has used up the values of an answer can give their memory back, because no other answer is in it.
 */
import { type SpareBuffers, spareBuffers } from '../platform/spare-buffers.ts';

/** The type of a message and its length, which counts itself. */
const HEAD_BYTES = 5;
/** Postgres' own limit. */
const MESSAGE_BYTES_MAX = 1024 * 1024 * 1024;
/** ReadyForQuery: the end of an answer. */
const READY = 'Z'.charCodeAt(0);

export class MessageFrames {
  readonly #emit: (messages: Buffer) => void;
  readonly #spare: SpareBuffers;
  /** The beginning of a message whose length is not known yet. */
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headBytes = 0;
  /** A message of which a part has come. */
  #message: Buffer | undefined;
  #filled = 0;

  /** `emit` may keep what it gets; the chunks are copied. */
  constructor(emit: (messages: Buffer) => void, spare = spareBuffers) {
    this.#emit = emit;
    this.#spare = spare;
  }

  /** Throws where what comes is not the protocol. */
  receive(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#message !== undefined) at += this.#fill(this.#message, chunk.subarray(at));
      else if (this.#headBytes > 0) at += this.#learnLength(chunk.subarray(at));
      else at += this.#wholeMessages(chunk.subarray(at));
    }
  }

  /** How many bytes it took, as the functions below. */
  #fill(message: Buffer, chunk: Uint8Array): number {
    const part = chunk.subarray(0, message.length - this.#filled);
    message.set(part, this.#filled);
    this.#filled += part.length;
    if (this.#filled === message.length) {
      this.#message = undefined;
      this.#emit(message);
    }
    return part.length;
  }

  #learnLength(chunk: Uint8Array): number {
    const part = chunk.subarray(0, HEAD_BYTES - this.#headBytes);
    this.#head.set(part, this.#headBytes);
    this.#headBytes += part.length;
    if (this.#headBytes === HEAD_BYTES) {
      this.#headBytes = 0;
      const message = this.#spare.take(lengthOf(this.#head, 0));
      message.set(this.#head);
      this.#filled = HEAD_BYTES;
      if (message.length === HEAD_BYTES) this.#emit(message);
      else this.#message = message;
    }
    return part.length;
  }

  /** All whole messages up to the end of an answer together; where the first one is not whole, its beginning. */
  #wholeMessages(chunk: Uint8Array): number {
    let end = 0;
    for (let isReady = false; !isReady && chunk.length - end >= HEAD_BYTES; ) {
      const bytes = lengthOf(chunk, end);
      if (end + bytes > chunk.length) break;
      isReady = chunk[end] === READY;
      end += bytes;
    }
    if (end > 0) {
      const messages = this.#spare.take(end);
      messages.set(chunk.subarray(0, end));
      this.#emit(messages);
      return end;
    }
    if (chunk.length < HEAD_BYTES) {
      this.#head.set(chunk);
      this.#headBytes = chunk.length;
      return chunk.length;
    }
    this.#message = this.#spare.take(lengthOf(chunk, 0));
    this.#filled = 0;
    return this.#fill(this.#message, chunk);
  }
}

/** Of the message at `at`, its type included. */
function lengthOf(bytes: Uint8Array, at: number): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 1);
  if (length < HEAD_BYTES - 1 || length > MESSAGE_BYTES_MAX) throw new Error(`the database sent a message of ${length} bytes`);
  return length + 1;
}
