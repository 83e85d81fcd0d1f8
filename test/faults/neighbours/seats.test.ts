/** Found 12: sockets without credentials, and more connections than the process has descriptors for. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { connectionCaps } from '../../../src/platform/descriptors.ts';
import { type Client, join } from '../../realtime/providers.ts';
import { type Stage, stage } from '../../realtime/realtime-stage.ts';
import { everyDatabaseKind } from '../../support/database.ts';
import { startTestEasel, type TestEasel, type TestStorage, testStorage } from '../../support/easel.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { attackerAddress, Caller, Victim } from './neighbour-stage.ts';
import { metric, RawConnection } from './raw-connection.ts';

/** Only ends a test that hangs. */
const PATIENT = { timeout: 60_000 };
const DESCRIPTORS = 2000;

const SWITCHING = 'HTTP/1.1 101 Switching Protocols';
const REFUSED = 'HTTP/1.1 503 Service Unavailable';

function tally(statuses: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe.each(everyDatabaseKind())('sockets without credentials, on %s', (database) => {
  const { unproven } = connectionCaps(DESCRIPTORS, LIMITS, database === 'embedded');
  let easel: TestEasel;
  let victim: Victim;
  let attacked: Stage;
  const open: { close(): void }[] = [];

  beforeAll(async () => {
    easel = await startTestEasel({ database, descriptors: DESCRIPTORS });
    victim = await Victim.of(easel);
    attacked = await stage(easel);
  });
  afterEach(async () => {
    for (const one of open.splice(0)) one.close();
    await expect.poll(() => metric(easel, 'easel_sockets_open'), PATIENT).toBe(0);
  });
  afterAll(async () => {
    victim.close();
    await easel.close();
  });

  async function sockets(count: number, address: (index: number) => string): Promise<string[]> {
    const statuses: string[] = [];
    // A few at a time, because the system's queue of new connections is short.
    for (let at = 0; at < count; at += 50) {
      const some = await Promise.all(
        Array.from({ length: Math.min(50, count - at) }, (_, index) => RawConnection.open(easel, address(at + index))),
      );
      open.push(...some);
      for (const one of some) one.upgrade(`/v1/data/${attacked.artifactId}/realtime`);
      statuses.push(...(await Promise.all(some.map((one) => one.status()))));
    }
    return statuses;
  }

  function member(): Client {
    const { artifactId, owner } = attacked;
    const client = join('hocuspocus 4', { baseUrl: easel.baseUrl, artifactId, document: 'notes', token: owner.token });
    open.push(client);
    return client;
  }

  test('one network gets its share of a pool of their own; the artifact stays open for everybody else', async () => {
    const attack = (async () => {
      const counts = tally(await sockets(200, () => attackerAddress(0)));
      expect(counts[SWITCHING]).toBe(unproven.network);
      expect(counts[REFUSED]).toBeGreaterThan(0);
      const client = member();
      await client.until(({ isSynced }) => isSynced);
      client.type('hello');
      await client.until(({ isSaved }) => isSaved);
      expect(await metric(easel, 'easel_sockets_unproven')).toBe(unproven.network);
    })();
    expect((await victim.during(attack)).refused).toEqual([]);
    expect(await metric(easel, 'easel_share_refusals_total{resource="unproven sockets",share="network"}')).toBeGreaterThan(0);
  });

  test('many networks cannot keep an artifact closed: the oldest of them gives way', async () => {
    const counts = tally(await sockets(unproven.artifact + 20, (index) => attackerAddress(1 + index)));
    expect(counts).toEqual({ [SWITCHING]: unproven.artifact, [REFUSED]: 20 });
    // A client that means it proves its access within a second.
    easel.clock.advance(1000);
    const client = member();
    await client.until(({ isSynced }) => isSynced);
    expect(await metric(easel, 'easel_sockets_open')).toBe(unproven.artifact);
  });

  test('whoever proves access leaves the pool, and loses nothing to those in it', async () => {
    const clients = Array.from({ length: unproven.network + 5 }, () => member());
    // More than one network may have in the pool at once: those who are refused come again by themselves.
    await Promise.all(clients.map((client) => client.until(({ isSynced }) => isSynced)));
    expect(await metric(easel, 'easel_sockets_unproven')).toBe(0);
    await sockets(100, (index) => attackerAddress(index));
    easel.clock.advance(2000);
    await sockets(100, (index) => attackerAddress(100 + index));
    expect(clients.every(({ isSynced }) => isSynced)).toBe(true);
    clients[0]?.type('still here');
    await clients[1]?.until(({ text }) => text.toString().includes('still here'));
  });
});

describe.each(everyDatabaseKind())('descriptors, on %s', (database) => {
  let easel: TestEasel;
  let victim: Victim;
  let publicId: string;
  const open: { close(): void }[] = [];

  beforeAll(async () => {
    easel = await startTestEasel({ database, descriptors: DESCRIPTORS });
    victim = await Victim.of(easel);
    publicId = (await stage(easel, { visibility: 'public' })).artifactId;
  });
  afterEach(() => {
    for (const one of open.splice(0)) one.close();
  });
  afterAll(async () => {
    victim.close();
    await easel.close();
  });

  const caps = connectionCaps(DESCRIPTORS, LIMITS, database === 'embedded');

  async function connections(count: number, address: (index: number) => string): Promise<RawConnection[]> {
    const made: RawConnection[] = [];
    for (let at = 0; at < count; at += 50) {
      const some = Array.from({ length: Math.min(50, count - at) }, (_, index) => RawConnection.open(easel, address(at + index)));
      made.push(...(await Promise.all(some)));
    }
    open.push(...made);
    return made;
  }

  test('streams have a cap by network and artifact', async () => {
    const attack = (async () => {
      const asked = caps.streams.network + 20;
      const streams = await connections(asked, () => attackerAddress(0));
      for (const one of streams) one.send({ path: `/v1/data/${publicId}/changes`, lines: ['Accept: text/event-stream'] });
      const counts = tally(await Promise.all(streams.map((one) => one.status())));
      expect(counts).toEqual({ 'HTTP/1.1 200 OK': caps.streams.network, [REFUSED]: 20 });
      const others = await connections(caps.streams.artifact, (index) => attackerAddress(1 + index));
      for (const one of others) one.send({ path: `/v1/data/${publicId}/changes`, lines: ['Accept: text/event-stream'] });
      await Promise.all(others.map((one) => one.status()));
      expect(await metric(easel, 'easel_streams_open')).toBe(caps.streams.artifact);
      const mine = await RawConnection.open(easel, '127.0.0.1');
      open.push(mine);
      mine.send({
        path: `/v1/data/${victim.artifactId}/changes`,
        lines: ['Accept: text/event-stream', `Authorization: Bearer ${victim.owner.token}`],
      });
      expect(await mine.status()).toBe('HTTP/1.1 200 OK');
    })();
    expect((await victim.during(attack)).refused).toEqual([]);
  });

  test('idle connections are bounded, and one network leaves room for others', async () => {
    await expect.poll(() => metric(easel, 'easel_connections_open'), PATIENT).toBeLessThan(caps.plain.total / 4);
    // What the test before has opened no longer counts.
    easel.clock.advance(60_000);
    const attack = (async () => {
      const idle = await connections(caps.plain.total * 3, () => attackerAddress(0));
      for (const one of idle) one.socket.resume();
      await expect.poll(() => idle.filter(({ socket }) => socket.destroyed).length, PATIENT).toBeGreaterThan(caps.plain.total);
      expect(await metric(easel, 'easel_connections_open')).toBeLessThanOrEqual(caps.plain.total);
      const stranger = new Caller(easel, attackerAddress(1));
      open.push(stranger);
      const reply = await stranger.call({ path: '/healthz' });
      // While connections are scarce an answer closes its own.
      expect([reply.status, reply.headers.connection]).toEqual([200, 'close']);
    })();
    expect((await victim.during(attack)).refused).toEqual([]);
  });
});

describe.each([
  ['postgres', 400],
  ['embedded', 1100],
] as const)('the program with few descriptors, on %s', (database, descriptors) => {
  const isPresent = everyDatabaseKind().includes(database);
  const open: { close(): void }[] = [];
  let storage: TestStorage;
  let program: Program;

  beforeAll(async () => {
    if (!isPresent) return;
    storage = await testStorage(database);
    program = await startProgram({ ...storage.settings, LOG_LEVEL: 'info' }, { descriptors });
  });
  afterAll(async () => {
    for (const one of open) one.close();
    if (!isPresent) return;
    await program.end('SIGKILL');
    await storage.remove();
  });

  /** Each keeps its descriptor in another way: a stream, a socket without a credential, a head that never ends. */
  async function strangers(count: number, artifactId: string, port: number): Promise<void> {
    for (let at = 0; at < count; at += 50) {
      const made = await Promise.all(Array.from({ length: 50 }, (_, index) => RawConnection.open({ port }, attackerAddress(at + index))));
      open.push(...made);
      for (const [index, one] of made.entries()) {
        if (index % 3 === 0) one.send({ path: `/v1/data/${artifactId}/changes`, lines: ['Accept: text/event-stream'] });
        else if (index % 3 === 1) one.upgrade(`/v1/data/${artifactId}/realtime`);
        else one.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n');
      }
    }
  }

  test.runIf(isPresent)('says at start what follows from the limit, and publishes whatever connections strangers open', async () => {
    expect(program.stderr()).toContain(`"descriptors":${descriptors}`);
    expect(program.stderr()).toContain('ulimit -n');
    const port = Number(new URL(program.baseUrl).port);
    const token = program.adminToken;
    // Its network is known by its credential, as a strangers' is not.
    const caller = new Caller({ port }, attackerAddress(5000));
    open.push(caller);
    const publish = (content: string) => {
      const body = JSON.stringify({ visibility: 'public', files: [{ path: 'index.html', content }] });
      return caller.call({ method: 'POST', path: '/v1/publish', token, body });
    };
    const first = await publish('first');
    expect(first.status).toBe(200);
    for (let round = 0; round < 3; round += 1) {
      await strangers(descriptors, JSON.parse(first.text).artifact.id, port);
      for (const path of ['/healthz', '/readyz']) expect((await caller.call({ path })).status).toBe(200);
      const again = await publish(`round ${round}`);
      expect([again.status, again.text]).toEqual([200, expect.stringContaining('"deployment"')]);
    }
  });
});
