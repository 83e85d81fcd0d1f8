/** Limits and retention are what the service does; the status page says how its parts are, and nothing else. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { RETENTION } from '../../../../protocol/business/retention.ts';
import { TIER_ORDER, TIERS } from '../../../../protocol/business/tiers.ts';
import { RATE_LIMITS } from '../../../../protocol/core/rate-limits.ts';
import { type HealthOf, StatusReader } from '../../../../src/features/business/terms/status.ts';
import { spanOf } from '../../../../src/features/business/terms/tables.ts';
import type { Health } from '../../../../src/platform/dependency-watch.ts';
import type { Sql } from '../../../../src/storage/sql.ts';
import { databaseKinds, SILENT } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json } from '../../../support/requests.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const HTML = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };

describe.each(databaseKinds())('terms: %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  test('each daily sweep has a rule of its name, and each rule a sweep', async () => {
    const swept = Object.keys(await easel.sweep());
    // A server vacuums by itself.
    const rules = Object.keys(RETENTION).filter((name) => name !== 'vacuumedTables' || database === 'embedded');
    expect(swept.sort()).toEqual(rules.sort());
  });

  test('/v1/limits and /v1/retention answer the tables to everybody', async () => {
    const limits = await json(await easel.fetch('/v1/limits'));
    expect(limits.plans.map(({ tier }: { tier: string }) => tier)).toEqual(TIER_ORDER);
    for (const { tier, features, allowances } of limits.plans as { tier: 'free'; features: string[]; allowances: { bytes: number } }[])
      expect([features, allowances.bytes]).toEqual([TIERS[tier].features, TIERS[tier].bytesMax]);
    const names = limits.rates.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(RATE_LIMITS)));
    expect(new Set(names).size).toBe(names.length);
    const { rules } = await json(await easel.fetch('/v1/retention'));
    expect(rules.find(({ name }: { name: string }) => name === 'artifacts')).toMatchObject({ kept_s: 30 * 86_400 });
    expect(rules).toHaveLength(Object.keys(RETENTION).length);
  });

  test('/limits shows every row of them', async () => {
    const page = await (await easel.fetch('/limits', HTML)).text();
    for (const { what } of Object.values(RETENTION).filter(({ since }) => since !== 'upkeep'))
      expect(page).toContain(what.replace("'", '&#39;'));
    for (const name of Object.keys(RATE_LIMITS)) expect(page).toContain(`<code>${name}</code>`);
  });

  test('/status is a page for browsers and JSON for programs, without a credential', async () => {
    const reply = await easel.fetch('/status');
    expect(reply.headers.get('content-type')).toContain('application/json');
    const body = await json(reply);
    expect(body.status).toBe('up');
    expect(body.parts.map(({ name }: { name: string }) => name)).toEqual(['api', 'database', 'files', 'mail', 'jobs', 'search', 'imports']);
    const page = await easel.fetch('/status', HTML);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).toContain('Everything works.');
  });

  describe('what waits', () => {
    let clock: VirtualClock;
    beforeEach(() => {
      clock = new VirtualClock();
    });
    afterEach(() => easel.sql`delete from mail_outbox`);
    const statusOf = (health: HealthOf, sql = easel.sql) =>
      new StatusReader({ sql, clock: easel.clock, log: SILENT, health, ioClock: clock });
    const up: HealthOf = () => ({ state: 'up' });
    const stateOf = async (reader: StatusReader, part: string) => (await reader.read()).parts.find(({ name }) => name === part)?.state;
    const queueMail = () => easel.sql`
      insert into mail_outbox (id, recipient, subject, kind, next_attempt_at_ms, created_at_ms)
      values ('mai_late', 'ada@example.com', 'Late', 'sign_in', ${easel.clock.nowMs() - 3_600_000}, 1)`;

    test('mail that should have been sent long ago is delayed, and the whole is degraded', async () => {
      expect(await stateOf(statusOf(up), 'mail')).toBe('up');
      await queueMail();
      const reader = statusOf(up);
      expect([await stateOf(reader, 'mail'), (await reader.read()).status]).toEqual(['delayed', 'degraded']);
    });

    test('an answer is used for some seconds, and many at once ask once', async () => {
      let asked = 0;
      const health: HealthOf = (name) => {
        if (name === 'database') asked += 1;
        return { state: 'up' };
      };
      const reader = statusOf(health);
      await Promise.all(Array.from({ length: 50 }, () => reader.read()));
      const once = asked;
      await queueMail();
      clock.advance(4999);
      expect([await stateOf(reader, 'mail'), asked]).toEqual(['up', once]);
      clock.advance(1);
      expect([await stateOf(reader, 'mail'), asked]).toEqual(['delayed', 2 * once]);
    });

    test('without the database the parts are told as unknown, without asking it', async () => {
      const down: Health = { state: 'down', sinceMs: Date.UTC(2026, 0, 2), reason: 'connect ECONNREFUSED 10.1.2.3:5432' };
      const forbidden = (() => {
        throw new Error('the database was asked');
      }) as unknown as Sql;
      const status = await statusOf((name) => (name === 'database' ? down : { state: 'up' }), forbidden).read();
      expect(status).toMatchObject({ status: 'down', parts: expect.arrayContaining([{ name: 'jobs', state: 'unknown' }]) });
      expect(status.parts).toContainEqual({ name: 'database', state: 'down', since: '2026-01-02T00:00:00.000Z' });
      // No address, and nothing else of why.
      expect(JSON.stringify(status)).not.toMatch(/ECONNREFUSED|10\.1\.2\.3/);
    });

    test('a database that does not answer is not awaited for long', async () => {
      const silent = (() => new Promise(() => undefined)) as unknown as Sql;
      const read = statusOf(up, silent).read();
      clock.advance(2000);
      const { status, parts } = await read;
      expect([status, parts.find(({ name }) => name === 'search')?.state]).toEqual(['degraded', 'unknown']);
    });
  });
});

test('the README has the tables as they are', async () => {
  const { stderr } = await promisify(execFile)(process.execPath, ['deploy/terms-tables.mjs', '--check']);
  expect(stderr).toBe('');
});

test('times are told in the largest whole unit', () => {
  expect([1000, 90_000, 3_600_000, 172_800_000, 86_400_000].map(spanOf)).toEqual(['1 second', '90 seconds', '1 hour', '2 days', '1 day']);
});
