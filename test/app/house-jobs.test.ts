/** What is done once for all nodes: the claim decides who does it, a dead holder's work goes on elsewhere, and a late one changes nothing. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startSweeps, sweepIfClaimed } from '../../src/app/sweeps.ts';
import type { Sweep } from '../../src/features/module.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { claimJob, endJob, giveUpJob, noteStep, renewClaim, wantJob, wantJobAnew } from '../../src/storage/house-jobs.ts';
import { type DatabaseKind, everyDatabaseKind, openTestDatabase, SILENT, type TestDatabase } from '../support/database.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const NEVER = new AbortController().signal;
const LEASE_MS = 30_000;

describe.each<DatabaseKind>(everyDatabaseKind())('%s', (kind) => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await openTestDatabase(kind);
  });
  afterEach(() => database.close());

  const deps = () => ({ sql: database.sql, log: SILENT, ioClock: systemClock });
  const expire = () => database.sql`update house_job set lease_ends_at = clock_timestamp() - interval '1 ms'`;

  test('of many nodes that want the same, one does it, once', async () => {
    const { sql } = database;
    let runs = 0;
    const sweeps: Sweep[] = [{ name: 'step', run: async () => (runs += 1) }];
    const reports = await Promise.all(
      Array.from({ length: 8 }, async () => {
        await wantJob(sql, 'sweeps', 1000);
        return sweepIfClaimed(sweeps, deps(), NEVER);
      }),
    );
    expect(runs).toBe(1);
    expect(reports.filter((report) => 'step' in report).length).toBe(1);
    await wantJob(sql, 'sweeps', 1000);
    expect(await sweepIfClaimed(sweeps, deps(), NEVER)).toEqual({});
    await wantJob(sql, 'sweeps', 2000);
    expect(await sweepIfClaimed(sweeps, deps(), NEVER)).toEqual({ step: 2 });
  });

  test('what was wanted while it was done is done again', async () => {
    const { sql } = database;
    await wantJob(sql, 'job', 1000);
    const claim = await claimJob(sql, 'job', LEASE_MS);
    if (claim === null) throw new Error('it was due');
    await wantJob(sql, 'job', 2000);
    expect(await claimJob(sql, 'job', LEASE_MS)).toBeNull();
    expect(await endJob(sql, claim)).toBe(true);
    expect(await claimJob(sql, 'job', LEASE_MS)).toMatchObject({ dueMs: 2000, fence: claim.fence + 1 });
  });

  test('a clock that stands still can want the same again', async () => {
    const { sql } = database;
    for (let round = 0; round < 3; round += 1) {
      await wantJobAnew(sql, 'job', 1000);
      const claim = await claimJob(sql, 'job', LEASE_MS);
      expect(claim).not.toBeNull();
      if (claim !== null) await endJob(sql, claim);
    }
    expect(await claimJob(sql, 'job', LEASE_MS)).toBeNull();
  });

  test('after a holder that died another goes on behind the steps that are done', async () => {
    const { sql } = database;
    await wantJob(sql, 'sweeps', 1000);
    const dead = await claimJob(sql, 'sweeps', LEASE_MS);
    if (dead === null) throw new Error('it was due');
    await noteStep(sql, dead, 'first');
    const done: string[] = [];
    const step = (name: string): Sweep => ({ name, run: async () => done.push(name) });
    const sweeps = ['first', 'second', 'third'].map(step);
    expect(await sweepIfClaimed(sweeps, deps(), NEVER)).toEqual({});
    await expire();
    expect(Object.keys(await sweepIfClaimed(sweeps, deps(), NEVER))).toEqual(['second', 'third']);
    expect(done).toEqual(['second', 'third']);
  });

  test('a later time has all steps before it: those that were done, or under way, for an earlier one do not count', async () => {
    const { sql } = database;
    await wantJob(sql, 'sweeps', 1000);
    const dead = await claimJob(sql, 'sweeps', LEASE_MS);
    if (dead === null) throw new Error('it was due');
    await noteStep(sql, dead, 'first');
    await wantJob(sql, 'sweeps', 2000);
    expect(await noteStep(sql, dead, 'second')).toBe(true);
    await expire();
    const sweeps = ['first', 'second'].map((name): Sweep => ({ name, run: async () => 1 }));
    expect(await sweepIfClaimed(sweeps, deps(), NEVER)).toEqual({ first: 1, second: 1 });
  });

  test('a process without others does not wait for the lease of the one that died, nor leave out what that one did', async () => {
    const { sql } = database;
    const clock = new VirtualClock();
    await wantJobAnew(sql, 'sweeps', clock.nowMs());
    const dead = await claimJob(sql, 'sweeps', LEASE_MS);
    if (dead === null) throw new Error('it was due');
    await noteStep(sql, dead, 'first');
    const done: string[] = [];
    const sweeps = ['first', 'second'].map((name): Sweep => ({ name, run: async () => done.push(name) }));
    const sweeping = startSweeps(sweeps, { ...deps(), clock, isAlone: true });
    await expect.poll(() => done).toEqual(['first', 'second']);
    await sweeping.stop();
    expect(await endJob(sql, dead)).toBe(false);
  });

  test('C7: a holder that wakes after its lease neither ends, renews nor gives up what its successor does', async () => {
    const { sql } = database;
    await wantJob(sql, 'job', 1000);
    const zombie = await claimJob(sql, 'job', LEASE_MS);
    await expire();
    const heir = await claimJob(sql, 'job', LEASE_MS);
    if (zombie === null || heir === null) throw new Error('both have claimed it in turn');
    await noteStep(sql, heir, 'first');
    expect(await renewClaim(sql, zombie, LEASE_MS)).toBe(false);
    expect(await noteStep(sql, zombie, 'second')).toBe(false);
    expect(await endJob(sql, zombie)).toBe(false);
    await giveUpJob(sql, zombie);
    expect(await claimJob(sql, 'job', LEASE_MS)).toBeNull();
    const [row] = await sql`select fence, steps_done, done_ms from house_job`;
    expect(row).toEqual({ fence: heir.fence, steps_done: ['first'], done_ms: 0 });
  });

  test('C7: a sweep that loses its claim begins no further step, and leaves what it began to its successor', async () => {
    const { sql } = database;
    await wantJob(sql, 'sweeps', 1000);
    const done: string[] = [];
    const taken: Sweep = {
      name: 'taken',
      run: async () => {
        await expire();
        await claimJob(sql, 'sweeps', LEASE_MS);
        return done.push('taken');
      },
    };
    await sweepIfClaimed([taken, { name: 'next', run: async () => done.push('next') }], deps(), NEVER);
    expect(done).toEqual(['taken']);
    const [row] = await sql`select steps_done, done_ms from house_job`;
    expect(row).toEqual({ steps_done: [], done_ms: 0 });
  });

  test('a holder that cannot renew its claim in time is told to stop', async () => {
    const { sql } = database;
    await wantJob(sql, 'sweeps', 1000);
    const ioClock = new VirtualClock();
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const slow: Sweep = {
      name: 'slow',
      run: (signal) => {
        begin();
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(0)));
      },
    };
    const report = sweepIfClaimed([slow, { name: 'next', run: async () => 1 }], { ...deps(), ioClock }, NEVER);
    await begun;
    // The process was paused for longer than its lease.
    ioClock.advance(9000);
    const paused = ioClock.monotonicMs.bind(ioClock);
    ioClock.monotonicMs = () => paused() + 60_000;
    ioClock.advance(1000);
    expect(await report).toEqual({ slow: 0 });
  });

  test('a node that stops gives the rest to the next, and one whose step fails goes on', async () => {
    const { sql } = database;
    await wantJob(sql, 'sweeps', 1000);
    const stopping = new AbortController();
    const last: Sweep = {
      name: 'last',
      run: async () => {
        stopping.abort();
        return 1;
      },
    };
    const fails: Sweep = { name: 'fails', run: () => Promise.reject(new Error('this one')) };
    const sweeps = [fails, last, { name: 'rest', run: async () => 3 }];
    expect(await sweepIfClaimed(sweeps, deps(), stopping.signal)).toEqual({ fails: null, last: 1 });
    expect(await sweepIfClaimed([fails, { name: 'last', run: async () => 2 }, sweeps[2] as Sweep], deps(), NEVER)).toEqual({
      last: 2,
      rest: 3,
    });
  });

  test('nodes of a cluster that start at one time sweep once; a node alone sweeps at every start', async () => {
    const { sql } = database;
    let runs = 0;
    const sweeps: Sweep[] = [{ name: 'step', run: async () => (runs += 1) }];
    const start = async (isAlone: boolean) => {
      const sweeping = startSweeps(sweeps, { ...deps(), clock: new VirtualClock(), isAlone });
      // What a start has wanted comes before it.
      await sweeping.now();
      await sweeping.stop();
    };
    await Promise.all([start(false), start(false), start(false)]);
    expect(runs).toBe(3 + 1);
    await start(true);
    await start(true);
    expect(runs).toBe(3 + 1 + 4);
    const [row] = await sql`select due_ms = done_ms as is_done from house_job`;
    expect(row).toEqual({ is_done: true });
  });
});
