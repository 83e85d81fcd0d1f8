/** Documents of the whole service on a store that is slow, fails or refuses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, PROVIDER_KINDS } from '../../realtime/providers.ts';
import { stage } from '../../realtime/realtime-stage.ts';
import { everyDatabaseKind } from '../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { describeWith } from '../../support/services.ts';
import { pauseStore, setDesk, synced, times } from './known-failure-stage.ts';

/** More than the longest pause after a commit that has failed. */
const BACK_OFF_MS = 10_000;

let easel: TestEasel;

describe.each(everyDatabaseKind())('documents on %s', (database) => {
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  it('[y-sweet] an edit during a save in flight is saved after it', async () => {
    const { artifactId, sit } = await setDesk(easel);
    const [writer, reader] = [sit(), sit('y-websocket 3')];
    await synced(writer, reader);
    writer.type('[before]');
    await writer.until(({ isSaved }) => isSaved);
    const resume = await pauseStore(easel.sql);
    writer.type('[in flight]');
    await reader.until(({ text }) => times(text.toString(), '[in flight]') === 1);
    writer.type('[meanwhile]');
    await reader.until(({ text }) => times(text.toString(), '[meanwhile]') === 1);
    expect([writer.unsynced, easel.runtime.stats().pendingChanges]).toEqual([2, 2]);
    await resume();
    await writer.until(({ isSaved }) => isSaved);
    writer.close();
    reader.close();
    await easel.runtime.discard(artifactId);
    const later = sit('hocuspocus 3');
    await synced(later);
    expect(later.text.toString()).toBe('[before][in flight][meanwhile]');
  });

  it('[Hocuspocus #738] the store fails and the last client leaves: the edit was not acknowledged, and returns with the client', async () => {
    const { sit } = await setDesk(easel);
    const writer = sit();
    await synced(writer);
    writer.type('[saved]');
    await writer.until(({ isSaved }) => isSaved);
    await easel.sql`alter table document_update rename to document_update_away`;
    writer.type('[refused]');
    await writer.until(({ isConnected }) => !isConnected);
    writer.disconnect();
    expect(writer.unsynced).toBeGreaterThan(0);
    // The next commit waits for the back-off after a failure.
    easel.clock.advance(BACK_OFF_MS);
    await easel.sql`alter table document_update_away rename to document_update`;
    const other = sit('y-websocket 2');
    await synced(other);
    expect(other.text.toString()).toBe('[saved]');
    writer.connect();
    await writer.until(({ isSaved }) => isSaved);
    await other.until(({ text }) => text.toString() === '[saved][refused]');
    expect(easel.runtime.stats().pendingChanges).toBe(0);
  });

  it('[y-sweet] clients that join first at the same time share one document', async () => {
    const { artifactId, token, sit } = await setDesk(easel);
    const author = sit();
    await synced(author);
    author.type('[stored]');
    await author.until(({ isSaved }) => isSaved);
    author.close();
    await easel.runtime.discard(artifactId);
    const people = [...PROVIDER_KINDS, ...PROVIDER_KINDS].map((kind) => sit(kind));
    await synced(...people);
    for (const [i, person] of people.entries()) person.type(`[${i}]`);
    const wanted = ['[stored]', ...people.keys()].map((piece) => (typeof piece === 'number' ? `[${piece}]` : piece));
    const whole = (text: string) => text.length === wanted.join('').length && wanted.every((piece) => times(text, piece) === 1);
    await Promise.all(people.map((person) => person.until(({ text }) => whole(text.toString()))));
    expect(new Set(people.map(({ text }) => text.toString())).size).toBe(1);
    const listed = await easel.fetch(`/v1/data/${artifactId}/documents`, { token });
    expect((await listed.json()).data.documents).toEqual([expect.objectContaining({ name: 'notes', connected: people.length })]);
  });

  it('[Hocuspocus #382] a failed load does not become an empty document', async () => {
    const { artifactId, sit } = await setDesk(easel);
    const author = sit();
    await synced(author);
    author.type('[stored]');
    await author.until(({ isSaved }) => isSaved);
    author.close();
    await easel.runtime.discard(artifactId);
    await easel.sql`alter table document_update rename to document_update_away`;
    const [early, eager] = [sit('hocuspocus 4'), sit('y-websocket 3')];
    eager.type('[offline]');
    // The client connected, was closed and reconnected.
    await early.until(({ opened }) => opened > 1);
    expect([early, eager].map(({ isSynced, text }) => [isSynced, text.toString()])).toEqual([
      [false, ''],
      [false, '[offline]'],
    ]);
    await easel.sql`alter table document_update_away rename to document_update`;
    await Promise.all([early, eager].map((each) => each.until(({ text }) => [...text.toString()].length === '[stored][offline]'.length)));
    expect(['[stored]', '[offline]'].map((piece) => times(early.text.toString(), piece))).toEqual([1, 1]);
  });

  it('[Hocuspocus #344] unloading a document duplicates nothing, for clients that stay and for those that are away', async () => {
    const { artifactId, sit } = await setDesk(easel);
    const people = PROVIDER_KINDS.map((kind) => sit(kind));
    await synced(...people);
    let wanted = 0;
    for (let round = 0; round < 4; round += 1) {
      const [away] = people.slice(round);
      away?.disconnect();
      for (const [i, person] of people.entries()) person.type(`[${round}-${i}]`);
      wanted += people.length * '[0-0]'.length;
      await easel.runtime.discard(artifactId);
      await away?.until(({ isConnected }) => !isConnected);
      away?.connect();
      await Promise.all(people.map((person) => person.until(({ isSynced, text }) => isSynced && text.length >= wanted)));
    }
    const texts = new Set(people.map(({ text }) => text.toString()));
    expect([texts.size, [...texts][0]?.length]).toEqual([1, wanted]);
  });

  it('[y/hub #61] an artifact whose changes the store refuses does not block another', async () => {
    const { artifactId, sit } = await setDesk(easel);
    const healthy = await stage(easel);
    const poisoned = sit();
    const neighbour = join('hocuspocus 4', {
      baseUrl: easel.baseUrl,
      artifactId: healthy.artifactId,
      document: 'notes',
      token: healthy.owner.token,
    });
    await synced(poisoned, neighbour);
    await easel.sql.unsafe(`alter table document_update add constraint poison check (artifact_id <> '${artifactId}') not valid`);
    for (let round = 0; round < 10; round += 1) {
      poisoned.type(`[${round}]`);
      neighbour.type(`[${round}]`);
      await neighbour.until(({ isSaved }) => isSaved);
    }
    expect(poisoned.unsynced).toBeGreaterThan(0);
    await easel.sql`alter table document_update drop constraint poison`;
    await poisoned.until(({ isSaved }) => isSaved);
    neighbour.close();
    const later = sit('y-websocket 3');
    await synced(later);
    expect(later.text.toString()).toBe(neighbour.text.toString());
  });
});

