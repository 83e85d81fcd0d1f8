/** Many frames on one socket: those that wait for their turn when the socket closes, and the answer at the bound. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { CLOSE } from '../../protocol/core/close-codes.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { OWNER_TOKEN, PRIVATE_ID } from '../edge/fake-edge.ts';
import { closing, edge } from './upgrade-stage.ts';

const SYNC = `/v1/data/${PRIVATE_ID}/realtime/notes`;
const FRAMES = 5000;
const FRAME_MS = 0.2;

/** A socket whose messages the protocol records. */
async function opened() {
  const stage = await edge();
  const handled: string[] = [];
  stage.protocol.onMessage = (_link, data) => void handled.push(new TextDecoder().decode(data));
  const socket = stage.connect(SYNC, { headers: { authorization: `Bearer ${OWNER_TOKEN}` } });
  await once(socket, 'open');
  const [link] = stage.protocol.links;
  if (link === undefined) throw new Error('it is open');
  return { ...stage, socket, link, handled };
}

/** Binary frames of the numbers from 0 on, in one write, so that the server receives many at once. Resolves when the system has taken them. */
function send(socket: WebSocket, count: number): Promise<void> {
  const { _socket: tcp } = socket as unknown as { _socket: Socket };
  const frames = Array.from({ length: count }, (_, at) => {
    const payload = Buffer.from(String(at));
    // A frame of a client has a mask, here of zeros.
    return Buffer.concat([Buffer.from([0x82, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
  });
  return new Promise((resolve) => tcp.write(Buffer.concat(frames), () => resolve()));
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => String(at));

test('a request is answered while the frames of a socket wait, and all frames are handled in their order', async () => {
  const { socket, handled, protocol, url } = await opened();
  protocol.onMessage = (_link, data) => {
    handled.push(new TextDecoder().decode(data));
    // So long that all frames take some hundred slices; the request takes few rounds of the event loop, however slow the machine is.
    const untilMs = performance.now() + FRAME_MS;
    while (performance.now() < untilMs);
  };
  const at: number[] = [];
  void send(socket, FRAMES);
  while (handled.length < FRAMES) {
    expect((await fetch(url('/healthz'))).status).toBe(200);
    at.push(handled.length);
  }
  expect(handled).toEqual(numbers(FRAMES));
  expect(at.some((count) => count > 0 && count < FRAMES)).toBe(true);
});

test.each(['close', 'terminate'] as const)('[%s] what a peer sent before it left is handled before the session ends', async (how) => {
  const { socket, handled, protocol, link, metrics } = await opened();
  let atClose = 0;
  const ended = protocol.next('closed').then(() => {
    atClose = handled.length;
  });
  protocol.onMessage = (each, data) => {
    handled.push(new TextDecoder().decode(data));
    // An answer has no reader any more, and must not fail.
    expect(each.send('answer')).not.toBe('skipped');
  };
  await send(socket, FRAMES);
  socket[how]();
  await ended;
  expect(atClose).toBe(FRAMES);
  expect(handled).toEqual(numbers(FRAMES));
  expect([link.isOpen, protocol.told]).toEqual([false, ['open', 'closed']]);
  expect(await metrics.text()).toMatch(/^easel_socket_frame_bytes_waiting 0$/m);
});

test('a protocol that closes the socket gets no frame that waits', async () => {
  const { socket, handled, protocol, link } = await opened();
  protocol.onMessage = (_link, data) => {
    handled.push(new TextDecoder().decode(data));
    // Later than this slice, as a revocation comes.
    if (handled.length === 10) setImmediate(() => link.close(CLOSE.revoked, 'revoked'));
  };
  void send(socket, FRAMES);
  expect(await closing(socket)).toEqual([CLOSE.revoked, 'revoked']);
  const count = handled.length;
  expect(count).toBeLessThan(FRAMES);
  await new Promise((resolve) => setImmediate(resolve));
  expect([handled.length, protocol.told]).toEqual([count, ['open', 'closed']]);
});

test('a session that closes its socket after the peer has left gets no further frame and ends once', async () => {
  const { socket, handled, protocol, link } = await opened();
  let leftAt = -1;
  protocol.onMessage = (_link, data) => {
    handled.push(new TextDecoder().decode(data));
    if (handled.length < 1000) return;
    leftAt = handled.length;
    link.close(CLOSE.revoked, 'revoked');
  };
  const ended = protocol.next('closed');
  void send(socket, FRAMES);
  socket.close();
  await ended;
  await new Promise((resolve) => setImmediate(resolve));
  expect([leftAt, handled.length, link.isOpen]).toEqual([1000, 1000, false]);
  expect(protocol.told).toEqual(['open', 'closed']);
});

test('more frames than may wait close the socket with 1013, and it may come back', async () => {
  const { socket, handled, connect, metrics } = await opened();
  const ended = closing(socket);
  void send(socket, 4 * LIMITS.framesWaitingPerSocketMax);
  expect(await ended).toEqual([CLOSE.overloaded, 'More was sent than can be handled now.']);
  expect(handled).toEqual(numbers(handled.length));
  expect(await metrics.text()).toContain('easel_share_refusals_total{resource="frames of one socket",share="total"} 1');
  await once(connect(SYNC, { headers: { authorization: `Bearer ${OWNER_TOKEN}` } }), 'open');
});

test('when the server stops the frames that wait are handled, and the edge is idle only then', async () => {
  const { socket, handled, protocol, edge: listening } = await opened();
  const ended = closing(socket);
  let idle: Promise<void> | undefined;
  let atIdle = -1;
  protocol.onMessage = (_link, data) => {
    handled.push(new TextDecoder().decode(data));
    if (handled.length !== 10) return;
    setImmediate(() => {
      listening.stopListening();
      idle = listening.idle().then(() => {
        atIdle = handled.length;
      });
    });
  };
  const over = protocol.next('closed');
  void send(socket, FRAMES);
  expect((await ended)[0]).toBe(CLOSE.moved);
  await over;
  await idle;
  expect(handled).toEqual(numbers(FRAMES));
  expect(atIdle).toBe(FRAMES);
});
