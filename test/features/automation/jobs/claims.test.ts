/** Claims of runs: exactly one process has a run, what an earlier one reports is not taken, and a claim looks at what is due and not at history. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ArtifactId, type JobId, newId, type UserId } from '../../../../protocol/core/ids.ts';
import {
  type Bounds,
  type Claim,
  claimRuns,
  giveBackRuns,
  lockDueRuns,
  readWaiting,
  renewClaims,
  reportRun,
} from '../../../../src/features/automation/jobs/claims.ts';
import { nextDueMs, takeDueJobs } from '../../../../src/features/automation/jobs/rows.ts';
import { insertRuns } from '../../../../src/features/automation/jobs/runs.ts';
import type { Queries } from '../../../../src/features/deps.ts';
import { QueueStart } from '../../../../src/storage/queue-start.ts';
import type { Sql } from '../../../../src/storage/sql.ts';
import { openTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { describeWith } from '../../../support/services.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const LEASE_MS = 60_000;
const MINUTE_MS = 60_000;
const BOUNDS: Bounds = { perArtifact: 1000, perPerson: 1000, busy: [], suspects: 1, fromMs: 0 };

describeWith('postgresUrl')('claims of runs', () => {
  let database: TestDatabase;
  let clock: VirtualClock;
  let jobs: readonly JobId[];
  const artifactId: ArtifactId = newId('artifact');
  const creatorId: UserId = newId('user');

  beforeAll(async () => {
    database = await openTestDatabase('postgres');
    const { sql } = database;
    await sql`insert into account (id, person_id, created_at_ms) values (${creatorId}, ${newId('person')}, 0)`;
    await sql`
      insert into artifact (id, owner_id, name, slug, visibility, created_at_ms, updated_at_ms)
      values (${artifactId}, ${creatorId}, 'Jobs', 'jobs', 'private', 0, 0)`;
  });
  afterAll(() => database?.close());
  beforeEach(async () => {
    clock = new VirtualClock();
    await database.sql`delete from job`;
    jobs = Array.from({ length: 120 }, () => newId('job'));
    await database.sql`
      insert into job (
        id, artifact_id, creator_id, title, action, trigger_type, schedule, timezone, config, retry_config, enabled, created_at_ms, updated_at_ms)
      select id, ${artifactId}, ${creatorId}, 'A job', 'http_get', 'cron', '* * * * *', 'UTC', '{}', '{"maxAttempts": 3}', true, 0, 0
      from unnest(${[...jobs]}::text[]) as id`;
  });

  const queue = (ids: readonly JobId[]) => {
    const nowMs = clock.nowMs();
    const due = { artifactId, creatorId, trigger: 'schedule', status: 'queued', scheduledForMs: nowMs, dueMs: nowMs, nowMs } as const;
    return insertRuns(
      database.sql,
      ids.map((jobId) => ({ ...due, jobId, chain: [jobId] })),
    );
  };
  const claim = (count = 1, bounds: Partial<Bounds> = {}) => {
    const offers = Array.from({ length: count }, () => ({ leaseToken: randomBytes(16).toString('hex'), tokenSha256: randomBytes(32) }));
    return claimRuns(database.sql, offers, { ...BOUNDS, ...bounds }, clock.nowMs(), LEASE_MS);
  };
  const claimed = async (): Promise<Claim> => {
    const [taken] = await claim();
    if (taken === undefined) throw new Error('a run was due');
    return taken;
  };
  /** As though the processes that have runs had died a minute ago. */
  const expire = () => database.sql`update job_run set lease_ends_at = clock_timestamp() - interval '1 ms' where lease_ends_at is not null`;
  const report = (by: Claim, output: string, dueMs: number | null = null) => {
    const status = dueMs === null ? 'succeeded' : 'queued';
    return reportRun(database.sql, by, { status, error: null, reason: null, output, changes: [], dueMs }, clock.nowMs());
  };
  const ledger = () => database.sql`select status, output, attempt, claims, lease_token, token_sha256 from job_run order by due_ms`;

  it('[J3] what a process that lost a run reports, renews or gives back late changes nothing of its successor’s', async () => {
    await queue(jobs.slice(0, 1));
    const zombie = await claimed();
    expect(await claim()).toEqual([]);
    await expire();
    const heir = await claimed();
    expect(heir).toMatchObject({ runId: zombie.runId, attempt: 1, claims: 2, formerTokenSha256: zombie.tokenSha256 });
    const before = await ledger();
    expect(before).toMatchObject([{ status: 'running', lease_token: heir.leaseToken, token_sha256: heir.tokenSha256 }]);
    expect(await report(zombie, 'too late')).toBe(false);
    expect(await renewClaims(database.sql, [zombie], LEASE_MS)).toEqual(new Map());
    await giveBackRuns(database.sql, [zombie], clock.nowMs());
    expect(await ledger()).toEqual(before);
    expect(await report(heir, 'of the heir')).toBe(true);
    expect(await report(zombie, 'later still')).toBe(false);
    expect(await ledger()).toMatchObject([{ status: 'succeeded', output: 'of the heir', lease_token: null, token_sha256: null }]);
  });

  it('of many processes that claim at once, one has each run', async () => {
    await queue(jobs);
    const taken: string[] = [];
    const process = async () => {
      for (let claims = await claim(1); claims.length > 0; claims = await claim(1)) taken.push(...claims.map(({ runId }) => runId));
    };
    await Promise.all(Array.from({ length: 8 }, process));
    // Whoever skipped what another was about to take may have gone too early.
    await process();
    expect([taken.length, new Set(taken).size]).toEqual([jobs.length, jobs.length]);
    expect(new Set((await ledger()).map(({ claims }) => claims))).toEqual(new Set([1]));
  });

  it('[J4] a run with which two processes have ended is taken alone, and others meanwhile', async () => {
    await queue(jobs.slice(0, 4));
    for (const claims of [1, 2]) {
      expect((await claim(10)).map((one) => one.claims)).toEqual([claims, claims, claims, claims]);
      await expire();
    }
    await queue(jobs.slice(4, 6));
    const third = await claim(10);
    expect(third.map(({ claims }) => claims).sort()).toEqual([1, 1, 3]);
    expect(await claim(10, { suspects: 0 })).toEqual([]);
    expect((await claim(10)).map(({ claims }) => claims)).toEqual([3]);
  });

  it('[J4] a try that ends in a report is none that a process has ended with', async () => {
    await queue(jobs.slice(0, 1));
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      const taken = await claimed();
      expect(taken).toMatchObject({ attempt, claims: 1 });
      expect(await report(taken, 'refused', clock.nowMs())).toBe(true);
    }
  });

  it('[J5] while a transaction stays open for hours, a claim and a look at the schedule pass what is due and not what is done', async () => {
    const { sql } = database;
    const start = new QueueStart(clock);
    const look = async () => {
      const { fromMs, ended } = start.begin();
      ended((await readWaiting(sql, fromMs)).oldestMs);
      return fromMs;
    };
    const long = await sql.reserve();
    await long`begin isolation level repeatable read`;
    await long`select count(*) from job_run`;
    try {
      for (let minute = 0; minute < 4; minute += 1) {
        await runAll(sql, jobs, clock.nowMs());
        clock.advance(MINUTE_MS);
        await look();
      }
      clock.advance(2 * MINUTE_MS);
      await look();
      await sql`analyze job_run, job`;
      await queue(jobs.slice(0, 5));
      await sql`update job set next_run_at_ms = ${clock.nowMs()} where id = any(${jobs.slice(0, 5)}::text[])`;
      const fromMs = await look();
      const fewest = { claims: Infinity, waiting: Infinity, schedule: Infinity, nextDue: Infinity };
      // The planner decides by a random sample of the rows, so it samples anew.
      for (let sample = 0; sample < 3; sample += 1) {
        const pages = {
          claims: await pagesOf(sql, (tx) => lockDueRuns(tx, 32, { ...BOUNDS, fromMs }, clock.nowMs())),
          waiting: await pagesOf(sql, (tx) => readWaiting(tx, fromMs)),
          schedule: await pagesOf(sql, (tx) => takeDueJobs(tx, fromMs, clock.nowMs(), 100)),
          nextDue: await pagesOf(sql, (tx) => nextDueMs(tx, fromMs)),
        };
        for (const name of Object.keys(fewest) as (keyof typeof fewest)[]) fewest[name] = Math.min(fewest[name], pages[name]);
        await sql`analyze job_run, job`;
      }
      // From the beginning each of them passes all that is done.
      const all = {
        claims: await pagesOf(sql, (tx) => lockDueRuns(tx, 32, BOUNDS, clock.nowMs())),
        schedule: await pagesOf(sql, (tx) => takeDueJobs(tx, 0, clock.nowMs(), 100)),
      };
      expect(all.claims).toBeGreaterThan(300);
      expect(all.schedule).toBeGreaterThan(100);
      // What is left of earlier tests' rows is a part of what a claim passes, and differs.
      expect(fewest.claims).toBeLessThan(all.claims / 2);
      for (const name of ['waiting', 'schedule', 'nextDue'] as const) expect(fewest[name], name).toBeLessThan(60);
    } finally {
      await long`rollback`;
      long.release();
    }
  });
});

