/** WebSockets whose clients reach a node that does not own the artifact: neither side sees a difference. */
import { once } from 'node:events';
import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ClientOptions, WebSocket } from 'ws';
import { CLOSE } from '../../protocol/core/close-codes.ts';
import type { Link } from '../../src/edge/socket.ts';
import { OTHER_TOKEN, OWNER_TOKEN, PRIVATE_ID } from '../edge/fake-edge.ts';
import { closing, Recorder, refusal, socketTo } from '../realtime/upgrade-stage.ts';
import { Random } from '../support/random.ts';
import { frontAndOwner, type NodeOptions, type StageNode, startNode } from './peer-stage.ts';

const SYNC = `/v1/data/${PRIVATE_ID}/realtime/notes`;
const MB = 1024 * 1024;

function bearer(token: string = OWNER_TOKEN): ClientOptions {
  return { headers: { authorization: `Bearer ${token}` } };
}

/** A front and an owner, whose sockets are recorded. Nobody speaks the protocol at the front. */
async function nodes(options: NodeOptions = {}) {
  const [protocol, unused] = [new Recorder(), new Recorder()];
  protocol.messageBytesMax = 2 * MB;
  unused.messageBytesMax = 2 * MB;
  const { front, owner } = await frontAndOwner(
    { sockets: { 'realtime.sync': protocol }, ...options },
    { sockets: { 'realtime.sync': unused } },
  );
  const opened = async (client: ClientOptions = bearer()) => {
    const socket = socketTo(front.fake, SYNC, client);
    const heard = listen(socket);
    await once(socket, 'open');
    return { socket, heard };
  };
  return { front, owner, protocol, unused, opened };
}

/** What the socket is sent, from now on. */
function listen(socket: WebSocket): (Buffer | string)[] {
  const heard: (Buffer | string)[] = [];
  socket.on('message', (data: Buffer, isBinary: boolean) => heard.push(isBinary ? data : data.toString()));
  return heard;
}

async function gauge({ fake }: StageNode, name: 'open' | 'relayed'): Promise<number> {
  return Number(new RegExp(`^easel_sockets_${name} (\\d+)`, 'm').exec(await fake.metrics.text())?.[1]);
}

