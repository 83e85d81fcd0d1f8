/** The runtime over the real journal and store: the guarantees that the simulation proves in memory. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyOperation } from '../../../actors/json/json-operation.ts';
import { localPlacement } from '../../../actors/runtime/placement.ts';
import { ActorRuntime } from '../../../actors/runtime/runtime.ts';
import { Failure } from '../../../protocol/core/errors.ts';
import { type ArtifactId, newId } from '../../../protocol/core/ids.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { postgresArtifactStore } from '../../../src/storage/artifact-store.ts';
import { postgresJournal } from '../../../src/storage/journal.ts';
import { SILENT, UNMETERED } from '../../sim/world.ts';
import { everyDatabaseKind, openTestDatabase, type TestDatabase } from '../../support/database.ts';
import { put, read } from './runtime-fixture.ts';

describe.each(everyDatabaseKind())('the runtime over %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
  });
  afterAll(() => database.close());

  function runtimeOver(): ActorRuntime {
    return new ActorRuntime({
      clock: systemClock,
      store: postgresArtifactStore(database.sql),
      journal: postgresJournal(database.journalSql),
      placement: localPlacement(),
      meter: UNMETERED,
      log: SILENT,
      idleMs: 60_000,
      memoryBytesMax: 64 * 1024 * 1024,
    });
  }

  async function newArtifact(): Promise<ArtifactId> {
    const id = newId('artifact');
    await database.sql`
      insert into artifact (id, name, slug, visibility, created_at_ms, updated_at_ms) values (${id}, 'n', ${id}, 'private', 0, 0)`;
    return id;
  }

  /** The new count, or null when the runtime has lost the artifact. */
  async function increment(runtime: ActorRuntime, id: ArtifactId): Promise<number | null> {
    try {
      return await runtime.ask(id, ({ json }) =>
        Number(json.patch('count', {}, (value) => applyOperation(value, { op: 'increment', path: '$', by: 1 })).entry.warmText),
      );
    } catch (error) {
      if (error instanceof Failure && error.code === 'OWNER_MOVED') return null;
      throw error;
    }
  }

  it('[two owners] taking an artifact from each other: every acknowledged increment counts once', async () => {
    const id = await newArtifact();
    const runtimes = [runtimeOver(), runtimeOver()];
    const acknowledged: number[] = [];
    await Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        for (let call = 0; call < 40; call += 1) {
          const count = await increment(runtimes[client % 2] as ActorRuntime, id);
          if (count !== null) acknowledged.push(count);
        }
      }),
    );
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
    expect(acknowledged.length).toBeGreaterThan(0);
    await Promise.all(runtimes.map((runtime) => runtime.stop()));
    const [stored] = await database.sql<{ value: string }[]>`select value from json_key where artifact_id = ${id}`;
    const [artifact] = await database.sql<{ seq: number }[]>`select seq from artifact where id = ${id}`;
    // Fenced commits write nothing, so exactly the acknowledged increments are stored.
    expect(Number(stored?.value)).toBe(acknowledged.length);
    expect(Math.max(...acknowledged)).toBe(acknowledged.length);
    expect(artifact?.seq).toBe(acknowledged.length);
  });

  it('[reload] keeps text, times, ETags and large values', async () => {
    const id = await newArtifact();
    const runtime = runtimeOver();
    const large = JSON.stringify('ü'.repeat(300_000));
    await put(runtime, id, 'small', '{ "a": 1.0 }', 3600);
    const etag = await put(runtime, id, 'large', large);
    const before = await runtime.ask(id, ({ json }) => json.get('small').updatedAt);
    await runtime.discard(id);
    expect(await read(runtime, id, 'small')).toBe('{ "a": 1.0 }');
    expect(await runtime.ask(id, ({ json }) => [json.get('small').updatedAt, json.get('large').etag])).toEqual([before, etag]);
    expect(runtime.stats().residentBytes).toBeLessThan(10_000);
    expect(await read(runtime, id, 'large')).toBe(large);
    await runtime.stop();
  });

  it('[trash] an artifact in the trash has no actor', async () => {
    const id = await newArtifact();
    const runtime = runtimeOver();
    await put(runtime, id, 'k', '1');
    await database.sql`update artifact set deleted_at_ms = 1 where id = ${id}`;
    await runtime.discard(id);
    await expect(read(runtime, id, 'k')).rejects.toMatchObject({ code: 'ARTIFACT_NOT_FOUND' });
    await runtime.stop();
  });
});