/** 1200 runs with all versions that their rows have had: queued, claimed long ago, renewed, reported. And their jobs, due anew each time. */
async function runAll(sql: Queries, jobs: readonly JobId[], fromMs: number): Promise<void> {
  const prefix = `run_${fromMs}_`;
  await sql`
    insert into job_run (id, job_id, artifact_id, creator_id, trigger, status, scheduled_for_ms, chain, due_ms, created_at_ms)
    select ${prefix} || j.id || n, j.id, j.artifact_id, j.creator_id, 'manual', 'queued', ${fromMs}, array[j.id], ${fromMs}::bigint + n, ${fromMs}
    from job j, generate_series(1, 10) n where j.id = any(${[...jobs]}::text[])`;
  await sql`
    update job_run set status = 'running', lease_ends_at = clock_timestamp() - interval '1 hour', lease_token = id, claims = 1
    where id like ${`${prefix}%`}`;
  await sql`update job_run set lease_ends_at = lease_ends_at + interval '5 seconds' where id like ${`${prefix}%`}`;
  await sql`update job_run set status = 'succeeded', due_ms = null, lease_ends_at = null, lease_token = null where id like ${`${prefix}%`}`;
  for (let time = 0; time < 10; time += 1)
    await sql`update job set next_run_at_ms = ${fromMs + 1000 * time} where id = any(${[...jobs]}::text[])`;
  await sql`update job set next_run_at_ms = null where id = any(${[...jobs]}::text[])`;
}

/** How many pages a statement looks at. */
async function pagesOf(sql: Sql, query: (tx: Queries) => PromiseLike<unknown>): Promise<number> {
  let pages = 0;
  const explained = async (strings: TemplateStringsArray, ...values: never[]) => {
    const [first = '', ...rest] = strings;
    const texts = [`explain (analyze, buffers, format json) ${first}`, ...rest];
    const [row] = await sql(Object.assign(texts, { raw: texts }), ...values);
    const plan = row?.['QUERY PLAN'][0].Plan;
    pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    return [];
  };
  const tx = (strings: TemplateStringsArray, ...values: never[]) =>
    /^\s*(select|with)\b/.test(strings[0] ?? '') ? explained(strings, ...values) : sql(strings, ...values);
  await query(tx as unknown as Queries);
  return pages;
}