describe('a WebSocket', () => {
  test('is opened by the owner, with what the client has said', async () => {
    const { front, protocol, unused } = await nodes();
    const socket = socketTo(front.fake, `${SYNC}?token=${OWNER_TOKEN}`, { headers: { 'x-request-id': 'mine-1' } });
    const [response] = await once(socket, 'upgrade');
    expect(response.headers['x-request-id']).toBe('mine-1');
    await expect.poll(() => protocol.calls.length).toBe(1);
    expect(protocol.calls[0]).toMatchObject({
      requestId: 'mine-1',
      address: '127.0.0.1',
      host: `127.0.0.1:${front.fake.port}`,
      params: { artifactId: PRIVATE_ID, doc: 'notes' },
      principal: { kind: 'user' },
    });
    expect(unused.calls).toEqual([]);
  });

  test.each([
    ['without a credential', {}],
    ['of somebody else', bearer(OTHER_TOKEN)],
    ['with a token that is none', bearer('so_wrong')],
  ])('%s is refused by the owner, in its words', async (_who, client) => {
    const { front, owner } = await nodes();
    const [here, there] = [await refusal(socketTo(front.fake, SYNC, client)), await refusal(socketTo(owner.fake, SYNC, client))];
    expect([here.status, { ...here.body, request_id: '' }]).toEqual([there.status, { ...there.body, request_id: '' }]);
    expect(here.body.request_id).toBe(here.headers['x-request-id']);
  });

  test.each([0, 1, 200, 32 * 1024, 32 * 1024 + 1, 300_000])('carries messages of %i bytes both ways', async (length) => {
    const { opened } = await nodes();
    const { socket, heard } = await opened();
    const text = 'aé'
      .repeat(length / 3)
      .padEnd(length, 'x')
      .slice(0, length);
    const bytes = Buffer.alloc(length, 7);
    for (const message of [text, bytes, text]) socket.send(message);
    await expect.poll(() => heard.length).toBe(3);
    expect([heard[0] === text, bytes.equals(heard[1] as Buffer), heard[2] === text]).toEqual([true, true, true]);
  });

  test('gets what a protocol sends as it opens, whole and in its order', async () => {
    const { protocol, opened } = await nodes();
    const frames = [...Array.from({ length: 50 }, (_, at) => `small ${at}`), 'x'.repeat(200_000), 'after', 'last'];
    protocol.onOpen = (link) => {
      for (const frame of frames) link.send(frame);
    };
    const { heard } = await opened();
    await expect.poll(() => heard.length).toBe(frames.length);
    expect(heard).toEqual(frames);
  });

  test('is closed by either side with code and reason, and its seat is free again', async () => {
    const { front, owner, protocol, opened } = await nodes();
    const first = await opened();
    await expect.poll(() => protocol.links.length).toBe(1);
    const ended = closing(first.socket);
    protocol.links[0]?.close(4403, 'The access has ended — für immer.');
    expect(await ended).toEqual([4403, 'The access has ended — für immer.']);
    const second = await opened();
    await expect.poll(() => protocol.links.length).toBe(2);
    const closed = protocol.next('closed');
    second.socket.close(1000, 'done');
    await closed;
    await expect.poll(async () => [await gauge(owner, 'open'), await gauge(front, 'relayed')]).toEqual([0, 0]);
  });

  test('that leaves before it is decided takes no seat', async () => {
    let decide = () => undefined as unknown;
    const waits = new Promise<void>((resolve) => {
      decide = () => resolve();
    });
    let asked = 0;
    const lookUp = () => {
      asked += 1;
      return waits;
    };
    const { front, owner, protocol } = await nodes({ lookUp });
    const socket = socketTo(front.fake, SYNC, bearer());
    await expect.poll(() => asked).toBeGreaterThan(0);
    socket.terminate();
    await expect.poll(() => gauge(front, 'relayed')).toBe(0);
    decide();
    await owner.fake.edge.idle();
    expect([await gauge(owner, 'open'), protocol.calls.length]).toEqual([0, 0]);
  });

  test('whose message is too large is closed, and refused for a while', async () => {
    const { front, protocol, unused, opened } = await nodes();
    expect(unused.messageBytesMax).toBe(protocol.messageBytesMax);
    const { socket } = await opened();
    const closed = protocol.next('closed');
    socket.send(Buffer.alloc(2 * MB + 1));
    await closed;
    expect((await refusal(socketTo(front.fake, SYNC, bearer()))).status).toBe(413);
  });
});

describe('a published frame', () => {
  /** All sockets subscribe to one topic; a message is published by its socket, and `all …` to everybody. */
  function gather(protocol: Recorder): void {
    protocol.onOpen = (link) => link.subscribe('room');
    protocol.onMessage = (link, data) => {
      const text = Buffer.from(data.slice(0)).toString();
      if (text.startsWith('all ')) link.broadcast('room', text);
      else if (text === 'leave') link.unsubscribe('room');
      else link.publish('room', text);
    };
  }

  test('comes to every other subscriber, wherever its client is', async () => {
    const { owner, protocol, opened } = await nodes();
    gather(protocol);
    const [a, b, c] = [await opened(), await opened(), await opened()];
    const there = socketTo(owner.fake, SYNC, bearer());
    const local = listen(there);
    await once(there, 'open');
    a.socket.send('from a');
    await expect.poll(() => [a.heard, b.heard, c.heard, local]).toEqual([[], ['from a'], ['from a'], ['from a']]);
    there.send('from there');
    await expect.poll(() => [a.heard, b.heard.at(-1), local]).toEqual([['from there'], 'from there', ['from a']]);
    c.socket.send('leave');
    c.socket.send('all of us');
    await expect.poll(() => [a.heard.at(-1), b.heard.at(-1), local.at(-1)]).toEqual(['all of us', 'all of us', 'all of us']);
    expect(c.heard).toEqual(['from a', 'from there']);
  });

  test.each([
    ['is published', (protocol: Recorder, frame: string) => protocol.links[0]?.broadcast('room', frame)],
    ['is sent to each', (protocol: Recorder, frame: string) => protocol.links.map((link) => link.send(frame))],
  ])('that %s crosses once for all sockets of a node', async (_how, tell) => {
    const [protocol, unused] = [new Recorder(), new Recorder()];
    const owner = await startNode({ sockets: { 'realtime.sync': protocol } });
    const front = await startNode({ sockets: { 'realtime.sync': unused } });
    const wire = await countingWire(owner);
    front.owners = [{ ...owner, address: wire.address }];
    gather(protocol);
    const all = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const socket = socketTo(front.fake, SYNC, bearer());
        const heard = listen(socket);
        await once(socket, 'open');
        return heard;
      }),
    );
    await expect.poll(() => protocol.links.length).toBe(40);
    const before = wire.fromOwner();
    const frame = 'é'.repeat(1000);
    tell(protocol, frame);
    await expect.poll(() => all.every((heard) => heard.length === 1 && heard[0] === frame)).toBe(true);
    expect(wire.fromOwner() - before).toBeLessThan(2 * Buffer.byteLength(frame));
  });

  test('comes behind what was sent to the socket before, also where that is long', async () => {
    const { protocol, opened } = await nodes();
    gather(protocol);
    const [a, b] = [await opened(), await opened()];
    await expect.poll(() => protocol.links.length).toBe(2);
    const long = 'y'.repeat(60_000);
    const [link] = protocol.links;
    for (let at = 0; at < 3; at += 1) {
      link?.send(`small ${at}`);
      link?.send(long);
      link?.broadcast('room', `published ${at}`);
    }
    link?.send('end');
    await expect.poll(() => a.heard.at(-1)).toBe('end');
    const rounds = [0, 1, 2].flatMap((at) => [`small ${at}`, long, `published ${at}`]);
    expect(a.heard).toEqual([...rounds, 'end']);
    expect(b.heard).toEqual(['published 0', 'published 1', 'published 2']);
  });
});

