import fc from 'fast-check';
import * as encoding from 'lib0/encoding';
import { describe, expect, it } from 'vitest';
import * as awarenessProtocol from 'y-protocols/awareness';
import * as syncProtocol from 'y-protocols/sync';
import * as Y from 'yjs';
import {
  frameAllowed,
  frameAwareness,
  frameDenied,
  frameKeepAlive,
  framePing,
  framePong,
  frameQueryAwareness,
  frameSyncStatus,
  frameSyncStep1,
  frameSyncStep2,
  frameSyncUpdate,
  readAddressedMessage,
  readAwareness,
  readMessage,
  writeAwareness,
} from '../../src/realtime/wire.ts';

const hex = (frame: Uint8Array) => Buffer.from(frame).toString('hex');
const bytes = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const EMPTY_VECTOR = Uint8Array.of(0);
const EMPTY_UPDATE = Uint8Array.of(0, 0);

describe('the vectors of wire.md', () => {
  it.each([
    ['empty Step1', frameSyncStep1(EMPTY_VECTOR), '00 00 01 00'],
    ['empty Step2', frameSyncStep2(EMPTY_UPDATE), '00 01 02 00 00'],
    ['denied "no"', frameDenied('no'), '02 00 02 6e 6f'],
    ['keep-alive', frameKeepAlive(), '01 01 00'],
    ['Step1 of "d"', frameSyncStep1(EMPTY_VECTOR, 'd'), '01 64 00 00 01 00'],
    ['ok of "d"', frameAllowed('read-write', 'd'), '01 64 02 02 0a 72 65 61 64 2d 77 72 69 74 65'],
    ['ack of "d"', frameSyncStatus(true, 'd'), '01 64 08 01'],
    ['refusal of "d"', frameSyncStatus(false, 'd'), '01 64 08 00'],
    ['ping', framePing(), '09'],
    ['pong', framePong(), '0a'],
  ])('%s', (_, frame, expected) => {
    expect(hex(frame)).toBe(expected.replaceAll(' ', ''));
  });
});

it('[large] an update is framed once for all who are sent it one after the other, and apart for each address and each update', () => {
  const [update, other] = [new Uint8Array(100_000).fill(1), new Uint8Array(100_000).fill(2)];
  const frame = frameSyncStep2(update);
  expect(frameSyncStep2(update)).toBe(frame);
  for (const address of ['d', undefined]) {
    for (const body of [update, other]) {
      const again = frameSyncStep2(body, address);
      expect(hex(again) === hex(frameSyncStep2(body.slice(), address))).toBe(true);
      expect(again.at(-1)).toBe(body[0]);
    }
  }
});

describe('what is written is what the reference library writes', () => {
  it('sync frames, with long bodies and long addresses', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 40_000 }),
        fc.option(fc.string({ maxLength: 200, unit: 'binary' }), { nil: undefined }),
        (body, address) => {
          for (const [frame, step] of [
            [frameSyncStep1(body, address), 0],
            [frameSyncStep2(body, address), 1],
            [frameSyncUpdate(body, address), 2],
          ] as const) {
            const encoder = encoding.createEncoder();
            if (address !== undefined) encoding.writeVarString(encoder, address);
            encoding.writeVarUint(encoder, 0);
            encoding.writeVarUint(encoder, step);
            encoding.writeVarUint8Array(encoder, body);
            expect(hex(frame)).toBe(hex(encoding.toUint8Array(encoder)));
          }
        },
      ),
      { seed: 7, numRuns: 60 },
    );
  });

  it('awareness, entry for entry, and reads it back', () => {
    const entry = fc.record({ clientId: fc.nat({ max: 2 ** 32 - 1 }), clock: fc.nat(), json: fc.json() });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), (entries) => {
        const written = writeAwareness(entries);
        const encoder = encoding.createEncoder();
        encoding.writeVarUint(encoder, entries.length);
        for (const { clientId, clock, json } of entries) {
          encoding.writeVarUint(encoder, clientId);
          encoding.writeVarUint(encoder, clock);
          encoding.writeVarString(encoder, json);
        }
        expect(hex(written)).toBe(hex(encoding.toUint8Array(encoder)));
        expect(readAwareness(written, 20, 1_000_000)).toEqual(entries);
      }),
      { seed: 7, numRuns: 100 },
    );
  });
});

