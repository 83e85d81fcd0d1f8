/** GET …/changes over the whole service: missed changes, live changes, and access. Source: contract.md §5. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type Answered, callData, type DataArtifact, publishArtifact } from '../../../support/data-client.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';

interface SentEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its events.
  readonly data: any;
}

async function* textOf(reply: Response): AsyncGenerator<string> {
  const reader = reply.body?.getReader();
  const decoder = new TextDecoder();
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
    yield decoder.decode(read.value, { stream: true });
  }
}

/** Reads one stream as a browser would. */
class Listener {
  readonly events: SentEvent[] = [];
  heartbeats = 0;
  closed = false;
  readonly #abort = new AbortController();

  static async open(url: string, headers: Record<string, string> = {}): Promise<Listener> {
    const listener = new Listener();
    const reply = await fetch(url, { headers, signal: listener.#abort.signal });
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    void listener.#read(reply);
    return listener;
  }

  get changes(): readonly SentEvent[] {
    return this.events.filter(({ event }) => event === 'change');
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(reply: Response): Promise<void> {
    let text = '';
    try {
      for await (const chunk of textOf(reply)) {
        text += chunk;
        const whole = text.split('\n\n');
        text = whole.pop() ?? '';
        for (const one of whole) this.#take(one);
      }
    } catch {
      // Closed, whether the test aborted the request or the server ended it.
    }
    this.closed = true;
  }

  #take(text: string): void {
    const lines = new Map(text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
    if (lines.has('')) this.heartbeats += 1;
    else this.events.push({ id: lines.get('id'), event: lines.get('event'), data: JSON.parse(lines.get('data') ?? 'null') });
  }
}

describe.each(databaseKinds())('on %s', (database) => {
  let easel: TestEasel;
  let owner: TestUser;
  let artifact: DataArtifact;
  const open: Listener[] = [];
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    owner = await easel.newUser('pro');
  });
  afterAll(() => easel.close());
  beforeEach(async () => {
    for (const listener of open.splice(0)) listener.close();
    artifact = await publishArtifact(easel, owner, { visibility: 'public' });
  });

  async function listen(query = '', headers: Record<string, string> = {}, token: string | undefined = owner.token): Promise<Listener> {
    const authorization: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
    const listener = await Listener.open(`${easel.baseUrl}/v1/data/${artifact.id}/changes${query}`, { ...authorization, ...headers });
    open.push(listener);
    await expect.poll(() => listener.events.length).toBeGreaterThan(0);
    return listener;
  }

  function call(method: string, path: string, body?: unknown): Promise<Answered> {
    return callData(easel, artifact, method, path, { token: owner.token, ...(body !== undefined && { body }) });
  }

  async function page(query: string, token = owner.token): Promise<Answered['body']> {
    const headers = { accept: 'application/json' };
    return (await callData(easel, artifact, 'GET', `/changes${query}`, { token, headers })).body.data;
  }

  test('sends hello and then each change once, in order', async () => {
    const listener = await listen();
    expect(listener.events).toEqual([{ id: '0', event: 'hello', data: { seq: 0 } }]);
    await call('PUT', '/json/a', { n: 1 });
    const inserted = await call('POST', '/tables/guests', { name: 'Ada' });
    await call('DELETE', '/json/a');
    await expect.poll(() => listener.changes.length).toBe(4);
    expect(listener.changes.map(({ id, data }) => [id, data.seq, data.kind])).toEqual([
      ['1', 1, 'json.put'],
      ['2', 2, 'table.put'],
      ['3', 3, 'row.put'],
      ['4', 4, 'json.delete'],
    ]);
    expect(listener.changes[0]?.data).toMatchObject({ key: 'a', data: { n: 1 }, updatedAt: expect.stringMatching(/^2026-.*Z$/) });
    expect(listener.changes[2]?.data).toMatchObject({ table: 'guests', id: inserted.body.data.inserted[0].id, data: { name: 'Ada' } });
    expect(listener.changes[3]?.data).toEqual({ seq: 4, kind: 'json.delete', key: 'a', updatedAt: expect.any(String) });
  });

  test('sends missed changes, each thing as it is now, and then live changes', async () => {
    for (let n = 0; n < 5; n += 1) await call('PUT', '/json/a', n);
    await call('PUT', '/json/b', 'x');
    await call('DELETE', '/json/b');
    const listener = await listen('?since=2');
    await call('PUT', '/json/c', true);
    await expect.poll(() => listener.changes.length).toBe(3);
    expect(listener.changes.map(({ data }) => [data.seq, data.kind, data.key, data.data])).toEqual([
      [5, 'json.put', 'a', 4],
      [7, 'json.delete', 'b', undefined],
      [8, 'json.put', 'c', true],
    ]);
  });

  test('Last-Event-ID takes precedence over since', async () => {
    for (const key of ['a', 'b', 'c']) await call('PUT', `/json/${key}`, 1);
    const listener = await listen('?since=0', { 'last-event-id': '2' });
    await expect.poll(() => listener.changes.map(({ data }) => data.key)).toEqual(['c']);
    const refused = await easel.fetch(`/v1/data/${artifact.id}/changes`, { token: owner.token, headers: { 'last-event-id': 'x' } });
    expect(refused.status).toBe(400);
  });

  test('a follower that was away too long, or claims a seq that does not exist, is told to reset', async () => {
    for (const key of ['a', 'b', 'c']) await call('PUT', `/json/${key}`, 1);
    await easel.sql`update artifact set tombstones_trimmed_seq = 2 where id = ${artifact.id}`;
    for (const since of [1, 9]) {
      const listener = await listen(`?since=${since}`);
      await expect.poll(() => listener.events[1]).toEqual({ id: '3', event: 'reset', data: { seq: 3 } });
      await call('PUT', '/json/a', since);
      await expect.poll(() => listener.changes.length).toBe(1);
      listener.close();
      await easel.sql`update artifact set seq = 3 where id = ${artifact.id}`;
      await easel.runtime.discard(artifact.id);
    }
    expect(await page('?since=1')).toEqual({ events: [], nextSeq: 3, hasMore: false, reset: true });
    expect((await page('?since=0')).reset).toBeUndefined();
  });

  test('JSON pages are bounded and together return every change', async () => {
    for (let n = 0; n < 5; n += 1) await call('PUT', `/json/k${n}`, n);
    const seqs: number[] = [];
    let since = 0;
    for (let more = true; more; ) {
      const { events, nextSeq, hasMore } = await page(`?since=${since}&limit=2`);
      seqs.push(...events.map(({ seq }: { seq: number }) => seq));
      since = nextSeq;
      more = hasMore;
    }
    expect(seqs).toEqual([1, 2, 3, 4, 5]);
    expect(await page(`?since=${since}`)).toEqual({ events: [], nextSeq: 5, hasMore: false });
  });

  test('a long value is left out and marked as truncated, in a page and live', async () => {
    const listener = await listen();
    await call('PUT', '/json/long', 'x'.repeat(LIMITS.changeValueBytesMax));
    await call('PUT', '/json/short', 'x'.repeat(LIMITS.changeValueBytesMax - 2));
    await expect.poll(() => listener.changes.length).toBe(2);
    const told = [listener.changes.map(({ data }) => data), (await page('?since=0')).events];
    for (const events of told) {
      expect(events[0]).toMatchObject({ key: 'long', truncated: true });
      expect(events[0]).not.toHaveProperty('data');
      expect(events[1].data).toHaveLength(LIMITS.changeValueBytesMax - 2);
    }
  });

  test('a value with line breaks is sent as one event', async () => {
    const listener = await listen();
    const init = { method: 'PUT', token: owner.token, headers: { 'content-type': 'application/json' }, body: '{\r\n  "a":\n\n 1\n}' };
    await easel.fetch(`/v1/data/${artifact.id}/json/a`, init);
    await expect.poll(() => listener.changes.map(({ data }) => data.data)).toEqual([{ a: 1 }]);
  });

  test('only requested types are sent', async () => {
    const listener = await listen('?types=tables');
    await call('PUT', '/json/a', 1);
    await call('POST', '/tables/guests', { name: 'Ada' });
    await expect.poll(() => listener.changes.map(({ data }) => data.kind)).toEqual(['table.put', 'row.put']);
    expect((await page('?since=0&types=json')).events.map(({ key }: { key: string }) => key)).toEqual(['a']);
    const refused = await callData(easel, artifact, 'GET', '/changes?types=json,mail', { token: owner.token });
    expect(refused).toMatchObject({ status: 400, body: { param: 'types.1' } });
  });

  test('changes of keys that begin with _ are sent to the owner and editors only', async () => {
    const guest = await listen('', {}, '');
    const own = await listen();
    await call('PUT', '/json/_secret', 1);
    await call('PUT', '/json/shown', 1);
    await call('DELETE', '/json/_secret');
    await call('PUT', '/json/end', 1);
    await expect.poll(() => own.changes.length).toBe(4);
    await expect.poll(() => guest.changes.map(({ data }) => data.key)).toEqual(['shown', 'end']);
    const { token } = await easel.newUser();
    expect((await page('?since=0', token)).events.map(({ key }: { key: string }) => key)).toEqual(['shown', 'end']);
  });

  test('a heartbeat is sent every 15 s and finds changes that no commit reported', async () => {
    const listener = await listen();
    easel.clock.advance(14_999);
    easel.clock.advance(1);
    await expect.poll(() => listener.heartbeats).toBe(1);
    // Simulates a write by another process, whose commits are not reported here.
    await easel.sql`insert into json_key (artifact_id, key, value, seq, created_at_ms, updated_at_ms) values (${artifact.id}, 'far', '1', 1, 0, 0)`;
    await easel.sql`update artifact set seq = 1 where id = ${artifact.id}`;
    easel.clock.advance(15_000);
    await expect.poll(() => listener.changes.map(({ data }) => data.key)).toEqual(['far']);
  });

  test('a stream ends when its caller loses access', async () => {
    const { token, userId } = await easel.newUser();
    const expiring = await easel.newUser();
    await easel.sql`update access_token set expires_at_ms = ${easel.clock.nowMs() + 5000} where user_id = ${expiring.userId}`;
    const [guest, stranger, old, own] = await Promise.all([
      listen('', {}, ''),
      listen('', {}, token),
      listen('', {}, expiring.token),
      listen(),
    ]);
    const tokens = await easel.sql<{ id: string }[]>`select id from access_token where user_id = ${userId}`;
    await easel.fetch(`/v1/me/tokens/${tokens[0]?.id}`, { method: 'DELETE', token });
    await expect.poll(() => stranger.closed).toBe(true);
    easel.clock.advance(5000);
    await expect.poll(() => old.closed).toBe(true);
    expect(guest.closed).toBe(false);
    const init = { method: 'PATCH', token: owner.token, headers: { 'content-type': 'application/json' }, body: '{"visibility":"private"}' };
    expect((await easel.fetch(`/v1/artifacts/${artifact.id}`, init)).status).toBe(200);
    await expect.poll(() => guest.closed).toBe(true);
    await call('PUT', '/json/a', 1);
    await expect.poll(() => own.changes.length).toBe(1);
    await easel.fetch(`/v1/artifacts/${artifact.id}`, { method: 'DELETE', token: owner.token });
    await expect.poll(() => own.closed).toBe(true);
  });

  test('a stalled reader delays nobody, and catches up with the current state', async () => {
    const slow = await fetch(`${easel.baseUrl}/v1/data/${artifact.id}/changes`, { headers: { authorization: `Bearer ${owner.token}` } });
    const value = 'x'.repeat(15_000);
    for (let round = 0; round < 10; round += 1) {
      const requests = Array.from({ length: 90 }, (_, n) => ({ method: 'PUT', path: `/json/k${n}`, body: `${round}${value}` }));
      expect((await call('POST', '/batch', { requests, atomic: true })).status).toBe(200);
    }
    await call('PUT', '/json/end', 'done');
    let text = '';
    for await (const chunk of textOf(slow)) {
      text += chunk;
      if (text.includes('"key":"end"')) break;
    }
    const told = text.split('event: change').length - 1;
    expect(told).toBeLessThan(900);
    const missed = Array.from({ length: 90 }, (_, n) => n).filter((n) => !text.includes(`"key":"k${n}","data":"9xxx`));
    expect(missed).toEqual([]);
  });

  test('an open stream costs one call and keeps no actor in memory', async () => {
    const listener = await listen();
    await call('PUT', '/json/a', 1);
    await expect.poll(() => listener.changes.length).toBe(1);
    await easel.runtime.discard(artifact.id);
    for (let beat = 0; beat < 3; beat += 1) {
      easel.clock.advance(15_000);
      await expect.poll(() => listener.heartbeats).toBe(beat + 1);
    }
    easel.clock.advance(61_000);
    expect((await call('GET', '/json/a')).headers.get('ratelimit')).toBe('"data";r=999;t=61');
  });
});