/** Returns whoever hears the message. */
function perform(
  step: 'send' | 'publish' | 'broadcast' | 'join' | 'leave',
  link: Link,
  at: number,
  members: Set<number>,
  message: string,
): readonly number[] {
  switch (step) {
    case 'send':
      link.send(message);
      return [at];
    case 'publish':
      link.publish('room', message);
      return [...members].filter((member) => member !== at);
    case 'broadcast':
      link.broadcast('room', message);
      return [...members];
    case 'join':
      link.subscribe('room');
      members.add(at);
      return [];
    case 'leave':
      link.unsubscribe('room');
      members.delete(at);
      return [];
  }
}

describe('what many sockets are sent and published, in messages of any length', () => {
  test.each([1, 2, 3, 4, 5, 6])('comes to each in the order of the protocol: seed %i', async (seed) => {
    const random = new Random(seed);
    const { protocol, opened } = await nodes();
    protocol.highWaterBytes = 256 * MB;
    const clients = await Promise.all(Array.from({ length: 4 }, () => opened()));
    await expect.poll(() => protocol.links.length).toBe(clients.length);
    // The sockets of the clients come in any order.
    for (const [at, link] of protocol.links.entries()) link.send(`you are ${at}`);
    await expect.poll(() => clients.every(({ heard }) => heard.length === 1)).toBe(true);
    const expected: string[][] = protocol.links.map(() => []);
    const members = new Set<number>();
    for (let number = 0; number < 300; number += 1) {
      const message = `${number} ${'m'.repeat(random.chance(0.15) ? random.integer(150_000) : random.integer(300))}`;
      const step = random.pick(['send', 'send', 'publish', 'broadcast', 'join', 'leave', 'turn'] as const);
      const at = random.integer(protocol.links.length);
      if (step === 'turn') await new Promise((resolve) => setImmediate(resolve));
      else for (const hearer of perform(step, protocol.links[at] as Link, at, members, message)) expected[hearer]?.push(message);
    }
    for (const [at, link] of protocol.links.entries()) {
      link.send('end');
      expected[at]?.push('end');
    }
    await expect.poll(() => clients.every(({ heard }) => heard.at(-1) === 'end')).toBe(true);
    const numbers = (messages: readonly unknown[]) => messages.map((message) => String(message).split(' ')[0]);
    for (const { heard } of clients) {
      const at = Number(String(heard[0]).split(' ').at(-1));
      expect(numbers(heard.slice(1))).toEqual(numbers(expected[at] ?? []));
      expect(heard.slice(1)).toEqual(expected[at]);
    }
  });
});

