/** Bodies that are whole in memory leave in slices: in order, with others in between, and never after the client has gone. */
import type { HttpResponse } from 'uWebSockets.js';
import { expect, test } from 'vitest';
import type { WaitingAnswer } from '../../src/edge/answers-in-flight.ts';
import { SLICE_BYTES, sendWhole } from '../../src/edge/whole-answer.ts';

/** A socket that takes `room` bytes until it is drained. As uWebSockets does, it takes the beginning of what it has no room for. */
class FakeResponse {
  room: number;
  readonly taken: Buffer[] = [];
  closed = false;
  #offset = 0;
  #onWritable: (offset: number) => boolean = () => true;
  onAborted: () => void = () => undefined;

  constructor(room = Number.POSITIVE_INFINITY) {
    this.room = room;
  }

  tryEnd(body: string | Uint8Array, bytes: number): [boolean, boolean] {
    if (this.closed) throw new Error('The response is touched after its connection has closed');
    const offered = Buffer.from(body);
    const part = offered.subarray(0, Math.min(offered.length, this.room));
    this.taken.push(Buffer.from(part));
    this.room -= part.length;
    this.#offset += part.length;
    return [part.length === offered.length, this.#offset === bytes];
  }

  drain(room: number): void {
    this.room = room;
    this.#onWritable(this.#offset);
  }

  leave(): void {
    this.closed = true;
    this.onAborted();
  }

  readonly getWriteOffset = () => this.#offset;
  readonly cork = (run: () => void) => run();
  readonly close = () => this.leave();
  onWritable(run: (offset: number) => boolean): void {
    this.#onWritable = run;
  }
}

function sending(body: Uint8Array | string, { room, hasRoom = true }: { room?: number; hasRoom?: boolean } = {}) {
  const response = new FakeResponse(room);
  const slices: (() => void)[] = [];
  const left: number[] = [];
  const waiting = {
    common: undefined,
    waits: (bytes: number) => void left.push(bytes),
    left: (bytes: number) => void left.push(bytes),
  } as unknown as WaitingAnswer;
  const state = { response, slices, left, sent: 0, next: () => slices.shift()?.() };
  sendWhole(response as unknown as HttpResponse, body, {
    lane: () => 'network',
    room: () => (hasRoom ? waiting : undefined),
    detach: (onAborted) => {
      response.onAborted = onAborted;
    },
    onSent: () => {
      state.sent += 1;
    },
    loop: { run: (_lane, slice) => void slices.push(slice) },
  });
  return state;
}

const body = Buffer.alloc(4 * SLICE_BYTES + 17, 'abcdefg');

test('a small body leaves at once', () => {
  const { response, sent, slices } = sending('small');
  expect([Buffer.concat(response.taken).toString(), sent, slices.length]).toEqual(['small', 1, 0]);
});

test('a large body leaves in slices, one a turn, and is over with the last', () => {
  const state = sending(body);
  while (state.slices.length > 0) {
    expect([state.slices.length, state.sent]).toEqual([1, 0]);
    state.next();
  }
  expect(state.response.taken.map(({ length }) => length)).toEqual([...Array(4).fill(SLICE_BYTES), 17]);
  expect(Buffer.concat(state.response.taken).equals(body)).toBe(true);
  // A reader who takes everything is not watched.
  expect([state.sent, state.left]).toEqual([1, []]);
});

test('a large text is sent as UTF-8', () => {
  const text = 'ü'.repeat(SLICE_BYTES);
  const state = sending(text);
  while (state.slices.length > 0) state.next();
  expect(Buffer.concat(state.response.taken).toString()).toBe(text);
});

test('a reader who leaves something is watched, and the rest follows as it takes it', () => {
  const state = sending(body, { room: SLICE_BYTES / 2 });
  expect(state.left).toEqual([body.length - SLICE_BYTES / 2]);
  const { response } = state;
  while (state.sent === 0) {
    response.drain(100_000);
    while (state.slices.length > 0) state.next();
  }
  expect(Buffer.concat(response.taken).equals(body)).toBe(true);
  expect(state.left).toEqual([...state.left].sort((a, b) => b - a));
});

test('a small body that the socket does not take follows as it drains', () => {
  const state = sending('0123456789', { room: 4 });
  expect([state.left, state.sent]).toEqual([[6], 0]);
  state.response.drain(100);
  expect([Buffer.concat(state.response.taken).toString(), state.sent]).toEqual(['0123456789', 1]);
});

test('nothing is written after the client has gone, and the answer is over once', () => {
  const state = sending(body);
  state.response.leave();
  expect(state.sent).toBe(1);
  state.next();
  state.response.drain(1);
  expect([state.response.taken.length, state.sent]).toEqual([1, 1]);
});

test('without room for the rest the connection closes', () => {
  const state = sending(body, { room: 10, hasRoom: false });
  expect([state.response.closed, state.sent]).toEqual([true, 1]);
});
