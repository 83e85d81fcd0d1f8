/** The reconnecting WebSocket of a page without a browser: the test controls sockets and time. */
import { expect, it, onTestFinished } from 'vitest';
import type { ConnectionState } from '../../src/clients/page/api.ts';
import { Connection, type PageSocket } from '../../src/clients/page/connection.ts';
import { Transport } from '../../src/clients/page/transport.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const ID = `art_${'a'.repeat(24)}`;
const FAILED: [number, string] = [1006, ''];

type Event = Parameters<Parameters<PageSocket['addEventListener']>[1]>[0];

class ScriptedSocket implements PageSocket {
  binaryType = 'blob';
  isClosed = false;
  readonly sent: unknown[] = [];
  readonly #listeners = new Map<string, (event: Event) => void>();

  addEventListener(type: string, listener: (event: Event) => void): void {
    this.#listeners.set(type, listener);
  }

  send(data: unknown): void {
    this.sent.push(data);
  }

  close(): void {
    this.isClosed = true;
  }

  open(): void {
    this.#listeners.get('open')?.({});
  }

  say(data: unknown): void {
    this.#listeners.get('message')?.({ data });
  }

  break(code: number, reason: string): void {
    this.#listeners.get('close')?.({ code, reason });
  }
}

/** `answers`: statuses of the plain requests that find out why the socket failed to open; the last one repeats. */
function stageOf(answers: readonly number[] = [426], random = 0.5) {
  const clock = new VirtualClock();
  const sockets: ScriptedSocket[] = [];
  const states: string[] = [];
  const heard: unknown[] = [];
  const wakers: (() => void)[] = [];
  const asked: string[] = [];
  const around = {
    fetch: async (url: string | URL | Request) => {
      asked.push(String(url));
      const status = answers[Math.min(asked.length, answers.length) - 1] ?? 0;
      if (status === 0) throw new TypeError('no network');
      return new Response(JSON.stringify({ success: false, code: status === 426 ? 'UPGRADE_REQUIRED' : 'ARTIFACT_NOT_FOUND' }), { status });
    },
    wait: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const timer = clock.after(ms, resolve);
        signal?.addEventListener('abort', () => {
          timer.cancel();
          reject(signal.reason);
        });
      }),
    random: () => random,
    onWake: (run: () => void) => void wakers.push(run),
    openSocket: () => {
      const socket = new ScriptedSocket();
      sockets.push(socket);
      return socket;
    },
  };
  const connection: Connection = new Connection(
    new Transport({ artifactId: ID }, around, () => expect.fail('it is not repeated')),
    around,
    {
      path: '/channels',
      probe: 'probe',
      opened: () => undefined,
      heard: (data) => {
        heard.push(data);
        if (data === 'hello') connection.ready();
      },
      became: (state: ConnectionState, error) => void states.push(error === undefined ? state : `${state} ${error.code}`),
    },
  );
  onTestFinished(() => connection.close());
  const last = () => sockets.at(-1) ?? expect.fail('no socket was opened');
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    clock,
    connection,
    sockets,
    states,
    heard,
    asked,
    last,
    wake: () => {
      for (const run of wakers) run();
    },
    /** Runs all pending promises without advancing the time. */
    settled,
    pass: async (ms: number) => {
      // Each pause begins only after the promise of the previous one.
      for (let leftMs = ms; leftMs > 0; leftMs -= 250) {
        clock.advance(Math.min(leftMs, 250));
        await settled();
      }
    },
    live: () => {
      connection.open();
      last().open();
      last().say('hello');
    },
  };
}

it('is live when the server has answered, and idle when it is closed', () => {
  const { connection, states, sockets, heard, last, live } = stageOf();
  live();
  expect([last().binaryType, connection.send('x'), last().sent, heard]).toEqual(['arraybuffer', true, ['x'], ['hello']]);
  connection.open();
  connection.close();
  expect([states, connection.send('y'), sockets.length, last().isClosed]).toEqual([['connecting', 'live', 'idle'], false, 1, true]);
});

it('reconnects with growing pauses, which start again once it was live', async () => {
  const { states, sockets, last, live, pass, asked, settled } = stageOf();
  live();
  last().break(4503, 'moved');
  await pass(250);
  expect(sockets.length).toBe(1);
  await pass(250);
  expect([sockets.length, asked.length]).toEqual([2, 0]);
  const opened: number[] = [];
  for (let failures = 0; failures < 8; failures += 1) {
    const before = sockets.length;
    last().break(...FAILED);
    await settled();
    for (let waitedMs = 0; sockets.length === before; waitedMs += 250) {
      await pass(250);
      opened[failures] = waitedMs + 250;
    }
  }
  expect(opened).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  last().open();
  last().say('hello');
  last().break(1001, '');
  await pass(500);
  expect([states, sockets.length]).toEqual([['connecting', 'live', 'connecting', 'offline', 'live', 'connecting'], 11]);
});

