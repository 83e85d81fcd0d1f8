/** Frames in turns: their order, fairness among sockets and networks, bounds, and what happens to waiting frames when their socket closes. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../protocol/core/limits.ts';
import { FrameQueue, type QueueOptions } from '../../src/edge/frame-queue.ts';
import { FrameTurns, TURN_FRAMES_MAX } from '../../src/edge/frame-turns.ts';
import { LoopTurns } from '../../src/platform/loop-turns.ts';
import type { ShareBounds } from '../../src/platform/shares.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const REAL = { soon: (run: () => void) => void setImmediate(run), after: (_ms: number, run: () => void) => void setImmediate(run) };
const WIDE: ShareBounds = { total: 1e9, network: 1e9, caller: 1e9, artifact: 1e9 };

function setUp(bounds: ShareBounds = WIDE) {
  const clock = new VirtualClock();
  const refused: string[] = [];
  const loop = new LoopTurns({ ...REAL, nowMs: () => clock.monotonicMs() });
  const turns = new FrameTurns({ clock, bounds, loop, refusals: { refused: (what, share) => refused.push(`${what}: ${share}`) } });
  /** Names in the order in which frames were handled, and `end` of a queue that has emptied. */
  const handled: string[] = [];
  const queue = (name: string, network = name, options: Partial<QueueOptions> = {}) =>
    new FrameQueue({
      holders: { network },
      bytesMax: 1e9,
      handle: (data) => void handled.push(`${name} ${new TextDecoder().decode(data)}`),
      emptied: () => handled.push(`${name} end`),
      ...options,
    });
  return { clock, loop, turns, refused, handled, queue };
}

