/** Connections that die without a close frame or FIN, seen from the page and from the service. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { frameAwareness, writeAwareness } from '../../../src/realtime/wire.ts';
import { docUntil, livePage } from '../../clients/live-page.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { type Desk, setDesk, synced } from './known-failure-stage.ts';

let easel: TestEasel;
let desk: Desk;

beforeAll(async () => {
  easel = await startTestEasel();
  desk = await setDesk(easel);
});
afterAll(() => easel.close());

/** A proxy to the service that can stop forwarding while its connections stay open. */
async function startWay(port: number) {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fallSilent: () => {
      for (const socket of open) socket.unpipe().pause();
    },
  };
}

describe('[PocketBase #59, Supabase Realtime #1414] a connection that dies silently', () => {
  it('is noticed by the page, which reconnects, gets what it missed and sends what it wrote', async () => {
    const { artifactId, token, sit } = desk;
    const way = await startWay(easel.port);
    // The page waits on the same virtual clock as the service.
    const page = livePage(
      { baseUrl: way.baseUrl, artifactId, token },
      {
        wait: (ms, signal) =>
          new Promise((resolve, reject) => {
            const timer = easel.clock.after(ms, resolve);
            signal?.addEventListener('abort', () => {
              timer.cancel();
              reject(signal.reason);
            });
          }),
      },
    );
    const told: unknown[] = [];
    const channel = page.easel.channel();
    const heard = new Promise<void>((resolve) => {
      channel.subscribe('json', ({ type, data }) => {
        if (type === 'subscribed') resolve();
        if (type === 'event') told.push(data);
      });
    });
    const doc = await page.doc('notes');
    const other = sit('y-websocket 3');
    await Promise.all([heard, doc.synced, synced(other)]);
    way.fallSilent();
    other.type('[missed]');
    doc.doc.getText('text').insert(0, '[made]');
    const put = { method: 'PUT', body: '1', headers: { 'content-type': 'application/json' }, token };
    expect((await easel.fetch(`/v1/data/${artifactId}/json/missed`, put)).status).toBe(201);
    const whole = docUntil(doc, () => doc.doc.getText('text').length === '[missed][made]'.length && !doc.hasUnsaved);
    const both = other.until(({ text }) => text.length === '[missed][made]'.length);
    let isWhole = false;
    void Promise.all([whole, both]).then(() => {
      isWhole = true;
    });
    let passedMs = 0;
    while (!isWhole || told.length === 0) {
      easel.clock.advance(1000);
      passedMs += 1000;
      // A round trip lets the network traffic of this second arrive.
      await easel.fetch('/health');
    }
    expect(page.sockets.length).toBeGreaterThanOrEqual(4);
    expect(told).toEqual([1]);
    expect(passedMs).toBeGreaterThan(10_000);
    expect(doc.doc.getText('text').toString()).toBe(other.text.toString());
  });

  it('is closed by the service when pings are not answered, and its presence is removed', async () => {
    const { artifactId, token, sit } = desk;
    const watcher = sit('hocuspocus 4', 'quiet');
    await synced(watcher);
    const dead = connect(easel.port, '127.0.0.1');
    await once(dead, 'connect');
    dead.write(
      `GET /v1/data/${artifactId}/realtime/quiet?token=${token} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    await once(dead, 'data');
    // The client reads and never answers a ping.
    dead.resume();
    const frame = frameAwareness(writeAwareness([{ clientId: 7, clock: 1, json: '{"at":1}' }]));
    dead.write(Buffer.concat([Buffer.from([0x82, 0x80 | frame.length, 0, 0, 0, 0]), frame]));
    await watcher.until(({ others }) => others[0]?.at === 1);
    await Promise.all([once(dead, 'close'), watcher.until(({ others }) => others.length === 0)]);
    expect(watcher.isConnected).toBe(true);
  });
});
