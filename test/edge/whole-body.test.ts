/** A body that is received whole gives way to the requests that are being served. */
import { expect, test } from 'vitest';
import { Failure } from '../../protocol/core/errors.ts';
import { WholeBody } from '../../src/edge/whole-body.ts';
import { SpareBuffers } from '../../src/platform/spare-buffers.ts';

const CHUNK = 512 * 1024;

function setUp(lengthBytes: number, spare?: SpareBuffers) {
  const calls: string[] = [];
  let deliver: (chunk: ArrayBuffer, isLast: boolean) => void = () => undefined;
  let leaves: () => void = () => undefined;
  let isPaused = false;
  const sender = {
    headers: { contentLength: lengthBytes },
    receive: (onChunk: typeof deliver, onAborted: () => void) => {
      deliver = onChunk;
      leaves = onAborted;
    },
    pauseBody: () => {
      isPaused = true;
      calls.push('pause');
    },
    resumeBody: () => {
      isPaused = false;
      calls.push('resume');
    },
    get isBodyPaused() {
      return isPaused;
    },
  };
  const waiting: (() => void)[] = [];
  const loop = {
    isResting: false,
    workedMs: 0,
    worked(ms: number) {
      this.workedMs += ms;
    },
    run: (lane: string, resume: () => void) => {
      calls.push(`turn of ${lane}`);
      waiting.push(resume);
    },
  };
  const body = new WholeBody(sender, () => true, { loop, lane: () => '203.0.113.1' }, spare);
  const arrives = (bytes: number, isLast = false) => deliver(new Uint8Array(bytes).fill(7).buffer, isLast);
  return { body, loop, calls, waiting, arrives, leaves: () => leaves() };
}

test('a large body stops while the loop is left to others, and goes on in turn by network', async () => {
  const { body, loop, calls, waiting, arrives } = setUp(4 * CHUNK);
  arrives(CHUNK);
  expect(calls).toEqual([]);
  expect(loop.workedMs).toBeGreaterThan(0);
  loop.isResting = true;
  arrives(CHUNK);
  // What had been read already still comes.
  arrives(CHUNK);
  expect(calls).toEqual(['pause', 'turn of 203.0.113.1']);
  waiting.shift()?.();
  expect(calls.at(-1)).toBe('resume');
  arrives(CHUNK, true);
  expect((await body.bytes).every((byte) => byte === 7)).toBe(true);
  expect(waiting).toEqual([]);
});

test('a long body is refused by its beginning, and the rest of it is not kept', async () => {
  const { body, calls, waiting, arrives } = setUp(4 * CHUNK);
  const seen: number[] = [];
  arrives(1000);
  body.checkBeginning((beginning) => {
    seen.push(beginning.length);
    return new Failure('INVALID_REQUEST');
  });
  expect(calls).toEqual([]);
  arrives(CHUNK);
  // It is looked at in turn with other long work; what had been read already still comes.
  expect([seen, calls]).toEqual([[], ['pause', 'turn of 203.0.113.1']]);
  arrives(CHUNK);
  waiting.shift()?.();
  await expect(body.bytes).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  expect([seen, body.isOver]).toEqual([[2 * CHUNK + 1000], true]);
});

test('a beginning that is acceptable is looked at once', async () => {
  const { body, calls, waiting, arrives } = setUp(3 * CHUNK);
  let looks = 0;
  arrives(CHUNK);
  body.checkBeginning(() => {
    looks += 1;
    return undefined;
  });
  waiting.shift()?.();
  expect(calls.at(-1)).toBe('resume');
  arrives(CHUNK);
  arrives(CHUNK, true);
  expect(waiting).toEqual([]);
  expect([(await body.bytes).length, looks]).toEqual([3 * CHUNK, 1]);
});

test('a small body never stops', async () => {
  const { body, loop, calls, arrives } = setUp(2000);
  loop.isResting = true;
  arrives(1000);
  arrives(1000, true);
  expect((await body.bytes).length).toBe(2000);
  expect([calls, loop.workedMs]).toEqual([[], 0]);
});

test('the rest of a refused body passes in turn, before its answer', async () => {
  const { body, loop, calls, waiting, arrives } = setUp(4 * CHUNK);
  arrives(CHUNK);
  body.refuse(new Failure('RATE_LIMITED'));
  await expect(body.bytes).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  let isPassed = false;
  const passed = body.passOver()?.then(() => {
    isPassed = true;
  });
  loop.isResting = true;
  arrives(CHUNK);
  expect(calls.slice(-2)).toEqual(['pause', 'turn of 203.0.113.1']);
  waiting.shift()?.();
  expect(calls.at(-1)).toBe('resume');
  arrives(CHUNK);
  expect([isPassed, body.isOver]).toEqual([false, true]);
  arrives(CHUNK, true);
  await passed;
  expect(isPassed).toBe(true);
  expect(body.passOver()).toBeUndefined();
});

test('a client that leaves lets nobody wait for the rest', async () => {
  const { body, arrives, leaves } = setUp(4 * CHUNK);
  arrives(CHUNK);
  const passed = body.passOver();
  leaves();
  await expect(passed).resolves.toBeUndefined();
});

test('a short body, and one that has come whole, have nothing to pass over', () => {
  expect(setUp(2000).body.passOver()).toBeUndefined();
  const { body, arrives } = setUp(CHUNK);
  arrives(CHUNK, true);
  expect(body.passOver()).toBeUndefined();
});

test('a buffer of a refused body is used for the next one, and a body that was read keeps its own', async () => {
  const spare = new SpareBuffers();
  const first = spare.take(CHUNK);
  spare.give(first);
  const { body, arrives } = setUp(CHUNK, spare);
  arrives(CHUNK, true);
  const bytes = await body.bytes;
  expect([bytes.length, bytes.buffer === first.buffer]).toEqual([CHUNK, false]);
  expect(spare.take(CHUNK).buffer === first.buffer).toBe(true);
  expect(bytes.every((byte) => byte === 7)).toBe(true);
});
