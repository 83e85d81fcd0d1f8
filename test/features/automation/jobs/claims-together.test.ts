/** Runs that several processes want at once. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UserId } from '../../../../protocol/core/ids.ts';
import { type Claim, claimRuns, type Offer } from '../../../../src/features/automation/jobs/claims.ts';
import type { Sql } from '../../../../src/storage/sql.ts';
import { openTestDatabase, type TestDatabase } from '../../../support/database.ts';

const PERSONS = 60;
/** Of each person on an artifact of their own, each of another job. */
const RUNS_EACH = 4;
const PROCESSES = 6;
const NOW_MS = 1_000_000;
const LEASE_MS = 60_000;

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await openTestDatabase();
  sql = database.sql;
  await sql`
    insert into account (id, tier, created_at_ms, person_id)
    select 'usr_' || n, 'team', 1, 'per_' || n from generate_series(1, ${PERSONS}::int) n`;
  await sql`
    insert into artifact (id, owner_id, name, slug, visibility, created_at_ms, updated_at_ms)
    select 'art_' || n, 'usr_' || n, 'page', 'page-' || n, 'private', 1, 1 from generate_series(1, ${PERSONS}::int) n`;
  await sql`
    insert into job (
      id, artifact_id, creator_id, title, action, trigger_type, config, retry_config, enabled, created_at_ms, updated_at_ms)
    select 'job_' || n || '_' || k, 'art_' || n, 'usr_' || n, 'job', 'script', 'cron', '{}', '{}', true, 1, 1
    from generate_series(1, ${PERSONS}::int) n, generate_series(1, ${RUNS_EACH}::int) k`;
});
afterAll(() => database?.close());

/** Queues one run of each job, due in the order of `k`. */
async function queue(): Promise<void> {
  await sql`delete from job_run`;
  await sql`
    insert into job_run (id, job_id, artifact_id, creator_id, trigger, status, scheduled_for_ms, chain, due_ms, created_at_ms)
    select 'run_' || id, id, artifact_id, creator_id, 'manual', 'queued', 1, array[id], right(id, 1)::int, 1 from job`;
}

function offers(count: number): Offer[] {
  return Array.from({ length: count }, () => ({ leaseToken: randomBytes(16).toString('hex'), tokenSha256: randomBytes(32) }));
}

function claim(count: number, { perArtifact = RUNS_EACH, perPerson = RUNS_EACH, busy = [] as UserId[] } = {}): Promise<Claim[]> {
  return claimRuns(sql, offers(count), { perArtifact, perPerson, busy, suspects: 1, fromMs: 0 }, NOW_MS, LEASE_MS);
}

describe('claims of runs', () => {
  it('each run is taken by one process only, however many look at the same time', async () => {
    await queue();
    const process = async () => {
      const taken: Claim[] = [];
      for (let claims = await claim(5); claims.length > 0; claims = await claim(5)) taken.push(...claims);
      return taken;
    };
    const taken = (await Promise.all(Array.from({ length: PROCESSES }, process))).flat();
    expect(taken.map(({ claims }) => claims)).toEqual(taken.map(() => 1));
    // A process that finds only what others are just taking stops early: what it has left is taken now.
    taken.push(...(await claim(PERSONS * RUNS_EACH)));
    expect(new Set(taken.map(({ runId }) => runId)).size).toBe(PERSONS * RUNS_EACH);
    expect(taken).toHaveLength(PERSONS * RUNS_EACH);
  });

  it('persons take turns, and neither a person nor an artifact has more than its bound, with what is under way counted', async () => {
    await queue();
    const first = await claim(PERSONS, { perPerson: 2 });
    expect(new Set(first.map(({ creatorId }) => creatorId)).size).toBe(PERSONS);
    const second = await claim(1000, { perArtifact: 2, perPerson: 4 });
    expect(second).toHaveLength(PERSONS);
    expect(await claim(1000, { perArtifact: 2, perPerson: 4 })).toEqual([]);
    const busy = ['usr_1', 'usr_2'] as UserId[];
    expect(await claim(1000, { busy })).toHaveLength((PERSONS - busy.length) * (RUNS_EACH - 2));
  });

  it('a job has one run under way at a time', async () => {
    await queue();
    await sql`
      insert into job_run (id, job_id, artifact_id, creator_id, trigger, status, scheduled_for_ms, chain, due_ms, created_at_ms)
      select 'again_' || id, id, artifact_id, creator_id, 'manual', 'queued', 2, array[id], 1, 1 from job`;
    expect(await claim(1000)).toHaveLength(PERSONS * RUNS_EACH);
    expect(await claim(1000, { perArtifact: 1000, perPerson: 1000 })).toEqual([]);
    await sql`update job_run set lease_ends_at = clock_timestamp() - interval '1 s' where status = 'running' and creator_id = 'usr_1'`;
    const again = await claim(1000);
    expect(again).toHaveLength(RUNS_EACH);
    expect(new Set(again.map(({ jobId }) => jobId)).size).toBe(RUNS_EACH);
  });
});
