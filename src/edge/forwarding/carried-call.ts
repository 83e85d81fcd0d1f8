/**
 * The owner's side of a forwarded call: what uWebSockets gives for a request of its own, over a stream to the node that took the request. So
 * everything behind it is the same for both. It follows uWebSockets where that shows: an answer that is begun is never taken back, bytes of a
 * body are lent for one turn, and what nobody receives is dropped.
 */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { type AnswerHead, encodeHead, type RequestHead, SHORT_BODY_BYTES } from './heads.ts';
import type { PeerStream } from './peer-stream.ts';

const NO_BYTES = new Uint8Array(0);
type OnData = (chunk: ArrayBuffer, isLast: boolean) => void;

/** As `Exchange` reads it. */
export function carriedRequest({ method, path, query, headers }: RequestHead): HttpRequest {
  const request = {
    getCaseSensitiveMethod: () => method,
    getUrl: () => path,
    getQuery: () => query,
    forEach(each: (name: string, value: string) => void) {
      for (let at = 0; at < headers.length; at += 2) each(headers[at] ?? '', headers[at + 1] ?? '');
    },
  };
  return request as unknown as HttpRequest;
}

/** As `Exchange`, `ResponseSink` and `sendWhole` use it. */
export function carriedResponse(stream: PeerStream, head: RequestHead, contentLength: number): HttpResponse {
  return new CarriedResponse(stream, head.address, contentLength) as unknown as HttpResponse;
}

export class CarriedResponse {
  readonly #stream: PeerStream;
  readonly #address: string;
  /** Of the body that is still to come. */
  #awaitedBytes: number;
  /** What has come before anybody receives it; no more than a window. */
  readonly #early: Buffer[] = [];
  #onData: OnData | undefined;
  #onAborted: (() => void) | undefined;
  #onWritable: ((offset: number) => boolean) | undefined;
  #isPaused = false;
  /** Received while paused: the sender gets no credit for it. */
  #heldBytes = 0;
  #status = '200 OK';
  readonly #headers: string[] = [];
  #isBegun = false;
  #isOver = false;
  #offset = 0;
  /** What a body of unknown length has beyond the room of the stream. */
  readonly #backlog: Uint8Array[] = [];
  #endsAfterBacklog = false;

  constructor(stream: PeerStream, address: string, contentLength: number) {
    this.#stream = stream;
    this.#address = address;
    this.#awaitedBytes = contentLength;
    stream.events = {
      data: (payload) => this.#receive(payload),
      end: () => undefined,
      writable: () => this.#writable(),
      reset: () => this.#abort(),
    };
  }

