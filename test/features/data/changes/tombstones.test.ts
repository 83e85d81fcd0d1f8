/** Tombstones are kept for a limited time and number; a follower that returns later is told to reset. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { trimTombstones } from '../../../../src/features/data/changes/trim.ts';
import { callData, type DataArtifact, publishArtifact } from '../../../support/data-client.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';

const DAY_MS = 24 * 3600 * 1000;

for (const database of databaseKinds()) {
  let easel: TestEasel;
  let artifact: DataArtifact;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  /** Of the artifact's tombstones, those that are left. The daily sweep, which the clock begins, may have trimmed before. */
  const left = async (): Promise<number> => {
    await trimTombstones(easel.sql, easel.clock.nowMs(), new AbortController().signal);
    const [row] = await easel.sql`select count(*)::int as left from tombstone where artifact_id = ${artifact.id}`;
    return row?.left;
  };

  async function page(since: number) {
    const { token } = artifact.owner;
    const { body } = await callData(easel, artifact, 'GET', `/changes?since=${since}`, { token, headers: { accept: 'application/json' } });
    return body.data;
  }

  test(`on ${database}: tombstones are trimmed by age`, async () => {
    artifact = await publishArtifact(easel, await easel.newUser());
    const { token } = artifact.owner;
    const write = async (key: string) => {
      await callData(easel, artifact, 'PUT', `/json/${key}`, { token, body: 1 });
      await callData(easel, artifact, 'DELETE', `/json/${key}`, { token });
    };
    await write('old');
    easel.clock.advance(LIMITS.tombstoneRetentionDays * DAY_MS - 1);
    await write('young');
    expect(await left()).toBe(2);
    easel.clock.advance(1);
    expect(await left()).toBe(1);
    expect(await page(1)).toMatchObject({ events: [], reset: true, nextSeq: 4 });
    expect((await page(2)).events).toMatchObject([{ seq: 4, kind: 'json.delete', key: 'young' }]);
    expect(await left()).toBe(1);
  });

  test(`on ${database}: tombstones are trimmed by number`, async () => {
    artifact = await publishArtifact(easel, await easel.newUser());
    const count = LIMITS.tombstonesPerArtifactMax + 3;
    await easel.sql`
      insert into tombstone (artifact_id, seq, kind, name, at_ms)
      select ${artifact.id}, n, 'json.delete', 'k' || n, ${easel.clock.nowMs()} from generate_series(1, ${count}::int) as n`;
    await easel.sql`update artifact set seq = ${count} where id = ${artifact.id}`;
    expect(await left()).toBe(LIMITS.tombstonesPerArtifactMax);
    expect((await page(2)).reset).toBe(true);
    expect((await page(3)).events[0]).toMatchObject({ seq: 4, key: 'k4' });
  });
}
