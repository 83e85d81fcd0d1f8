/**
 * Sends a body that is whole in memory. What the socket takes is copied into the kernel at once, some 2 MB on a quick connection, so a large body
 * is offered in slices between which the event loop is left to others.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { type LoopTurns, loopTurns } from '../platform/loop-turns.ts';
import { spareBuffers } from '../platform/spare-buffers.ts';
import { LARGE_BYTES, type WaitingAnswer } from './answers-in-flight.ts';
import { utf8 } from './utf8.ts';

/** A kernel copies so much in a fraction of a millisecond. */
export const SLICE_BYTES = 256 * 1024;

export interface WholeAnswerDeps {
  /** Whose slices take turns. */
  readonly lane: () => string;
  /** Room for what the reader does not take at once; undefined where there is none. */
  readonly room: (bytes: number) => WaitingAnswer | undefined;
  /** Called where the answer is not over within this turn; `onAborted` runs when the client leaves. */
  readonly detach: (onAborted: () => void) => void;
  readonly onSent: () => void;
  readonly loop?: Pick<LoopTurns, 'run'>;
}

/** Writes the body, of at least one byte. `onSent` runs once, when the socket has taken all of it or the client has gone. Call it corked or in the turn of the request. */
export function sendWhole(response: HttpResponse, payload: string | Uint8Array, deps: WholeAnswerDeps): void {
  // A large text is encoded once, not once for each part.
  const body = typeof payload === 'string' && payload.length > LARGE_BYTES ? Buffer.from(payload) : utf8(payload);
  const bytes = Buffer.byteLength(body);
  if (bytes > SLICE_BYTES) {
    new WholeAnswer(response, body as Uint8Array, deps).write();
    return;
  }
  const [, done] = response.tryEnd(body, bytes);
  if (!done) {
    new WholeAnswer(response, typeof body === 'string' ? Buffer.from(body) : body, deps).writeWhenDrained();
    return;
  }
  if (typeof body !== 'string') spareBuffers.give(body);
  deps.onSent();
}

/**
 * A body that is not sent in one turn. `end` of uWebSockets would copy what the socket does not take, and a client that sends requests without
 * reading could make it copy one answer after the other; while the rest of an answer waits, uWebSockets takes no further request.
 */
class WholeAnswer {
  readonly #response: HttpResponse;
  readonly #bytes: number;
  readonly #deps: WholeAnswerDeps;
  readonly #waiting: WaitingAnswer | undefined;
  readonly #rest: Rest;
  #isOpen = true;
  /** The reader has left something once, so it is watched. */
  #isWatched = false;

  constructor(response: HttpResponse, body: Uint8Array, deps: WholeAnswerDeps) {
    this.#response = response;
    this.#bytes = body.byteLength;
    this.#deps = deps;
    deps.detach(() => this.#end());
    this.#waiting = deps.room(body.byteLength);
    this.#rest = new Rest(body, this.#waiting !== undefined && this.#waiting.common === undefined);
    response.onWritable((offset) => this.#offer(offset));
  }

  /** Offers the next slice. */
  write(): void {
    this.#offer(this.#response.getWriteOffset());
  }

  /** The socket has taken what it can. */
  writeWhenDrained(): void {
    this.#left();
  }

  /** Whether the socket took the whole slice. */
  #offer(offset: number): boolean {
    if (!this.#isOpen) return true;
    const slice = this.#rest.from(offset).subarray(0, SLICE_BYTES);
    const [taken, isDone] = this.#response.tryEnd(slice, this.#bytes);
    if (isDone) this.#end();
    else if (taken) this.#writeLater();
    else this.#left();
    return taken;
  }

  #writeLater(): void {
    if (this.#isWatched) this.#left();
    const { loop = loopTurns, lane } = this.#deps;
    loop.run(lane(), () => {
      if (this.#isOpen) this.#response.cork(() => this.write());
    });
  }

  /** From the first time on that the reader does not take everything, it has to take the rest fast enough. */
  #left(): void {
    const leftBytes = this.#rest.keep(this.#response.getWriteOffset()).byteLength;
    const { keptBytes } = this.#rest;
    if (this.#waiting === undefined) this.#response.close();
    else if (this.#isWatched) this.#waiting.left(leftBytes, keptBytes);
    else this.#waiting.waits(leftBytes, keptBytes);
    this.#isWatched = true;
  }

  #end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // Once only: the memory may belong to the next answer by then.
    this.#rest.end();
    this.#deps.onSent();
  }
}

/** What is left of a body. */
class Rest {
  #kept: Uint8Array;
  /** Bytes of the body before the kept ones. */
  #gone = 0;
  readonly #isOwn: boolean;

  /** `isOwn`: nobody else needs the buffer. */
  constructor(body: Uint8Array, isOwn: boolean) {
    this.#kept = body;
    this.#isOwn = isOwn;
  }

  get keptBytes(): number {
    return this.#kept.byteLength;
  }

  from(offset: number): Uint8Array {
    return this.#kept.subarray(offset - this.#gone);
  }

  /** The same for a body that waits for its reader: where half of it has left, the rest moves to a smaller buffer, if nobody else needs this one. */
  keep(offset: number): Uint8Array {
    const left = this.from(offset);
    if (!this.#isOwn || left.byteLength > this.#kept.byteLength / 2) return left;
    const kept = spareBuffers.take(left.byteLength);
    kept.set(left);
    this.end();
    this.#gone = offset;
    this.#kept = kept;
    return kept;
  }

  /** Nothing of it is read any more. */
  end(): void {
    if (this.#isOwn) spareBuffers.give(this.#kept);
  }
}