it('keeps growing pauses if it is accepted and closed immediately', async () => {
  const { sockets, last, connection, pass } = stageOf();
  connection.open();
  for (let round = 0; round < 5; round += 1) {
    last().open();
    last().break(1013, '');
    await pass(500 * 2 ** round);
  }
  expect(sockets.length).toBe(6);
  last().open();
  last().break(1013, '');
  await pass(10_000);
  expect(sockets.length).toBe(6);
});

it.each([
  [4401, 'UNAUTHORIZED'],
  [4403, 'FORBIDDEN'],
  [4404, 'ARTIFACT_NOT_FOUND'],
  [4413, 'INVALID_REQUEST'],
])('is refused for good by %i', async (code, known) => {
  const { states, sockets, last, live, pass, wake } = stageOf();
  live();
  last().break(code, 'why');
  wake();
  await pass(120_000);
  expect([states.at(-1), sockets.length]).toEqual([`refused ${known}`, 1]);
});

it('asks why opening failed, and stops if the answer is final', async () => {
  const { connection, states, sockets, last, pass, asked, settled } = stageOf([0, 503, 429, 404]);
  connection.open();
  for (let failures = 0; failures < 3; failures += 1) {
    last().break(...FAILED);
    await settled();
    await pass(500 * 2 ** failures);
  }
  last().break(...FAILED);
  await settled();
  expect([states, sockets.length, new Set(asked)]).toEqual([
    ['connecting', 'offline', 'refused ARTIFACT_NOT_FOUND'],
    4,
    new Set([`/v1/data/${ID}/channels`]),
  ]);
});

it('detects a dead connection: probes after 20 s, gives up after 30 s', async () => {
  const { states, sockets, last, live, pass } = stageOf();
  live();
  await pass(15_000);
  last().say('anything');
  await pass(14_000);
  expect(last().sent).toEqual([]);
  await pass(7000);
  expect(last().sent).toEqual(['probe']);
  last().say('pong');
  await pass(23_000);
  expect([sockets.length, last().sent]).toEqual([1, ['probe', 'probe']]);
  await pass(2000);
  expect([sockets[0]?.isClosed, states]).toEqual([true, ['connecting', 'live', 'connecting']]);
  await pass(500);
  expect(sockets.length).toBe(2);
});

it('gives up an attempt that never opens', async () => {
  const { connection, sockets, states, pass } = stageOf();
  connection.open();
  await pass(31_000);
  expect([sockets.length, states]).toEqual([2, ['connecting', 'offline']]);
});

it('when the network is back it reconnects immediately, and probes an open connection', async () => {
  const { sockets, last, live, pass, wake } = stageOf();
  live();
  wake();
  expect([sockets.length, last().sent]).toEqual([1, ['probe']]);
  last().say('pong');
  await pass(15_000);
  expect(sockets.length).toBe(1);
  wake();
  await pass(10_500);
  expect(sockets.length).toBe(2);
  last().break(...FAILED);
  wake();
  expect(sockets.length).toBe(3);
});

it('adds jitter to the pauses', async () => {
  const [early, late] = [stageOf([426], 0), stageOf([426], 0.999)];
  for (const one of [early, late]) {
    one.live();
    one.last().break(4503, '');
    await one.pass(500);
  }
  expect([early.sockets.length, late.sockets.length]).toEqual([2, 1]);
  await late.pass(250);
  expect(late.sockets.length).toBe(2);
});

it('reports a content security policy that forbids it', () => {
  const around = stageOf();
  const states: string[] = [];
  const connection = new Connection(
    new Transport({ artifactId: '' }, { fetch, wait: () => Promise.resolve(), random: () => 0 }, () => undefined),
    { fetch, wait: () => Promise.resolve(), random: () => 0, onWake: () => undefined, openSocket: () => around.last() },
    {
      path: '/x',
      probe: '',
      opened: () => undefined,
      heard: () => undefined,
      became: (state, error) => void states.push(`${state} ${error?.code}`),
    },
  );
  connection.open();
  expect(states).toEqual(['connecting undefined', 'refused NO_ARTIFACT']);
});