function bytes(text: string | number): ArrayBuffer {
  return new Uint8Array(new TextEncoder().encode(String(text))).buffer;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('frames of one turn', () => {
  test('are handled as they arrive, up to the number for one turn; the rest follows in later turns and in order', async () => {
    const { turns, handled, queue } = setUp();
    const flood = queue('flood');
    const frames = 3 * TURN_FRAMES_MAX;
    for (let at = 0; at < frames; at += 1) expect(turns.arrived(flood, bytes(at), true)).toBe(true);
    expect(handled).toHaveLength(TURN_FRAMES_MAX);
    await nextTurn();
    expect(handled).toHaveLength(2 * TURN_FRAMES_MAX);
    // Behind those that wait, although this turn has handled none as it arrived.
    turns.arrived(flood, bytes('late'), true);
    await turns.idle();
    expect(handled).toEqual([...Array.from({ length: frames }, (_, at) => `flood ${at}`), 'flood late', 'flood end']);
    expect(turns.bytes).toBe(0);
  });

  test('end when they have taken long, however few they are', async () => {
    const { clock, turns, handled, queue } = setUp();
    const slow = queue('slow', 'slow', {
      handle: (data) => {
        clock.advance(20);
        handled.push(`slow ${new TextDecoder().decode(data)}`);
      },
    });
    for (let at = 0; at < 3; at += 1) turns.arrived(slow, bytes(at), true);
    expect(handled).toEqual(['slow 0']);
    await nextTurn();
    expect(handled).toEqual(['slow 0', 'slow 1']);
    await turns.idle();
    expect(handled).toEqual(['slow 0', 'slow 1', 'slow 2', 'slow end']);
  });

  test('whatever arrives comes out as it was, in its order', async () => {
    const frame = fc.record({ size: fc.oneof(fc.nat(40), fc.nat(200_000)), isBinary: fc.boolean(), takes: fc.nat(3) });
    await fc.assert(
      fc.property(fc.array(frame, { maxLength: 200 }), (frames) => {
        const { queue } = setUp();
        const one = queue('one');
        const sent: string[] = [];
        const came: string[] = [];
        const take = () => {
          const next = one.take();
          if (next === undefined) return false;
          const [first = -1] = new Uint8Array(next.data);
          came.push(`${next.data.byteLength} ${first} ${next.isBinary}`);
          return true;
        };
        frames.forEach(({ size, isBinary, takes }, at) => {
          const growth = one.growthFor(size);
          one.push(new Uint8Array(size).fill(at % 250).buffer, isBinary, growth);
          sent.push(`${size} ${size === 0 ? -1 : at % 250} ${isBinary}`);
          for (let taken = 0; taken < takes; taken += 1) take();
        });
        while (take());
        expect(came).toEqual(sent);
        expect([one.frames, one.heldBytes]).toEqual([0, 0]);
      }),
      { numRuns: 50 },
    );
  });
});

describe('fairness', () => {
  test('a socket with one frame is not behind the thousands of another', async () => {
    const { turns, handled, queue } = setUp();
    const flood = queue('flood');
    for (let at = 0; at < 10_000; at += 1) turns.arrived(flood, bytes(at), true);
    turns.arrived(queue('other'), bytes('only'), true);
    await turns.idle();
    expect(handled.indexOf('other only')).toBeLessThan(2 * TURN_FRAMES_MAX);
    expect(handled.filter((line) => line.startsWith('flood'))).toHaveLength(10_001);
  });

  test('a hundred sockets of one network are not ahead of another network’s', async () => {
    const { turns, handled, queue } = setUp();
    const floods = Array.from({ length: 100 }, (_, at) => queue(`flood${at}`, 'the same'));
    for (let at = 0; at < 100; at += 1) for (const flood of floods) turns.arrived(flood, bytes(at), true);
    turns.arrived(queue('other'), bytes('only'), true);
    await turns.idle();
    expect(handled.indexOf('other only')).toBeLessThan(2 * TURN_FRAMES_MAX);
    expect(handled.filter((line) => !line.endsWith('end'))).toHaveLength(100 * 100 + 1);
  });

  test('other work of the event loop goes on between two slices', async () => {
    const { turns, handled, queue } = setUp();
    const flood = queue('flood');
    for (let at = 0; at < 10 * TURN_FRAMES_MAX; at += 1) turns.arrived(flood, bytes(at), true);
    const seen: number[] = [];
    while (handled.at(-1) !== 'flood end') {
      await nextTurn();
      seen.push(handled.length);
    }
    expect(seen.length).toBeGreaterThanOrEqual(9);
    seen.reduce((before, now) => {
      expect(now - before).toBeLessThanOrEqual(TURN_FRAMES_MAX + 1);
      return now;
    }, TURN_FRAMES_MAX);
  });
});

describe('while requests are served', () => {
  test('a flood waits where it has just had its time, and a frame of another network is handled as it arrives', async () => {
    const { clock, loop, turns, handled, queue } = setUp();
    const slow = (data: ArrayBuffer) => {
      clock.advance(3);
      handled.push(`flood ${new TextDecoder().decode(data)}`);
    };
    const flood = queue('flood', 'flood', { handle: slow });
    loop.serves(clock.monotonicMs(), true);
    for (let at = 0; at < 9; at += 1) turns.arrived(flood, bytes(at), true);
    expect(handled).toEqual(['flood 0', 'flood 1']);
    await nextTurn();
    expect(loop.isResting).toBe(true);
    const before = handled.length;
    turns.arrived(queue('flood again', 'flood', { handle: slow }), bytes(9), true);
    expect(handled).toHaveLength(before);
    turns.arrived(queue('other'), bytes('typed'), true);
    expect(handled.at(-1)).toBe('other typed');
    await turns.idle();
    expect(handled.filter((line) => /flood \d/.test(line))).toHaveLength(10);
  });
});

describe('bounds', () => {
  const fill = (turns: FrameTurns, queue: FrameQueue, frame: ArrayBuffer, max = 100_000) => {
    let kept = 0;
    while (kept < max && turns.arrived(queue, frame, true)) kept += 1;
    return kept;
  };

  test('one socket: its frames', () => {
    const { turns, queue, refused } = setUp();
    expect(fill(turns, queue('a'), bytes('x'))).toBe(TURN_FRAMES_MAX + LIMITS.framesWaitingPerSocketMax);
    expect(refused).toEqual(['frames of one socket: total']);
  });

  test('one socket: its bytes, which the longest message always fits into while nothing waits', () => {
    const { turns, queue, refused } = setUp();
    const small = queue('a', 'a', { bytesMax: 3_000_000 });
    fill(turns, queue('b'), bytes('x'), TURN_FRAMES_MAX);
    expect(fill(turns, small, new ArrayBuffer(1_000_000))).toBe(2);
    expect(refused).toEqual(['frames of one socket: total']);
  });

  test('one network, which leaves room for another', async () => {
    const { turns, queue, refused } = setUp({ ...WIDE, total: 3_000_000, network: 2_000_000 });
    fill(turns, queue('busy'), bytes('x'), TURN_FRAMES_MAX);
    const greedy = [queue('a', 'greedy'), queue('b', 'greedy')];
    for (const one of greedy) fill(turns, one, new ArrayBuffer(500_000));
    expect(refused).toEqual(['frames of sockets: network', 'frames of sockets: network']);
    expect(turns.arrived(queue('c'), new ArrayBuffer(500_000), true)).toBe(true);
    await turns.idle();
    expect(turns.bytes).toBe(0);
  });
});

test('dropped frames are not handled, and their bytes are given back', async () => {
  const { turns, handled, queue } = setUp();
  const [dropped, other] = [queue('dropped'), queue('other')];
  for (let at = 0; at < 2 * TURN_FRAMES_MAX; at += 1) turns.arrived(dropped, bytes(at), true);
  turns.arrived(other, bytes('x'), true);
  turns.drop(dropped);
  await turns.idle();
  expect(handled.slice(TURN_FRAMES_MAX)).toEqual(['other x', 'other end']);
  expect(turns.bytes).toBe(0);
});

test('a frame that drops its own queue is the last one', async () => {
  const { turns, handled, queue } = setUp();
  const one: FrameQueue = queue('one', 'one', {
    handle: (data) => {
      const text = new TextDecoder().decode(data);
      handled.push(text);
      if (text === 'last') turns.drop(one);
    },
  });
  for (let at = 0; at < TURN_FRAMES_MAX; at += 1) turns.arrived(one, bytes(at), true);
  for (const text of ['before', 'last', 'after']) turns.arrived(one, bytes(text), true);
  await turns.idle();
  expect(handled.slice(TURN_FRAMES_MAX)).toEqual(['before', 'last']);
  expect(turns.bytes).toBe(0);
});