  getRemoteAddressAsText(): ArrayBuffer {
    const bytes = Buffer.from(this.#address, 'latin1');
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  }

  cork(run: () => void): void {
    // What is sent in one turn leaves in one write anyway.
    run();
  }

  onAborted(run: () => void): void {
    this.#onAborted = run;
  }

  onData(run: OnData): void {
    this.#onData = run;
    if (this.#early.length === 0) return;
    // In a later step, as with uWebSockets: whoever receives has finished saying so.
    queueMicrotask(() => {
      for (const chunk of this.#early.splice(0)) this.#deliver(chunk);
    });
  }

  onWritable(run: (offset: number) => boolean): void {
    this.#onWritable = run;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    const held = this.#heldBytes;
    this.#heldBytes = 0;
    if (held > 0) this.#stream.took(held);
  }

  close(): void {
    this.#stream.reset();
    this.#abort();
  }

  writeStatus(status: string): void {
    this.#status = status;
  }

  writeHeader(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  getWriteOffset(): number {
    return this.#offset;
  }

  /** A body of this length. Takes what the stream has room for. */
  tryEnd(chunk: Uint8Array | string, lengthBytes: number): [boolean, boolean] {
    const bytes = bytesOf(chunk);
    if (!this.#isBegun && bytes.length === lengthBytes && lengthBytes <= SHORT_BODY_BYTES) {
      this.#finish('whole', bytes, false);
      return [true, true];
    }
    this.#begin('length', lengthBytes);
    const part = bytes.subarray(0, this.#stream.room);
    if (part.length > 0) this.#stream.data(part);
    this.#offset += part.length;
    if (this.#offset === lengthBytes) {
      this.#isOver = true;
      this.#stream.end();
      return [true, true];
    }
    return [part.length === bytes.length, false];
  }

  /** A part of a body of unknown length. False where it waits for room. */
  write(chunk: Uint8Array | string): boolean {
    this.#begin('open', 0);
    this.#backlog.push(bytesOf(chunk));
    return this.#sendBacklog();
  }

  end(chunk: Uint8Array | string = NO_BYTES, closes = false): void {
    if (this.#isBegun) {
      this.#endsAfterBacklog = true;
      this.#sendBacklog();
    } else this.#finish('whole', bytesOf(chunk), closes);
  }

  endWithoutBody(_lengthBytes?: number, closes = false): void {
    this.#finish('none', NO_BYTES, closes);
  }

  #begin(body: AnswerHead['body'], lengthBytes: number): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#stream.head(encodeHead(this.#head(body, lengthBytes, false)));
  }

  /** Head and body in one frame where they fit. */
  #finish(body: 'whole' | 'none', bytes: Uint8Array, closes: boolean): void {
    if (this.#isOver) return;
    if (bytes.length > SHORT_BODY_BYTES) {
      // Only an answer after which the connection closes is given whole like this; uWebSockets would copy it as well.
      this.#begin('open', 0);
      this.#backlog.push(bytes);
      this.#endsAfterBacklog = true;
      this.#sendBacklog();
      return;
    }
    this.#isBegun = true;
    this.#isOver = true;
    this.#offset = bytes.length;
    this.#stream.head(encodeHead(this.#head(body, bytes.length, closes), bytes));
    this.#stream.end();
  }

  #head(body: AnswerHead['body'], lengthBytes: number, closes: boolean): AnswerHead {
    return { status: this.#status, headers: this.#headers, body, lengthBytes, closes };
  }

  /** Whether nothing of it waits any more. */
  #sendBacklog(): boolean {
    for (let first = this.#backlog[0]; first !== undefined; first = this.#backlog[0]) {
      const part = first.subarray(0, this.#stream.room);
      if (part.length > 0) this.#stream.data(part);
      if (part.length < first.length) {
        // Copied, because it is lent for this turn.
        this.#backlog[0] = Buffer.from(first.subarray(part.length));
        for (let at = 1; at < this.#backlog.length; at += 1) this.#backlog[at] = Buffer.from(this.#backlog[at] as Uint8Array);
        return false;
      }
      this.#backlog.shift();
    }
    if (this.#endsAfterBacklog && !this.#isOver) {
      this.#isOver = true;
      this.#stream.end();
    }
    return true;
  }

  #writable(): void {
    if (this.#isOver || !this.#isBegun) return;
    if (this.#backlog.length > 0 && !this.#sendBacklog()) return;
    if (!this.#isOver) this.#onWritable?.(this.#offset);
  }

  #receive(payload: Buffer): void {
    if (this.#onData === undefined && !this.#isOver) this.#early.push(Buffer.from(payload));
    else this.#deliver(payload);
  }

  #deliver(payload: Buffer): void {
    if (this.#isPaused) this.#heldBytes += payload.length;
    else this.#stream.took(payload.length);
    this.#awaitedBytes -= payload.length;
    const chunk = payload.buffer.slice(payload.byteOffset, payload.byteOffset + payload.length) as ArrayBuffer;
    this.#onData?.(chunk, this.#awaitedBytes <= 0);
  }

  #abort(): void {
    // Once the answer is complete nobody is told any more, as with uWebSockets.
    if (this.#isOver) return;
    this.#isOver = true;
    this.#backlog.length = 0;
    this.#onAborted?.();
  }
}

function bytesOf(chunk: Uint8Array | string): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}