describe('a client that does not read', () => {
  /** Fills the way to the client until its protocol hears that a frame was not sent. */
  async function stuck() {
    const all = await nodes();
    const { socket, heard } = await all.opened();
    await expect.poll(() => all.protocol.links.length).toBe(1);
    const [link] = all.protocol.links;
    if (link === undefined) throw new Error('it is open');
    link.subscribe('room');
    (socket as unknown as { readonly _socket: Socket })._socket.pause();
    return { ...all, socket, heard, link, resume: () => (socket as unknown as { readonly _socket: Socket })._socket.resume() };
  }

  test('costs no more than its high-water mark, and is told of once it reads again', async () => {
    const { link, heard, protocol, resume } = await stuck();
    const frame = Buffer.alloc(64 * 1024, 1);
    let sent = 0;
    await expect
      .poll(() => {
        const outcome = link.send(frame);
        if (outcome !== 'skipped') sent += 1;
        return outcome;
      })
      .toBe('skipped');
    expect(link.bufferedBytes).toBeLessThan(protocol.highWaterBytes + MB + 2 * frame.length);
    const drained = protocol.next('drained');
    resume();
    await drained;
    expect(link.bufferedBytes).toBe(0);
    expect(link.send('again')).toBe('sent');
    await expect.poll(() => heard.at(-1)).toBe('again');
    expect(heard.length).toBe(sent + 1);
  });

  test('is said to have missed what was published meanwhile', async () => {
    const { link, protocol, resume, heard } = await stuck();
    const frame = 'z'.repeat(64 * 1024);
    const skipped = protocol.next('skipped');
    let isTold = false;
    void skipped.then(() => {
      isTold = true;
    });
    await expect
      .poll(() => {
        link.broadcast('room', frame);
        return isTold;
      })
      .toBe(true);
    const drained = protocol.next('drained');
    resume();
    await drained;
    link.send('and on');
    await expect.poll(() => heard.at(-1)).toBe('and on');
  });
});

describe('when a node is lost', () => {
  test('clients of its artifacts are told to come back, and come to the next owner', async () => {
    const { front, owner, protocol, opened } = await nodes();
    const { socket } = await opened();
    await expect.poll(() => protocol.links.length).toBe(1);
    const ended = closing(socket);
    const closed = protocol.next('closed');
    owner.door.close();
    expect((await ended)[0]).toBe(CLOSE.moved);
    await closed;
    const next = new Recorder();
    const heir = await startNode({ sockets: { 'realtime.sync': next } });
    front.owners = [heir];
    await opened();
    await expect.poll(() => next.links.length).toBe(1);
  });

  test('the sessions of clients that were connected to it end', async () => {
    const { front, owner, protocol, opened } = await nodes();
    await opened();
    await expect.poll(() => gauge(owner, 'open')).toBe(1);
    const closed = protocol.next('closed');
    front.links.close();
    await closed;
    expect(await gauge(owner, 'open')).toBe(0);
  });

  test('a client is closed with 4503 where its own node stops', async () => {
    const { front, protocol, opened } = await nodes();
    const { socket } = await opened();
    const ended = closing(socket);
    const closed = protocol.next('closed');
    front.fake.edge.stopListening();
    expect((await ended)[0]).toBe(CLOSE.moved);
    await closed;
  });
});

describe('an owner that is none', () => {
  test('is asked once, and the next one opens the socket', async () => {
    const { front, owner, protocol } = await nodes();
    const wrong = await startNode({ sockets: { 'realtime.sync': new Recorder() } });
    wrong.owns = false;
    front.owners = [wrong, owner];
    await once(socketTo(front.fake, SYNC, bearer()), 'open');
    expect([front.forgotten, protocol.calls.length]).toEqual([1, 1]);
  });

  test('twice is OWNER_MOVED, and so is one that cannot be reached', async () => {
    const { front, owner } = await nodes();
    owner.owns = false;
    expect(await refusal(socketTo(front.fake, SYNC, bearer()))).toMatchObject({ status: 503, body: { code: 'OWNER_MOVED' } });
    owner.owns = true;
    front.owners = [{ ...owner, address: '127.0.0.1:1' }];
    expect(await refusal(socketTo(front.fake, SYNC, bearer()))).toMatchObject({ status: 503, body: { code: 'OWNER_MOVED' } });
  });
});

/** A wire to the node's door that counts what the node says. */
async function countingWire({ address }: StageNode) {
  let bytes = 0;
  const port = Number(address.split(':')[1]);
  const server = createServer((near) => {
    const far = connectTcp(port, '127.0.0.1');
    for (const socket of [near, far])
      socket.on('error', () => undefined).on('close', () => [near, far].forEach((one) => void one.destroy()));
    near.pipe(far);
    far.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      near.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { address: `127.0.0.1:${(server.address() as { readonly port: number }).port}`, fromOwner: () => bytes };
}