describe('what clients write is read', () => {
  const text = new Y.Doc();
  text.getText('t').insert(0, 'hello');

  it('the sync messages of y-protocols', () => {
    const written = (write: (encoder: encoding.Encoder) => void) => {
      const encoder = encoding.createEncoder();
      encoding.writeVarUint(encoder, 0);
      write(encoder);
      return encoding.toUint8Array(encoder);
    };
    expect(readMessage(written((encoder) => syncProtocol.writeSyncStep1(encoder, text)))).toEqual({
      kind: 'step1',
      stateVector: Y.encodeStateVector(text),
    });
    expect(readMessage(written((encoder) => syncProtocol.writeSyncStep2(encoder, text)))).toEqual({
      kind: 'step2',
      update: Y.encodeStateAsUpdate(text),
    });
    expect(readMessage(written((encoder) => syncProtocol.writeUpdate(encoder, EMPTY_UPDATE)))).toEqual({
      kind: 'update',
      update: EMPTY_UPDATE,
    });
  });

  it('the awareness of y-protocols, including clients that left', () => {
    const awareness = new awarenessProtocol.Awareness(text);
    awareness.setLocalState({ name: 'Ada' });
    const here = awarenessProtocol.encodeAwarenessUpdate(awareness, [text.clientID]);
    expect(readMessage(frameAwareness(here))).toEqual({ kind: 'awareness', states: here });
    expect(readAwareness(here, 1, 100)).toEqual([{ clientId: text.clientID, clock: 1, json: '{"name":"Ada"}' }]);
    awareness.setLocalState(null);
    expect(readAwareness(awarenessProtocol.encodeAwarenessUpdate(awareness, [text.clientID]), 1, 100)).toMatchObject([{ json: 'null' }]);
    awareness.destroy();
  });

  it.each([
    ['a token without a version', '01 64 02 00 02 6f 6b', { kind: 'token', token: 'ok', version: undefined }],
    ['a token with a version', '01 64 02 00 02 6f 6b 05 34 2e 38 2e 30', { kind: 'token', token: 'ok', version: '4.8.0' }],
    ['a stateless message', '01 64 05 02 68 69', { kind: 'stateless', payload: 'hi' }],
    ['a close', '01 64 07', { kind: 'close' }],
    ['a question for awareness', '01 64 03', { kind: 'queryAwareness' }],
    ['a message between servers', '01 64 04 00 00 01 00', { kind: 'unexpected', type: 4 }],
  ])('%s', (_, frame, message) => {
    expect(readAddressedMessage(bytes(frame))).toEqual({ kind: 'addressed', address: 'd', document: 'd', message });
  });

  it('an address with a session names its document', () => {
    expect(readAddressedMessage(frameQueryAwareness('d\0abc'))).toEqual({
      kind: 'addressed',
      address: 'd\0abc',
      document: 'd',
      message: { kind: 'queryAwareness' },
    });
  });

  it('a ping and a pong are one byte; the same byte before others is the length of an address', () => {
    expect(readAddressedMessage(framePing())).toEqual({ kind: 'ping' });
    expect(readAddressedMessage(framePong())).toEqual({ kind: 'pong' });
    expect(readAddressedMessage(frameQueryAwareness('nine_char'))).toMatchObject({ document: 'nine_char' });
  });
});

describe('malformed frames are told, never thrown', () => {
  it.each([
    ['nothing', ''],
    ['a body that ends early', '00 02 05 01'],
    ['a length beyond exact integers', '00 02 ff ff ff ff ff ff ff ff 7f'],
    ['a length that is no number', `00 02 ${'80 '.repeat(200)}00`],
    ['an unknown sync message', '00 03 00'],
    ['an auth message of a server', '02 02 00'],
    ['a text that is no UTF-8', '05 02 c3 28'],
  ])('%s', (_, frame) => {
    expect(readMessage(bytes(frame))).toMatchObject({ kind: 'malformed' });
  });

  it('an address longer than any name', () => {
    expect(readAddressedMessage(frameQueryAwareness('d'.repeat(600)))).toMatchObject({ kind: 'malformed' });
  });

  it('never reads beyond the frame, whatever memory it is a part of', () => {
    const memory = bytes('00 02 05 01 02 03 04 05');
    expect(readMessage(memory.subarray(0, 5))).toMatchObject({ kind: 'malformed' });
    expect(readMessage(memory)).toEqual({ kind: 'update', update: bytes('01 02 03 04 05') });
  });

  it('awareness with more states, longer states or a count that is a lie', () => {
    const entries = [1, 2, 3].map((clientId) => ({ clientId, clock: 1, json: '"1234"' }));
    expect(readAwareness(writeAwareness(entries), 3, 6)).toHaveLength(3);
    expect(readAwareness(writeAwareness(entries), 2, 6)).toMatchObject({ kind: 'malformed' });
    expect(readAwareness(writeAwareness(entries), 3, 5)).toMatchObject({ kind: 'malformed' });
    expect(readAwareness(bytes('ff ff ff ff 0f 01 01 00'), Number.MAX_SAFE_INTEGER, 5)).toMatchObject({ kind: 'malformed' });
  });

  it('any bytes: an answer of a known kind, whose views lie within the frame', () => {
    const kinds = ['step1', 'step2', 'update', 'awareness', 'queryAwareness', 'token', 'stateless', 'close', 'unexpected', 'malformed'];
    const frames = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      // Nearly valid frames: right types, wrong lengths.
      fc
        .tuple(fc.constantFrom(0, 1, 2, 5), fc.nat({ max: 3 }), fc.nat({ max: 255 }), fc.uint8Array({ maxLength: 40 }))
        .map(([type, step, length, rest]) => Uint8Array.of(type, step, length, ...rest)),
    );
    fc.assert(
      fc.property(frames, (frame) => {
        const plain = readMessage(frame);
        expect(kinds).toContain(plain.kind);
        const addressed = readAddressedMessage(frame);
        expect(['addressed', 'ping', 'pong', 'malformed']).toContain(addressed.kind);
        const message = addressed.kind === 'addressed' ? addressed.message : plain;
        if (message.kind === 'update' || message.kind === 'step2') expect(message.update.length).toBeLessThan(frame.length);
        if (message.kind === 'awareness') {
          const entries = readAwareness(message.states, 100, 1000);
          if (Array.isArray(entries)) expect(entries.every(({ clientId, clock }) => Number.isSafeInteger(clientId + clock))).toBe(true);
        }
      }),
      { seed: 7, numRuns: 5000 },
    );
  });
});
