/** Messages of the database reach the client whole, however their bytes are cut on the way. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SpareBuffers } from '../../src/platform/spare-buffers.ts';
import { MessageFrames } from '../../src/storage/message-frames.ts';

function message(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

/** The types of the messages in it; fails where one is not whole. */
function typesIn(emitted: Buffer): string {
  let types = '';
  for (let at = 0; at < emitted.length; at += 1 + emitted.readUInt32BE(at + 1)) types += emitted.toString('latin1', at, at + 1);
  expect(types.length).toBeGreaterThan(0);
  return types;
}

const answers = fc.array(fc.tuple(fc.constantFrom('D', 'C', 'Z', 'T'), fc.oneof(fc.nat(12), fc.nat(90_000))), { maxLength: 12 });
const cuts = fc.array(fc.oneof(fc.constantFrom(1, 2, 3, 4, 5, 6), fc.nat(70_000)), { maxLength: 40 });

test('every message once, in order and whole, and nothing behind the end of an answer', () => {
  fc.assert(
    fc.property(answers, cuts, (sent, sizes) => {
      const bytes = Buffer.concat(sent.map(([type, length], at) => message(type, Buffer.alloc(length, at + 1))));
      const emitted: Buffer[] = [];
      const frames = new MessageFrames((messages) => emitted.push(messages), new SpareBuffers());
      // One memory for all chunks, as the socket has it.
      const shared = Buffer.alloc(70_000);
      let at = 0;
      for (const size of [...sizes, ...Array<number>(Math.ceil(bytes.length / 70_000) + 1).fill(70_000)]) {
        const part = bytes.subarray(at, at + size);
        part.copy(shared);
        frames.receive(shared.subarray(0, part.length));
        at += part.length;
      }
      shared.fill(0);
      expect(Buffer.concat(emitted).equals(bytes)).toBe(true);
      expect(emitted.map(typesIn).filter((types) => /Z./.test(types))).toEqual([]);
    }),
  );
});

test('memory that was given back carries the next answer', () => {
  const spare = new SpareBuffers();
  const emitted: Buffer[] = [];
  const frames = new MessageFrames((messages) => emitted.push(messages), spare);
  const row = (fill: number) => message('D', Buffer.alloc(90_000, fill));
  frames.receive(row(1));
  frames.receive(row(2));
  const [first, second] = emitted;
  if (first === undefined || second === undefined) throw new Error('nothing was emitted');
  spare.give(first.subarray(20));
  frames.receive(row(3));
  expect(emitted[2]?.buffer).toBe(first.buffer);
  expect(second.equals(row(2))).toBe(true);
  // Given back twice, it would carry two answers at once.
  spare.give(second);
  spare.give(second);
  frames.receive(row(4));
  frames.receive(row(5));
  expect(emitted[3]?.buffer).toBe(second.buffer);
  expect(emitted[4]?.buffer).not.toBe(second.buffer);
});

test('what is not the protocol is refused', () => {
  const frames = new MessageFrames(() => undefined);
  expect(() => frames.receive(Buffer.from([0x44, 0, 0, 0, 3]))).toThrow('a message of 3 bytes');
});
