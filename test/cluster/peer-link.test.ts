/** The connection between two nodes: who may use it, how streams share it, and how a peer that says nothing is noticed. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DATA_BYTES_MAX, FRAME, frameBytesMax, HEAD_BYTES_MAX } from '../../src/cluster/peers/frames.ts';
import { introduction, proofOf, readIntroduction } from '../../src/cluster/peers/handshake.ts';
import { PeerConnection, SILENCE_MS, STREAM_WINDOW_BYTES, STREAMS_MAX } from '../../src/cluster/peers/peer-connection.ts';
import { HANDSHAKE_MS, PeerDoor, UNPROVEN_MAX } from '../../src/cluster/peers/peer-door.ts';
import { PeerLinks, PeerUnreachable } from '../../src/cluster/peers/peer-links.ts';
import { type Frame, FrameReader, frameHead, MalformedFrame } from '../../src/edge/forwarding/framing.ts';
import type { PeerStream } from '../../src/edge/forwarding/peer-stream.ts';
import { SILENT } from '../support/database.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { SECRET } from './peer-stage.ts';

const NAME = { address: '127.0.0.1:1', incarnation: 'first' };

async function door(clock = new VirtualClock()) {
  const opened: PeerStream[] = [];
  const own = { secret: SECRET, tls: undefined, self: () => NAME, clock, log: SILENT };
  const at = await PeerDoor.open({ ...own, host: '127.0.0.1', port: 0, opened: (stream) => void opened.push(stream) });
  const links = new PeerLinks(own);
  onTestFinished(() => {
    links.close();
    at.close();
  });
  return { at, clock, own, links, opened, address: `127.0.0.1:${at.port}` };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** What the door says first. */
async function greeting(socket: Socket) {
  const [bytes] = await once(socket, 'data');
  const read = readIntroduction(bytes);
  if (read === undefined) throw new Error('the greeting comes in one piece');
  return read.introduction;
}

describe('the door', () => {
  test('opens for whoever knows the secret', async () => {
    const { links, opened, address } = await door();
    const stream = await links.open(address, Buffer.from('head'));
    await expect.poll(() => opened.length).toBe(1);
    expect(stream.isOpen).toBe(true);
  });

  test('closes on whoever does not', async () => {
    const { at, own, opened, address } = await door();
    const links = new PeerLinks({ ...own, secret: 'another secret of thirty-two letters' });
    await expect(Promise.resolve(links.open(address, Buffer.from('head')))).rejects.toBeInstanceOf(PeerUnreachable);
    expect([opened, at.streams]).toEqual([[], 0]);
  });

  test('is not opened by a proof that was recorded, nor by its own', async () => {
    const { at, opened } = await door();
    const [first, own] = [await connected(at.port), introduction(NAME)];
    const recorded = Buffer.concat([own.encoded, proofOf(SECRET, 'client', await greeting(first), own)]);
    const second = await connected(at.port);
    const theirs = await greeting(second);
    second.write(recorded);
    await once(second, 'close');
    const third = await connected(at.port);
    await greeting(third);
    third.write(Buffer.concat([own.encoded, proofOf(SECRET, 'server', theirs, own)]));
    await once(third, 'close');
    expect(opened).toEqual([]);
  });

  test('does not wait for a proof, nor read much before it', async () => {
    const { at, clock } = await door();
    const silent = await connected(at.port);
    await greeting(silent);
    const closed = once(silent, 'close');
    clock.advance(HANDSHAKE_MS);
    await closed;
    const talkative = await connected(at.port);
    talkative.resume();
    // 255 bytes of a name are announced and never come; a longer beginning is no handshake.
    talkative.write(Buffer.alloc(8192, 0xff));
    await once(talkative, 'close');
  });

  test('lets only so many strangers wait', async () => {
    const { at, links, address } = await door();
    const waiting = await Promise.all(Array.from({ length: UNPROVEN_MAX }, () => connected(at.port)));
    await Promise.all(waiting.map(greeting));
    const late = await connected(at.port);
    await once(late, 'close');
    waiting[0]?.destroy();
    // Whoever is refused tries again after a pause, which is in virtual time here: so a node of its own.
    await expect.poll(async () => (await greetingOf(at.port)) !== undefined).toBe(true);
    expect(await Promise.resolve(links.open(address, Buffer.from('head'))).catch(() => 'refused')).toBeDefined();
  });
});

async function greetingOf(port: number) {
  const socket = await connected(port);
  return Promise.race([greeting(socket), once(socket, 'close').then(() => undefined)]).finally(() => socket.destroy());
}

/** Both ends of a connection, without a handshake. */
async function pair(clock = new VirtualClock()) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const arriving = once(server, 'connection');
  const near = await connected((server.address() as AddressInfo).port);
  const [far] = (await arriving) as [Socket];
  const opened: PeerStream[] = [];
  const closed: string[] = [];
  const client = new PeerConnection(near, NAME, { clock, closed: (why) => void closed.push(why) });
  const owner = new PeerConnection(far, NAME, { clock, opened: (stream) => void opened.push(stream), closed: () => undefined });
  onTestFinished(() => {
    client.close('the test is over');
    owner.close('the test is over');
    server.close();
  });
  return { client, owner, opened, closed, clock, near, far };
}

/** Records what one side of a stream hears. */
function heard(stream: PeerStream) {
  const log = { bytes: 0, ended: false, reset: false, writable: 0 };
  stream.events = {
    data: ({ length }) => {
      log.bytes += length;
    },
    end: () => {
      log.ended = true;
    },
    writable: () => {
      log.writable += 1;
    },
    reset: () => {
      log.reset = true;
    },
  };
  return log;
}

