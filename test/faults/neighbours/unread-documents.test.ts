/** Found 10: readers of documents that never read, but ping. They fill their own share and nobody else's, and are disconnected. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { frameSyncStep1 } from '../../../src/realtime/wire.ts';
import { type Client, join } from '../../realtime/providers.ts';
import { type Stage, stage } from '../../realtime/realtime-stage.ts';
import { databaseKinds } from '../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { attackerAddress, Victim } from './neighbour-stage.ts';
import { metric, RawConnection } from './raw-connection.ts';

const MB = 1024 * 1024;
/** Only ends a test that hangs. */
const PATIENT = { timeout: 60_000 };
const BINARY = 2;
const DOCUMENT_CHARACTERS = 20 * MB;

describe.each(databaseKinds())('on %s', (database) => {
  let easel: TestEasel;
  let victim: Victim;
  let attacked: Stage;
  let strangers: Stage;
  const open: { close(): void }[] = [];

  beforeAll(async () => {
    easel = await startTestEasel({ database });
    victim = await Victim.of(easel);
    attacked = await stageWithDocument();
    strangers = await stageWithDocument();
  });
  afterEach(async () => {
    for (const one of open.splice(0)) one.close();
    await expect.poll(() => metric(easel, 'easel_outflow_bytes'), PATIENT).toBe(0);
    await expect.poll(() => metric(easel, 'easel_sockets_open'), PATIENT).toBe(0);
  });
  afterAll(async () => {
    victim.close();
    await easel.close();
  });

  /** A public artifact with a large document that anybody may read. */
  async function stageWithDocument(): Promise<Stage> {
    const made = await stage(easel, { visibility: 'public', allow_anon_collab: true });
    const { artifactId, owner } = made;
    const client = join('hocuspocus 4', { baseUrl: easel.baseUrl, artifactId, document: 'big', token: owner.token });
    await client.until(({ isSynced }) => isSynced);
    for (let at = 0; at < DOCUMENT_CHARACTERS; at += 4 * MB) client.text.insert(at, 'x'.repeat(4 * MB));
    await client.until(({ isSaved }) => isSaved);
    client.close();
    return made;
  }

  function reader({ artifactId, owner }: Stage): Client {
    const client = join('y-websocket 3', { baseUrl: easel.baseUrl, artifactId, document: 'big', token: owner.token });
    open.push(client);
    return client;
  }

  /** Joins, asks for everything and reads nothing, but answers for its life with pings. */
  async function silentReaders(count: number, address: (index: number) => string, { artifactId }: Stage): Promise<RawConnection[]> {
    const readers = await Promise.all(Array.from({ length: count }, (_, index) => RawConnection.open(easel, address(index))));
    open.push(...readers);
    for (const one of readers) {
      one.upgrade(`/v1/data/${artifactId}/realtime/big`);
      expect(await one.status()).toBe('HTTP/1.1 101 Switching Protocols');
      one.frame(BINARY, frameSyncStep1(Uint8Array.of(0)));
      one.staysAlive();
    }
    return readers;
  }

  /** Resolves once at least so many wait, and their number stays the same for some requests. */
  async function settled(count: number): Promise<{ readonly bytes: number; readonly waiting: number }> {
    let waiting = 0;
    let unchanged = 0;
    const look = async () => {
      const now = await metric(easel, 'easel_outflow_waiting');
      unchanged = now === waiting ? unchanged + 1 : 0;
      waiting = now;
      return waiting >= count && unchanged >= 5;
    };
    await expect.poll(look, PATIENT).toBe(true);
    return { bytes: await metric(easel, 'easel_outflow_bytes'), waiting };
  }

  test('a network that reads nothing fills its own share, and a stranger gets a large document meanwhile', async () => {
    const attack = (async () => {
      await silentReaders(12, () => attackerAddress(0), attacked);
      const { bytes } = await settled(1);
      expect(bytes).toBeLessThanOrEqual(LIMITS.outflowBytesPerCallerMax);
      expect(bytes).toBeGreaterThan(8 * MB);
      // The clock stands still, so nobody is disconnected yet.
      const stranger = reader(strangers);
      await stranger.until(({ text }) => text.length === DOCUMENT_CHARACTERS);
      const member = reader(attacked);
      await member.until(({ text }) => text.length === DOCUMENT_CHARACTERS);
    })();
    expect((await victim.during(attack)).refused).toEqual([]);
  });

  test('many networks fill the share of one artifact only', async () => {
    await silentReaders(14, (index) => attackerAddress(1 + index), attacked);
    const { bytes } = await settled(1);
    expect(bytes).toBeLessThanOrEqual(LIMITS.outflowBytesPerArtifactMax);
    const stranger = reader(strangers);
    await stranger.until(({ text }) => text.length === DOCUMENT_CHARACTERS);
  });

  test('who takes nothing is disconnected whatever it sends, and the owner does not wait for all of them', async () => {
    await silentReaders(14, (index) => attackerAddress(1 + index), attacked);
    const { waiting } = await settled(1);
    const member = reader(attacked);
    await settled(waiting + 1);
    for (let passedMs = 0; passedMs <= LIMITS.socketStallMs + 4000; passedMs += 2000) {
      easel.clock.advance(2000);
    }
    await member.until(({ text }) => text.length === DOCUMENT_CHARACTERS);
  });

  test('who has waited for too long is told to come back', async () => {
    const slow = await silentReaders(8, () => attackerAddress(0), attacked);
    const { waiting } = await settled(1);
    const [late] = await silentReaders(1, () => attackerAddress(0), attacked);
    await settled(waiting + 1);
    const buffered = () => metric(easel, 'easel_socket_bytes_buffered');
    for (let passedMs = 0; passedMs < LIMITS.outflowWaitMs; passedMs += 10_000) {
      // Those who are being sent to take a part now and then, so they are not disconnected as stalled.
      const before = await buffered();
      for (const one of slow) one.take(4 * MB);
      await expect.poll(buffered, PATIENT).toBeLessThan(before);
      easel.clock.advance(10_000);
    }
    easel.clock.advance(1000);
    expect(await late?.closeCode()).toBe(1013);
    expect(await metric(easel, 'easel_share_refusals_total{resource="outflow",share="network"}')).toBeGreaterThan(0);
  });
});
