/** Failure 9 of anchors.md: a connection that dies without a word, seen from both of its ends. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { frameAwareness, writeAwareness } from '../../../src/realtime/wire.ts';
import { docUntil, livePage } from '../../clients/live-page.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { type Desk, setDesk, synced } from './stage.ts';

let easel: TestEasel;
let desk: Desk;

beforeAll(async () => {
  easel = await startTestEasel();
  desk = await setDesk(easel);
});
afterAll(() => easel.close());

/** A way to the service that can fall silent: what is open then stays open, and nothing goes through it any more. */
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

describe('[failure 9, PocketBase #59, Supabase Realtime #1414] a connection that dies without a word', () => {
  it('is noticed by a page, which comes back with what it missed and what it made', async () => {
    const { artifactId, token, sit } = desk;
    const way = await startWay(easel.port);
    // The pauses of a page pass with the time of the test; the service has the same.
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
      // What goes over the network between two seconds.
      await easel.fetch('/health');
    }
    expect(page.sockets.length).toBeGreaterThanOrEqual(4);
    expect(told).toEqual([1]);
    expect(passedMs).toBeGreaterThan(10_000);
    expect(doc.doc.getText('text').toString()).toBe(other.text.toString());
  });

  it('is ended by the service when its pings are not answered, and whoever it was is gone', { timeout: 120_000 }, async () => {
    const { artifactId, token, sit } = desk;
    const watcher = sit('hocuspocus 4', 'quiet');
    await synced(watcher);
    const dead = connect(easel.port, '127.0.0.1');
    await once(dead, 'connect');
    dead.write(
      `GET /v1/data/${artifactId}/realtime/quiet?token=${token} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    await once(dead, 'data');
    // It reads and never answers.
    dead.resume();
    const frame = frameAwareness(writeAwareness([{ clientId: 7, clock: 1, json: '{"at":1}' }]));
    dead.write(Buffer.concat([Buffer.from([0x82, 0x80 | frame.length, 0, 0, 0, 0]), frame]));
    await watcher.until(({ others }) => others[0]?.at === 1);
    await Promise.all([once(dead, 'close'), watcher.until(({ others }) => others.length === 0)]);
    expect(watcher.isConnected).toBe(true);
  });
});