describe('streams', () => {
  test('have credit: who does not pass bytes on gets no more than a window', async () => {
    const { client, opened } = await pair();
    const stream = client.open(Buffer.from('head')) as PeerStream;
    const own = heard(stream);
    await expect.poll(() => opened.length).toBe(1);
    const theirs = heard(opened[0] as PeerStream);
    stream.data(Buffer.alloc(STREAM_WINDOW_BYTES));
    expect(stream.room).toBe(0);
    await expect.poll(() => theirs.bytes).toBe(STREAM_WINDOW_BYTES);
    expect(own.writable).toBe(0);
    opened[0]?.took(STREAM_WINDOW_BYTES);
    await expect.poll(() => stream.room).toBe(STREAM_WINDOW_BYTES);
    expect(() => stream.data(Buffer.alloc(STREAM_WINDOW_BYTES + 1))).toThrow('room');
  });

  test('take turns: a small one is not behind all of a large one', async () => {
    const { client, opened } = await pair();
    const order: string[] = [];
    const [large, small] = [client.open(Buffer.from('large')), client.open(Buffer.from('small'))] as [PeerStream, PeerStream];
    await expect.poll(() => opened.length).toBe(2);
    for (const [at, name] of ['large', 'small'].entries())
      (opened[at] as PeerStream).events = { ...silent, data: () => void order.push(name) };
    large.data(Buffer.alloc(4 * DATA_BYTES_MAX));
    small.data(Buffer.alloc(10));
    await expect.poll(() => order.length).toBe(5);
    expect(order.indexOf('small')).toBeLessThanOrEqual(1);
  });

  test('end when both sides have ended, and at once where one gives up', async () => {
    const { client, owner, opened } = await pair();
    const [done, given] = [client.open(Buffer.from('a')), client.open(Buffer.from('b'))] as [PeerStream, PeerStream];
    await expect.poll(() => opened.length).toBe(2);
    const logs = opened.map(heard);
    done.end();
    opened[0]?.end();
    given.reset();
    await expect.poll(() => [client.streams, owner.streams]).toEqual([0, 0]);
    expect(logs.map(({ ended, reset }) => [ended, reset])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  test('are all reset when the connection is lost', async () => {
    const { client, far, closed } = await pair();
    const log = heard(client.open(Buffer.from('head')) as PeerStream);
    far.destroy();
    await expect.poll(() => [log.reset, closed.length]).toEqual([true, 1]);
    expect(client.open(Buffer.from('head'))).toBeUndefined();
  });

  test('are at most so many', async () => {
    const { client } = await pair();
    for (let at = 0; at < STREAMS_MAX; at += 1) expect(client.open(Buffer.from('head'))).toBeDefined();
    expect(client.open(Buffer.from('head'))).toBeUndefined();
  });

  test('are not opened by the side that only answers', async () => {
    const { far, closed } = await pair();
    far.write(Buffer.concat([frameHead(FRAME.open, 7, 0)]));
    await expect.poll(() => closed).toEqual(['it opened a stream that it may not open']);
  });
});

const silent = { data: () => undefined, end: () => undefined, writable: () => undefined, reset: () => undefined };

describe('C11 a peer that says nothing', () => {
  test('is given up after its silence, and one that answers pings is not', async () => {
    const { client, owner, far, closed, clock } = await pair();
    for (let round = 0; round < 10; round += 1) {
      const before = far.bytesRead;
      clock.advance(1000);
      // Both have heard each other's ping and its answer before time goes on.
      await expect.poll(() => far.bytesRead - before).toBeGreaterThanOrEqual(2 * 9);
    }
    expect([client.isOpen, owner.isOpen]).toEqual([true, true]);
    far.removeAllListeners('data');
    far.pause();
    for (let passedMs = 0; passedMs <= SILENCE_MS + 2000; passedMs += 1000) clock.advance(1000);
    expect(closed).toEqual(['the peer is silent']);
  });
});

describe('frames', () => {
  const frames = (reader: FrameReader, bytes: Buffer) => {
    const read: [Frame['type'], number, string][] = [];
    reader.read(bytes, ({ type, id, payload }) => void read.push([type, id, payload.toString()]));
    return read;
  };
  const whole = Buffer.concat([
    frameHead(FRAME.open, 1, 4),
    Buffer.from('head'),
    frameHead(FRAME.data, 1, 3),
    Buffer.from('abc'),
    frameHead(FRAME.end, 1, 0),
  ]);

  test('are the same however their bytes come', () => {
    const expected = frames(new FrameReader(frameBytesMax), whole);
    expect(expected).toEqual([
      [FRAME.open, 1, 'head'],
      [FRAME.data, 1, 'abc'],
      [FRAME.end, 1, ''],
    ]);
    for (let size = 1; size < whole.length; size += 1) {
      const reader = new FrameReader(frameBytesMax);
      const read: ReturnType<typeof frames> = [];
      for (let at = 0; at < whole.length; at += size) read.push(...frames(reader, whole.subarray(at, at + size)));
      expect(read).toEqual(expected);
    }
  });

  test.each([
    [0, 0],
    [9, 0],
    [FRAME.data, DATA_BYTES_MAX + 1],
    [FRAME.open, HEAD_BYTES_MAX + 1],
  ])('of type %i with %i bytes are refused before they have come', (type, bytes) => {
    expect(() => frames(new FrameReader(frameBytesMax), frameHead(type as never, 1, bytes))).toThrow(MalformedFrame);
  });
});
