/** Changes that no event job listens to: jobs have seen them without a look at the artifact, and none that matters is lost by that. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ArtifactId, newId } from '../../../../protocol/core/ids.ts';
import { evaluate, type Gathered } from '../../../../src/features/automation/jobs/events/evaluation.ts';
import { listListened, noteUnheard } from '../../../../src/features/automation/jobs/events/rows.ts';
import { UnheardCommits } from '../../../../src/features/automation/jobs/events/unheard.ts';
import { SILENT } from '../../../support/database.ts';
import { JobStage } from './stage.ts';

let stage: JobStage;
beforeAll(async () => {
  stage = await JobStage.start();
});
afterAll(() => stage?.close());
beforeEach(() => stage.publish());
afterEach(() => stage.deleteJobs());

const onKey = (key: string) => ({
  action: 'http_get',
  trigger_type: 'event',
  event_type: 'data.changed',
  event_filter: { key },
  config: { url: stage.origin },
});

/** How far the jobs of the artifact have seen, when they were looked at last, and how far the artifact is. */
async function seen() {
  const rows = await stage.easel.sql<{ seen_seq: number; seen_at_ms: number; seq: number }[]>`
    select j.seen_seq, j.seen_at_ms, a.seq from job j join artifact a on a.id = j.artifact_id where a.id = ${stage.artifactId}`;
  const [row] = rows;
  if (row === undefined) throw new Error('There is no job.');
  return row;
}

/** After it was made, an artifact is looked at once. */
async function lookedAt(): Promise<number> {
  const { seen_at_ms: madeAtMs } = await seen();
  await expect
    .poll(async () => {
      stage.easel.clock.advance(1000);
      return (await seen()).seen_at_ms;
    })
    .toBeGreaterThan(madeAtMs);
  return (await seen()).seen_at_ms;
}

describe('changes that set no job off', () => {
  it('are noted as seen, and the artifact is not looked at', async () => {
    await stage.create(onKey('watched'));
    const lookedAtMs = await lookedAt();
    await stage.put('other', 1);
    await stage.put('other', 2);
    await expect
      .poll(async () => {
        stage.easel.clock.advance(1000);
        const { seen_seq, seq } = await seen();
        return seq - seen_seq;
      })
      .toBe(0);
    expect((await seen()).seen_at_ms).toBe(lookedAtMs);
  });

  it('do not hide one that does, before or after them', async () => {
    const job = await stage.create(onKey('watched'));
    await lookedAt();
    await stage.put('other', 1);
    await stage.put('watched', 1);
    await stage.put('other', 2);
    await expect
      .poll(async () => {
        stage.easel.clock.advance(1000);
        return (await stage.ended(job.id)).length;
      })
      .toBe(1);
    const [run] = await stage.ended(job.id);
    expect(run?.events).toMatchObject({ count: 1, things: [{ kind: 'json.put', name: 'watched' }] });
  });

  it('are read from the store for a job of which the node had not heard when it left them out', async () => {
    await stage.create(onKey('watched'));
    await stage.put('watched', 1);
    const { seq } = await seen();
    const id = stage.artifactId as ArtifactId;
    const { sql } = stage.easel;
    const leftOut = (heardFor: Gathered['heardFor']) => ({ firstSeq: 1, lastSeq: seq, seen: [], isWhole: true, heardFor });
    const jobs = await listListened(sql, id);
    const changedSince = jobs.map((job) => ({ ...job, updated_at_ms: job.updated_at_ms - 1 }));
    for (const [heardFor, isSetOff] of [
      [jobs, false],
      [[], true],
      [changedSince, true],
    ] as const) {
      const undone = new Error('undone');
      let answer: boolean | undefined;
      await sql
        .begin(async (tx) => {
          answer = await evaluate(tx, id, leftOut(heardFor), stage.easel.clock.nowMs());
          throw undone;
        })
        .catch((error: unknown) => {
          if (error !== undone) throw error;
        });
      expect(answer).toBe(isSetOff);
    }
  });

  it('are left alone by the search for what is unseen, but not where something before them is unseen', () => {
    const { sql, clock } = stage.easel;
    const unheard = new UnheardCommits({ sql, clock, log: SILENT });
    const id = newId('artifact');
    expect(unheard.covers(id, 4)).toBe(false);
    unheard.add(id, [], 5, 6);
    unheard.add(id, [], 7, 7);
    expect([3, 4, 5, 7, null].map((seenSeq) => unheard.covers(id, seenSeq))).toEqual([false, true, true, true, false]);
    unheard.add(id, [], 9, 9);
    expect(unheard.covers(id, 7)).toBe(false);
    expect(unheard.take(id)).toMatchObject({ firstSeq: 9, lastSeq: 9 });
    expect(unheard.covers(id, 8)).toBe(false);
  });

  it('are not noted for a job that was changed since, or has not seen what was before', async () => {
    await stage.create(onKey('watched'));
    await stage.put('other', 1);
    await stage.put('other', 2);
    const { sql } = stage.easel;
    const [job] = await listListened(sql, stage.artifactId as ArtifactId);
    if (job === undefined) throw new Error('The job listens to nothing.');
    const { seen_seq: before, seq } = await seen();
    await noteUnheard(sql, [{ job: { ...job, updated_at_ms: job.updated_at_ms - 1 }, firstSeq: before + 1, lastSeq: seq }]);
    await noteUnheard(sql, [{ job, firstSeq: before + 2, lastSeq: seq }]);
    expect((await seen()).seen_seq).toBe(before);
    await noteUnheard(sql, [{ job, firstSeq: before + 1, lastSeq: seq }]);
    expect((await seen()).seen_seq).toBe(seq);
  });
});
