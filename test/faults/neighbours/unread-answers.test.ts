/** Found 7: answers that nobody reads. What waits for a reader is bounded in all and for each network and artifact, and silent readers are disconnected. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { databaseKinds } from '../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../support/easel.ts';
import { wire } from '../../support/page-requests.ts';
import { published } from '../../support/requests.ts';
import { type Answer, attackerAddress, Caller, Victim } from './neighbour-stage.ts';
import { metric, RawConnection, type Sent } from './raw-connection.ts';

/** Only ends a test that hangs. */
const PATIENT = { timeout: 60_000 };
const MB = 1024 * 1024;
const KEYS = Array.from({ length: 12 }, (_, index) => `part-${index}`);
const READERS = 12;

describe.each(databaseKinds())('on %s', (database) => {
  let easel: TestEasel;
  let owner: TestUser;
  let victim: Victim;
  const open: { close(): void }[] = [];

  beforeAll(async () => {
    easel = await startTestEasel({ database });
    owner = await easel.newUser('team');
    victim = await Victim.of(easel);
  });
  afterEach(async () => {
    for (const one of open.splice(0)) one.close();
    await expect.poll(() => metric(easel, 'easel_answer_bytes_in_flight'), PATIENT).toBe(0);
  });
  afterAll(async () => {
    victim.close();
    await easel.close();
  });

  /** A public artifact with keys that a batch reads in one answer of 12 MB, which is more than the system takes for a silent reader. */
  async function bigArtifact(): Promise<string> {
    const { id } = await published(easel, owner, { visibility: 'public' });
    for (const key of KEYS) {
      const init = { method: 'PUT', body: JSON.stringify('x'.repeat(MB - 100)), headers: { 'content-type': 'application/json' } };
      const reply = await easel.fetch(`/v1/data/${id}/json/${key}`, { token: owner.token, ...init });
      expect(reply.status).toBe(201);
      await reply.arrayBuffer();
    }
    return id;
  }

  function readAll(id: string): Sent {
    const body = JSON.stringify({ requests: KEYS.map((key) => ({ method: 'GET', path: `json/${key}` })) });
    return { method: 'POST', path: `/v1/data/${id}/batch`, body };
  }

  async function silentReaders(count: number, address: (index: number) => string, sent: Sent) {
    const readers = await Promise.all(Array.from({ length: count }, (_, index) => RawConnection.open(easel, address(index))));
    open.push(...readers);
    for (const reader of readers) reader.send(sent);
    return readers;
  }

  function callFrom(address: string, sent: Sent): Promise<Answer> {
    const caller = new Caller(easel, address);
    open.push(caller);
    return caller.call(sent);
  }

  function refusals(share: string): Promise<number> {
    return metric(easel, `easel_share_refusals_total{resource="answers",share="${share}"}`);
  }

  /** Each of so many requests of an operation is answered whole, refused, or waits for its reader. Resolves with those that wait. */
  async function settled(count: number, operation: string, before: number): Promise<number> {
    let waiting = 0;
    const all = async () => {
      waiting = await metric(easel, 'easel_answers_waiting');
      return waiting + (await recorded(operation)) - before;
    };
    await expect.poll(all, PATIENT).toBe(count);
    return waiting;
  }

  async function recorded(operation: string): Promise<number> {
    let sum = 0;
    for (const status of [200, 503]) sum += await metric(easel, `easel_requests_total{operation="${operation}",status="${status}"}`);
    return sum;
  }

  test('one network fills only its share; others go on, also with large answers', async () => {
    const id = await bigArtifact();
    const before = await recorded('data.batch');
    const attack = (async () => {
      const readers = await silentReaders(READERS, () => attackerAddress(0), readAll(id));
      const waiting = await settled(READERS, 'data.batch', before);
      expect(waiting).toBeGreaterThan(0);
      expect(waiting).toBeLessThan(READERS / 2);
      const held = await metric(easel, 'easel_answer_bytes_in_flight');
      expect(held).toBeGreaterThan(4 * MB);
      expect(held).toBeLessThanOrEqual(LIMITS.answersBytesPerCallerMax);
      const statuses = await Promise.all(readers.map((reader) => reader.status()));
      expect(new Set(statuses)).toEqual(new Set(['HTTP/1.1 200 OK', 'HTTP/1.1 503 Service Unavailable']));
    })();
    expect((await victim.during(attack)).refused).toEqual([]);
    expect(await refusals('network')).toBeGreaterThan(0);
    const refused = await callFrom(attackerAddress(0), readAll(id));
    expect([refused.status, JSON.parse(refused.text).code, refused.headers['retry-after']]).toEqual([503, 'UNAVAILABLE', '5']);
    const whole = await callFrom('127.0.0.1', readAll(id));
    expect([whole.status, whole.text.length > 11 * MB]).toEqual([200, true]);
  });

  test('many networks fill only the share of one artifact', async () => {
    const [attacked, other] = [await bigArtifact(), await bigArtifact()];
    const before = await recorded('data.batch');
    await silentReaders(READERS, (index) => attackerAddress(1 + index), readAll(attacked));
    const waiting = await settled(READERS, 'data.batch', before);
    expect(waiting).toBeGreaterThan(1);
    expect(waiting).toBeLessThan(READERS);
    expect(await metric(easel, 'easel_answer_bytes_in_flight')).toBeLessThanOrEqual(LIMITS.answersBytesPerArtifactMax);
    expect((await callFrom('127.0.0.1', readAll(attacked))).status).toBe(503);
    // A small answer about the same artifact needs no room.
    expect((await callFrom('127.0.0.1', { path: `/v1/data/${attacked}/tables` })).status).toBe(200);
    expect((await callFrom('127.0.0.1', readAll(other))).status).toBe(200);
  });

  test('a reader that takes nothing is disconnected and leaves its share to others', async () => {
    const id = await bigArtifact();
    const before = await recorded('data.batch');
    await silentReaders(READERS, () => attackerAddress(0), readAll(id));
    expect(await settled(READERS, 'data.batch', before)).toBeGreaterThan(0);
    easel.clock.advance(LIMITS.answerWindowMs + 1000);
    // At once: uWebSockets' own timer would need 10 s.
    expect(await metric(easel, 'easel_answers_waiting')).toBe(0);
    expect((await callFrom(attackerAddress(0), readAll(id))).status).toBe(200);
  });

  test('a change that is done is answered, and the next call has to wait for the room of its answer', async () => {
    const id = await bigArtifact();
    const before = await recorded('data.batch');
    await silentReaders(READERS, () => attackerAddress(0), readAll(id));
    const waiting = await settled(READERS, 'data.batch', before);
    const change = (key: string) => {
      const requests = [{ method: 'PUT', path: `json/${key}`, body: 1 }, ...KEYS.map((one) => ({ method: 'GET', path: `json/${one}` }))];
      return { ...readAll(id), body: JSON.stringify({ requests }), lines: [`Authorization: Bearer ${owner.token}`] };
    };
    const [first, second] = [await silentReaders(1, () => attackerAddress(0), change('first')), change('second')];
    expect(await settled(READERS + 1, 'data.batch', before)).toBe(waiting + 1);
    expect(await first[0]?.status()).toBe('HTTP/1.1 200 OK');
    const [refused] = await silentReaders(1, () => attackerAddress(0), second);
    expect(await refused?.status()).toBe('HTTP/1.1 503 Service Unavailable');
    // It was refused before it happened.
    const stored = async (key: string) => (await easel.fetch(`/v1/data/${id}/json/${key}`, { token: owner.token })).status;
    expect([await stored('first'), await stored('second')]).toEqual([200, 404]);
  });

  test('a published file is kept once for all its readers, and each file that is kept counts', async () => {
    const files = (name: string) => [
      { path: 'index.html', content: '<p>' },
      { path: 'big.bin', content: name.repeat(20 * MB) },
    ];
    const before = await recorded('content');
    const slugs: string[] = [];
    for (const name of ['a', 'b']) slugs.push((await published(easel, owner, { visibility: 'public', files: files(name) })).slug);
    const hosts = slugs.map((slug) => new URL(easel.contentUrl(slug)).host);
    const page = (index: number) => ({ path: '/big.bin', host: hosts[index] ?? '' });
    await silentReaders(30, () => attackerAddress(0), page(0));
    expect(await settled(30, 'content', before)).toBe(30);
    const held = await metric(easel, 'easel_answer_bytes_in_flight');
    expect(held).toBeGreaterThanOrEqual(20 * MB);
    expect(held).toBeLessThan(21 * MB);
    expect((await wire(easel.port, hosts[1] ?? '', '/big.bin', { from: attackerAddress(0) })).status).toBe(503);
    const mine = await wire(easel.port, hosts[1] ?? '', '/big.bin');
    expect([mine.status, mine.body.length]).toEqual([200, 20 * MB]);
  });

  test('whoever sends requests without reading the answers is disconnected instead of filling memory with them', async () => {
    const { slug } = await published(easel, owner, {
      visibility: 'public',
      files: [{ path: 'index.html', content: 'z'.repeat(100_000) }],
    });
    const { host } = new URL(easel.contentUrl(slug));
    // From memory it is answered in the turn of its request; while an answer is awaited uWebSockets takes no further request.
    expect((await wire(easel.port, host, '/')).status).toBe(200);
    const served = () => recorded('content');
    const connections = () => metric(easel, 'easel_connections_open');
    // The connection that asks for the metrics is one of them.
    const [servedBefore, openBefore] = [await served(), await connections()];
    const [pipelining] = await silentReaders(1, () => attackerAddress(0), { path: '/', host });
    const request = `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    for (let sent = 0; sent < 20; sent += 1) pipelining?.socket.write(request.repeat(100));
    await expect.poll(connections, PATIENT).toBe(openBefore);
    expect((await served()) - servedBefore).toBeLessThan(500);
  });

  test('a packet of many small requests is one turn of bounded length', async () => {
    const alive = () => metric(easel, 'easel_requests_total{operation="operations.alive",status="200"}');
    const before = await alive();
    const [pipelining] = await silentReaders(1, () => attackerAddress(0), { path: '/healthz' });
    const request = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
    for (let sent = 0; sent < 20; sent += 1) pipelining?.socket.write(request.repeat(5000));
    pipelining?.socket.resume();
    await pipelining?.closed;
    expect((await alive()) - before).toBeLessThan(20_000);
  });
});
