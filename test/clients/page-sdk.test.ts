/** The page SDK without a browser: its calls go to a scripted server, and the test controls time. */
import { describe, expect, it } from 'vitest';
import type { Easel, EaselOptions, State } from '../../src/clients/page/api.ts';
import type { PageSurroundings } from '../../src/clients/page/browser.ts';
import { EaselError } from '../../src/clients/page/errors.ts';
import type { EventStream } from '../../src/clients/page/feed.ts';
import { createEasel } from '../../src/clients/page/sdk.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { failure, hangUp, json, serverOf } from './scripted-server.ts';

const ID = `art_${'a'.repeat(24)}`;
const data = (body: unknown) => json(200, { success: true, data: body });
const loaded = (value: unknown, second = 0) =>
  data({ keys: [], count: 1, hasMore: false, nextCursor: null, entries: [entry(value, second)] });
const entry = (value: unknown, second = 0) => ({ key: 'k', value, updatedAt: `2026-01-01T00:00:0${second}.000Z` });

/** An EventSource whose events the test sends. */
class ScriptedStream implements EventStream {
  readyState = 0;
  readonly url: string;
  readonly #listeners = new Map<string, ((event: { readonly data?: string }) => void)[]>();

  constructor(url: string) {
    this.url = url;
  }

  addEventListener(type: string, listener: (event: { readonly data?: string }) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  close(): void {
    this.readyState = 2;
  }

  send(type: 'hello' | 'change' | 'reset', body: unknown): void {
    for (const listener of this.#listeners.get(type) ?? []) listener({ data: JSON.stringify(body) });
  }

  /** `final`: the EventSource does not reconnect, as after a refusal. */
  break(final: boolean): void {
    this.readyState = final ? 2 : 0;
    for (const listener of this.#listeners.get('error') ?? []) listener({});
  }
}

const nothing = () => expect.fail('nothing here opens a socket');
const NO_SOCKETS = { openSocket: nothing, loadSharedDocs: nothing, loadYjs: nothing, kept: () => null, keep: nothing };

interface Stage {
  readonly easel: Easel;
  readonly waitsMs: number[];
  readonly streams: ScriptedStream[];
  readonly states: State[];
  /** The network is back. */
  wake(): void;
  /** The page is hidden. */
  sleep(): void;
  /** Resolves when `condition` holds; checks after every event of the SDK. */
  until(condition: () => boolean): Promise<void>;
}

/** Waits are recorded and end immediately, unless `wait` does something else. */
function stageOf(site: Partial<EaselOptions>, around: Partial<PageSurroundings> = {}): Stage {
  const waitsMs: number[] = [];
  const streams: ScriptedStream[] = [];
  const states: State[] = [];
  const wakers: (() => void)[] = [];
  const sleepers: (() => void)[] = [];
  const easel = createEasel(
    { artifactId: ID, ...site },
    {
      fetch,
      wait: async (ms) => void waitsMs.push(ms),
      random: () => 0,
      openStream: (url) => {
        const stream = new ScriptedStream(url);
        streams.push(stream);
        return stream;
      },
      onWake: (run) => void wakers.push(run),
      onSleep: (run) => void sleepers.push(run),
      ...NO_SOCKETS,
      ...around,
    },
  );
  easel.on('state', (state) => void states.push(state));
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    easel,
    waitsMs,
    streams,
    states,
    wake: () => wakers.forEach((run) => void run()),
    until,
    sleep: () => sleepers.forEach((run) => void run()),
  };
}

function thrown(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it did not throw'),
    (error: unknown) => error,
  );
}

describe('backing off', () => {
  it('waits as long as a 429 says, plus jitter', async () => {
    const { baseUrl, seen } = await serverOf(failure(429, 'RATE_LIMITED', { 'retry-after': '7' }), data(entry(1)));
    const stage = stageOf({ baseUrl }, { random: () => 0.5 });
    const retries: number[] = [];
    stage.easel.on('retry', ({ waitMs, error }) => void retries.push(waitMs, error.status));
    expect(await stage.easel.json.get('k')).toBe(1);
    expect([stage.waitsMs, retries, seen.length]).toEqual([[7500], [7500, 429], 2]);
  });

  it('doubles its own wait without Retry-After, and gives up after four repetitions', async () => {
    const { baseUrl, seen } = await serverOf(failure(503, 'UNAVAILABLE'));
    const { easel, waitsMs } = stageOf({ baseUrl }, { random: () => 1 });
    expect(await thrown(easel.json.get('k'))).toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    expect([waitsMs, seen.length]).toEqual([[250, 500, 1000, 2000], 5]);
  });

  it('sends nothing before the wait is over', async () => {
    const clock = new VirtualClock();
    const { baseUrl, seen } = await serverOf(failure(429, 'RATE_LIMITED', { 'retry-after': '2' }), data(entry(1)));
    let waiting = false;
    const wait = (ms: number) =>
      new Promise<void>((resolve) => {
        waiting = true;
        clock.after(ms, resolve);
      });
    const { easel, until } = stageOf({ baseUrl }, { wait });
    const value = easel.json.get('k');
    await until(() => waiting);
    await clock.advance(1999);
    expect(seen.length).toBe(1);
    await clock.advance(1);
    expect([await value, seen.length]).toEqual([1, 2]);
  });

  it('throws if the wait would be too long', async () => {
    const { baseUrl, seen } = await serverOf(failure(429, 'RATE_LIMITED', { 'retry-after': '31' }));
    const { easel } = stageOf({ baseUrl });
    expect(await thrown(easel.json.get('k'))).toMatchObject({ code: 'RATE_LIMITED', retryAfterS: 31 });
    expect(seen.length).toBe(1);
  });

  it('repeats a write only if it cannot take effect twice', async () => {
    const counts: Record<string, number> = {};
    for (const [name, write] of Object.entries<(easel: Easel) => Promise<unknown>>({
      set: (easel) => easel.json.set('k', 1),
      'set if unchanged': (easel) => easel.json.set('k', 1, { ifMatch: '2026' }),
      increment: (easel) => easel.json.increment('k'),
      insert: (easel) => easel.table('t').insert({ a: 1 }),
      update: (easel) => easel.table('t').update('row_1', { a: 1 }),
      delete: (easel) => easel.json.delete('k'),
    })) {
      const { baseUrl, seen } = await serverOf(failure(503, 'UNAVAILABLE'));
      await thrown(write(stageOf({ baseUrl }).easel));
      counts[name] = seen.length;
      const keys = new Set(seen.map(({ headers }) => headers['idempotency-key']));
      expect(keys.size).toBe(1);
      if (name === 'insert') expect([...keys][0]).toMatch(/^[0-9a-f]{32}$/);
    }
    expect(counts).toEqual({ set: 5, 'set if unchanged': 1, increment: 1, insert: 5, update: 1, delete: 1 });
  });

  it('repeats even an increment if it was refused before it took effect', async () => {
    const { baseUrl, seen } = await serverOf(failure(429, 'RATE_LIMITED'), failure(503, 'OWNER_MOVED'), data(entry(8)));
    expect(await stageOf({ baseUrl }).easel.json.increment('k', 2)).toBe(8);
    expect(seen.map(({ body }) => JSON.parse(body))).toEqual(Array(3).fill({ op: 'increment', by: 2 }));
  });

  it('ends a wait with the signal', async () => {
    const { baseUrl, seen } = await serverOf(failure(429, 'RATE_LIMITED', { 'retry-after': '20' }));
    const stop = new AbortController();
    const reason = new Error('enough');
    const wait = (_ms: number, signal?: AbortSignal) => {
      stop.abort(reason);
      return signal?.aborted ? Promise.reject(signal.reason) : Promise.resolve();
    };
    expect(await thrown(stageOf({ baseUrl }, { wait }).easel.json.get('k', { signal: stop.signal }))).toBe(reason);
    expect(seen.length).toBe(1);
  });
});

describe('errors', () => {
  it('are all of one class and have the fields of the service', async () => {
    const { baseUrl } = await serverOf(failure(400, 'KEY_INVALID', {}, { hint: 'Use letters.', param: 'key' }));
    const { easel } = stageOf({ baseUrl });
    const error = await thrown(easel.json.set('ä', 1));
    expect(error).toBeInstanceOf(easel.EaselError);
    expect(error).toMatchObject({
      code: 'KEY_INVALID',
      status: 400,
      hint: 'Use letters.',
      param: 'key',
      requestId: 'req-1',
      message: 'It did not work.',
    });
  });

  it('report a missing answer after two repetitions', async () => {
    const { baseUrl, seen } = await serverOf(hangUp);
    expect(await thrown(stageOf({ baseUrl }).easel.json.get('k'))).toMatchObject({ code: 'NETWORK_ERROR', status: 0 });
    expect(seen.length).toBe(3);
  });

  it('report an answer that comes from a proxy', async () => {
    const { baseUrl } = await serverOf((response) => response.writeHead(413).end('<html>too big</html>'));
    expect(await thrown(stageOf({ baseUrl }).easel.json.set('k', 1))).toMatchObject({ code: 'UNREADABLE_REPLY', status: 413 });
  });

  it('report a page without an artifact, which connect provides', async () => {
    const { baseUrl, seen } = await serverOf(data(entry(1)));
    const { easel } = stageOf({ artifactId: '', baseUrl });
    expect(await thrown(easel.json.get('k'))).toMatchObject({ code: 'NO_ARTIFACT' });
    expect(await easel.connect({ artifactId: ID, token: 'so_1' }).json.get('k')).toBe(1);
    expect(seen[0]).toMatchObject({ url: `/v1/data/${ID}/json/k`, headers: { authorization: 'Bearer so_1' } });
  });

  it.each(['', '.', '..'])('refuse the key "%s", which would reach another path', async (key) => {
    const { baseUrl, seen } = await serverOf(data(entry(1)));
    expect(await thrown(stageOf({ baseUrl }).easel.json.get(key))).toBeInstanceOf(EaselError);
    expect(seen).toEqual([]);
  });

  it('are not thrown for an absent key or row', async () => {
    const none = (code: string) => serverOf(failure(404, code));
    const keys = stageOf(await none('KEY_NOT_FOUND')).easel;
    expect([await keys.json.get('k'), await keys.json.entry('k'), await keys.json.delete('k')]).toEqual([undefined, undefined, false]);
    const rows = stageOf(await none('ROW_NOT_FOUND')).easel.table('t');
    expect([await rows.get('row_1'), await rows.delete('row_1')]).toEqual([undefined, false]);
  });
});

describe('watching', () => {
  const change = (seq: number, value: unknown, second: number) => ({
    seq,
    kind: 'json.put',
    key: 'k',
    data: value,
    updatedAt: entry(0, second).updatedAt,
  });

  it('delivers the current state and then each change once, over one stream', async () => {
    const { baseUrl, seen } = await serverOf(loaded('first', 1));
    const { easel, streams, states, until } = stageOf({ baseUrl });
    const told: unknown[] = [];
    const stop = easel.json.watch('k', (value) => told.push(value));
    const stopOther = easel.json.watch('other', () => told.push('other'));
    await until(() => streams.length === 1);
    expect(streams[0]?.url).toBe(`${baseUrl}/v1/data/${ID}/changes?types=json`);
    streams[0]?.send('hello', { seq: 4 });
    // This event arrives during the read, and the value read already contains it.
    streams[0]?.send('change', change(4, 'first', 1));
    streams[0]?.send('change', change(5, 'second', 2));
    await until(() => told.includes('second'));
    streams[0]?.send('change', { seq: 6, kind: 'json.delete', key: 'k', updatedAt: entry(0, 3).updatedAt });
    await until(() => told.includes(undefined));
    expect(told.filter((value) => value !== 'other')).toEqual(['first', 'second', undefined]);
    stop();
    expect(streams[0]?.readyState).toBe(0);
    stopOther();
    expect([streams[0]?.readyState, streams.length, states]).toEqual([2, 1, ['connecting', 'live', 'idle']]);
    expect(seen.filter(({ url }) => url.includes('prefix=k')).length).toBe(1);
  });

  it('reads again after a gap that is too long, and reports deletions', async () => {
    const list = (...entries: unknown[]) => data({ keys: [], count: 0, hasMore: false, nextCursor: null, entries });
    const one = { key: 'p.a', value: 1, updatedAt: entry(0, 1).updatedAt };
    const two = { key: 'p.b', value: 2, updatedAt: entry(0, 2).updatedAt };
    const { baseUrl } = await serverOf(list(one), list(two));
    const { easel, streams, until } = stageOf({ baseUrl });
    const told: unknown[] = [];
    easel.json.watch('p.*', (value, { key, deleted }) => told.push([key, value, deleted]));
    await until(() => streams.length === 1);
    streams[0]?.send('hello', { seq: 1 });
    await until(() => told.length === 1);
    streams[0]?.send('reset', { seq: 900 });
    await until(() => told.length === 3);
    expect(told).toEqual([
      ['p.a', 1, false],
      ['p.a', undefined, true],
      ['p.b', 2, false],
    ]);
  });

  it('polls every few seconds without a stream, and tries the stream again after a minute', async () => {
    const page = (nextSeq: number, events: unknown[] = [], reset?: true) => data({ events, nextSeq, hasMore: false, reset });
    const pages = [page(3, [], true), page(4, [change(4, 'later', 2)])];
    const { baseUrl, seen } = await serverOf((response, request) => {
      const answer = request.url.includes('/changes') ? (pages.shift() ?? page(4)) : loaded('now', 1);
      answer(response, request);
    });
    const { easel, streams, states, waitsMs, until } = stageOf({ baseUrl });
    const told: unknown[] = [];
    easel.json.watch('k', (value) => told.push(value));
    await until(() => streams.length === 1);
    streams[0]?.break(true);
    await until(() => streams.length === 2 && told.length === 2);
    expect(told).toEqual(['now', 'later']);
    expect(states).toEqual(['connecting', 'polling', 'connecting']);
    expect(waitsMs).toEqual(Array(12).fill(3750));
    expect(seen.filter(({ url }) => url.includes('/changes')).map(({ url }) => new URL(url, baseUrl).searchParams.get('since'))).toEqual([
      String(Number.MAX_SAFE_INTEGER),
      '3',
      ...Array(10).fill('4'),
    ]);
    expect(streams[1]?.url).toContain('since=4');
  });

  it('leaves reconnecting to the browser, and reopens immediately when the network is back', async () => {
    const { baseUrl } = await serverOf(loaded(1));
    const { easel, streams, states, wake, until } = stageOf({ baseUrl });
    easel.json.watch('k', () => undefined);
    await until(() => streams.length === 1);
    streams[0]?.send('hello', { seq: 9 });
    streams[0]?.break(false);
    expect(streams.length).toBe(1);
    streams[0]?.send('hello', { seq: 9 });
    streams[0]?.break(false);
    wake();
    expect(streams.map(({ url }) => new URL(url).searchParams.get('since'))).toEqual([null, '9']);
    expect(states).toEqual(['connecting', 'live', 'connecting', 'live', 'connecting']);
  });

  it('closes the stream while the page is hidden, and catches up later', async () => {
    const { baseUrl } = await serverOf(loaded(1, 1));
    const { easel, streams, states, wake, sleep, until } = stageOf({ baseUrl });
    const told: unknown[] = [];
    sleep();
    easel.json.watch('k', (value) => told.push(value));
    await until(() => streams.length === 1);
    streams[0]?.send('hello', { seq: 9 });
    await until(() => told.length === 1);
    sleep();
    expect([streams[0]?.readyState, easel.state]).toEqual([2, 'connecting']);
    wake();
    expect(streams[1]?.url).toContain('since=9');
    streams[1]?.send('hello', { seq: 10 });
    streams[1]?.send('change', change(10, 2, 2));
    await until(() => told.length === 2);
    expect([told, states]).toEqual([
      [1, 2],
      ['connecting', 'live', 'connecting', 'live'],
    ]);
  });

  it('ends if the page may not read', async () => {
    const { baseUrl, seen } = await serverOf(failure(404, 'ARTIFACT_NOT_FOUND'));
    const { easel, streams, states, until } = stageOf({ baseUrl });
    const errors: string[] = [];
    easel.on('error', ({ code }) => void errors.push(code));
    easel.json.watch('k', () => undefined);
    await until(() => streams.length === 1);
    streams[0]?.break(true);
    await until(() => errors.length > 0);
    expect([states, errors, seen.length]).toEqual([['connecting', 'refused'], ['ARTIFACT_NOT_FOUND'], 1]);
  });

  it('reads a value that is too long for an event', async () => {
    const { baseUrl } = await serverOf(loaded('short', 1), data(entry('long', 2)));
    const { easel, streams, until } = stageOf({ baseUrl });
    const told: unknown[] = [];
    easel.json.watch('k', (value) => told.push(value));
    await until(() => streams.length === 1);
    streams[0]?.send('hello', { seq: 1 });
    await until(() => told.length === 1);
    streams[0]?.send('change', { seq: 2, kind: 'json.put', key: 'k', truncated: true, updatedAt: entry(0, 2).updatedAt });
    await until(() => told.length === 2);
    expect(told).toEqual(['short', 'long']);
  });
});

describe('the proxy', () => {
  const passedOn = { 'x-proxy-cache': 'miss', 'content-type': 'text/plain' };

  it('resolves with the answer of the other host, whatever its status', async () => {
    const { baseUrl, seen } = await serverOf((response) => response.writeHead(404, passedOn).end('no such city'));
    const { easel } = stageOf({ baseUrl });
    const reply = await easel.proxy('https://api.example.com/weather?city=Lima&unit=c');
    expect([reply.status, await reply.text()]).toEqual([404, 'no such city']);
    expect(seen[0]?.url).toBe(`/v1/data/${ID}/proxy?url=${encodeURIComponent('https://api.example.com/weather?city=Lima&unit=c')}`);
  });

  it('throws what the service refuses, and repeats what it could not do now', async () => {
    const { baseUrl } = await serverOf(failure(403, 'HOST_NOT_ALLOWED'));
    expect(await thrown(stageOf({ baseUrl }).easel.proxy('https://a.example/'))).toMatchObject({ code: 'HOST_NOT_ALLOWED', status: 403 });
    const busy = await serverOf(failure(503, 'UNAVAILABLE'), (response) => response.writeHead(200, passedOn).end('now'));
    const stage = stageOf({ baseUrl: busy.baseUrl });
    expect(await (await stage.easel.proxy(new URL('https://a.example/'))).text()).toBe('now');
    expect(stage.waitsMs).toHaveLength(1);
  });
});

describe('the agent of the page', () => {
  const answer = { answer: 'Forty-one [1].', citations: [], mode: 'generated' };
  const streamed = (body: string) => serverOf((response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body));
  const event = (name: string, body: unknown) => `event: ${name}\ndata: ${JSON.stringify(body)}\n\n`;

  it('answers at once, or with the text so far as it comes', async () => {
    const whole = await serverOf(data(answer));
    expect(await stageOf({ baseUrl: whole.baseUrl }).easel.agent.ask('How many?')).toEqual(answer);
    expect(whole.seen[0]?.url).toBe(`/v1/data/${ID}/agent`);
    const { baseUrl } = await streamed(event('text', { text: 'Forty' }) + event('text', { text: '-one' }) + event('done', answer));
    const told: string[] = [];
    expect(await stageOf({ baseUrl }).easel.agent.ask('How many?', { onText: (text) => told.push(text) })).toEqual(answer);
    expect(told).toEqual(['Forty', 'Forty-one']);
  });

  it('throws what the service refuses, and where the answer ends early', async () => {
    const refused = await serverOf(failure(403, 'FORBIDDEN'));
    const onText = () => undefined;
    expect(await thrown(stageOf({ baseUrl: refused.baseUrl }).easel.agent.ask('?', { onText }))).toMatchObject({ code: 'FORBIDDEN' });
    const { baseUrl } = await streamed(event('text', { text: 'Forty' }));
    expect(await thrown(stageOf({ baseUrl }).easel.agent.ask('?', { onText }))).toMatchObject({ code: 'NETWORK_ERROR' });
  });
});