describeWith('postgresUrl')('on a server', () => {
  beforeAll(async () => {
    easel = await startTestEasel({ database: 'postgres' });
  });
  afterAll(() => easel.close());

  it('[Hocuspocus #1110] a slow store gets one commit at a time, however much is typed', async () => {
    const { sit } = await setDesk(easel);
    const people = PROVIDER_KINDS.map((kind, i) => sit(kind, `notes${i % 2}`));
    await synced(...people);
    const resume = await pauseStore(easel.sql);
    for (let round = 0; round < 20; round += 1) {
      for (const person of people) person.type('x');
      const [writer, , reader] = people;
      await reader?.until(({ text }) => text.length >= (writer?.text.length ?? 0));
      const waiting = await easel.sql`select from pg_locks where not granted and relation = 'document_update'::regclass`;
      expect(waiting.length).toBeLessThanOrEqual(1);
    }
    await resume();
    await Promise.all(people.map((person) => person.until(({ isSaved }) => isSaved)));
    expect(easel.runtime.stats().pendingChanges).toBe(0);
  });

  it('[Orleans #6128] a commit whose connection breaks has an unknown outcome: actors reload from the store, and clients send again', async () => {
    const { sit } = await setDesk(easel);
    const [writer, reader] = [sit(), sit('y-websocket 3')];
    await synced(writer, reader);
    const resume = await pauseStore(easel.sql);
    writer.type('[unknown]');
    await reader.until(({ text }) => text.length > 0);
    // The connection must break while the store executes the commit; only then is the outcome unknown.
    const waiting = () =>
      easel.sql<{ pid: number }[]>`select pid from pg_locks where not granted and relation = 'document_update'::regclass`;
    let blocked = await waiting();
    while (blocked.length === 0) blocked = await waiting();
    for (const { pid } of blocked) await easel.sql`select pg_terminate_backend(${pid})`;
    await resume();
    // The outcome is unknown, so every client is closed and reconnects.
    await writer.until(({ opened }) => opened > 1);
    easel.clock.advance(BACK_OFF_MS);
    await writer.until(({ isSaved }) => isSaved);
    const later = sit('hocuspocus 2');
    await synced(later);
    expect(later.text.toString()).toBe('[unknown]');
  });
});
