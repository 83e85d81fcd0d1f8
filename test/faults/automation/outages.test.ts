/**
 * What runs, deliveries and alerts come to when a node is not heard of, its database is away, a host misbehaves or the time of day is set: nothing is
 * lost, what happens twice has the same id, and a late result overwrites nothing.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Random } from '../../support/random.ts';
import { describeWith } from '../../support/services.ts';
import { TwoNodes } from './stage.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const POLL_MS = 10_000;
const HOURLY = { schedule: '0 * * * *' };
const SEED = Number(process.env.AUTOMATION_SEED ?? 14);
/** How often the time of day is set; many in the long mode. */
const CLOCK_STEPS = Number(process.env.AUTOMATION_STRIKES ?? 8);

describeWith('postgresUrl')('two nodes on one database', () => {
  let stage: TwoNodes;
  let page: Awaited<ReturnType<TwoNodes['page']>>;
  beforeAll(async () => {
    stage = await TwoNodes.start();
  });
  afterAll(() => stage?.close());
  beforeEach(async () => {
    stage.answerAll();
    stage.held.clear();
    await stage.second.sql`delete from job`;
    page = await stage.page();
  });

  it('[J3] a run: what the node that lost it reports late is not taken, and both calls have the same id', async () => {
    const job = await stage.job(page, '/lost-run', { config: { url: stage.host.url('/lost-run'), secret: 'a secret of sixteen' } });
    stage.holdBack('/lost-run');
    const id = await stage.run(page.owner, job);
    await stage.received('/lost-run', 1);
    const { sql, clock } = stage.second;
    const [former] = await sql`select lease_token as token from job_run where id = ${id}`;
    const calls = await stage.received('/lost-run', 2, async () => {
      // The first node renews what it has as long as nobody else has it.
      await sql`update job_run set lease_ends_at = clock_timestamp() where id = ${id} and lease_token = ${former?.token}`;
      clock.advance(POLL_MS);
    });
    expect(calls.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
    stage.answer('/lost-run', 1, 200, 'of the second');
    await stage.ended(page.owner, job);
    stage.answer('/lost-run', 0, 500, 'of the first');
    await expect.poll(() => stage.gauge(stage.first, 'easel_job_runs_active')).toBe(0);
    expect(await stage.ledger(page.owner, job)).toMatchObject([{ id, status: 'succeeded', attempt: 1, output: '200\nof the second' }]);
    expect(await stage.call(page.owner, 'GET', `/v1/jobs/${job}`)).toMatchObject({ failures: 0, last_status: 'succeeded' });
  });

  it('[J3] a delivery of a webhook, and one of an alert: likewise', async () => {
    const { sql } = stage.second;
    const advance = () => {
      for (const { clock } of [stage.first, stage.second]) clock.advance(5000);
    };
    const { webhook } = await stage.call(page.owner, 'POST', '/v1/webhooks', {
      url: stage.host.url('/lost-hook'),
      artifact_id: page.id,
      events: ['data.changed'],
    });
    const metric = { artifact_id: page.id, metric_id: 'value', source: { kind: 'json_path', key: 'stats', path: '$.value' } };
    await stage.call(page.owner, 'PUT', '/v1/metric-alerts/definitions', metric);
    const rule = await stage.call(page.owner, 'POST', '/v1/metric-alerts', {
      ...{ artifact_id: page.id, metric_id: 'value', name: 'Too much', condition: { op: 'gt', value: 10 }, ...HOURLY },
      destination: { kind: 'webhook', config: { url: stage.host.url('/lost-alert') } },
    });
    stage.holdBack('/lost-hook', '/lost-alert');
    await stage.call(page.owner, 'PUT', `/v1/data/${page.id}/json/stats`, { value: 11 });
    await stage.call(page.owner, 'POST', `/v1/metric-alerts/${rule.id}/run`);
    await stage.received('/lost-hook', 1, advance);
    await stage.received('/lost-alert', 1, advance);
    // Whichever node has them is not heard of for a minute.
    await sql`update webhook set lease_ends_at = clock_timestamp() - interval '1 s' where id = ${webhook.id}`;
    await sql`update alert_event set lease_ends_at = clock_timestamp() - interval '1 s' where rule_id = ${rule.id} and lease_ends_at is not null`;
    const hooks = await stage.received('/lost-hook', 2, advance);
    const alerts = await stage.received('/lost-alert', 2, advance);
    expect(new Set(hooks.map(({ headers, event }) => `${headers['webhook-id']} ${event.id} ${event.number}`)).size).toBe(1);
    expect(new Set(alerts.map(({ headers, event }) => `${headers['webhook-id']} ${event.id}`)).size).toBe(1);
    for (const path of ['/lost-hook', '/lost-alert']) stage.answer(path, 1, 200, 'to the second');
    const outcome = async () => {
      const [row] = await sql`
        select
          (select row(d.status, d.response_status, w.failures)::text from webhook_delivery d join webhook w on w.id = d.webhook_id
            where w.id = ${webhook.id}) as hook,
          (select row(e.delivery, e.error, e.attempts)::text from alert_event e where e.rule_id = ${rule.id}) as alert`;
      return row;
    };
    const taken = { hook: '(delivered,200,0)', alert: '(delivered,,2)' };
    await expect.poll(outcome).toEqual(taken);
    for (const path of ['/lost-hook', '/lost-alert']) stage.answer(path, 0, 500, 'to the first');
    for (const node of [stage.first, stage.second])
      for (const gauge of ['easel_webhook_tries_open', 'easel_alert_deliveries']) await expect.poll(() => stage.gauge(node, gauge)).toBe(0);
    expect(await outcome()).toEqual(taken);
    expect([stage.host.at('/lost-hook').length, stage.host.at('/lost-alert').length]).toEqual([2, 2]);
  });

  it('the database is away for five hours: what was due runs once, late, and a run under way is recorded when it is back', async () => {
    const { sql } = stage.second;
    const [due, underWay] = [await stage.job(page, '/due', HOURLY), await stage.job(page, '/under-way')];
    stage.holdBack('/under-way');
    const id = await stage.run(page.owner, underWay);
    await stage.received('/under-way', 1);
    stage.link.cut();
    stage.answer('/under-way', 0, 200, 'while it was away');
    for (let minutes = 0; minutes < 300; minutes += 1) stage.first.clock.advance(MINUTE_MS);
    await expect.poll(async () => (await stage.first.fetch('/readyz')).status).toBe(503);
    expect(await sql`select id, status from job_run`).toEqual([{ id, status: 'running' }]);
    stage.link.heal();
    await expect.poll(async () => (await stage.first.fetch('/readyz')).status).toBe(200);
    const counted = async () => {
      stage.first.clock.advance(1000);
      return await sql`
        select job_id, status, count(*)::int as runs, count(distinct scheduled_for_ms)::int as times from job_run
        group by job_id, status order by job_id = ${due} desc, status`;
    };
    await expect.poll(counted).toEqual([
      { job_id: due, status: 'missed', runs: 4, times: 4 },
      { job_id: due, status: 'succeeded', runs: 1, times: 1 },
      { job_id: underWay, status: 'succeeded', runs: 1, times: 1 },
    ]);
    expect([stage.host.at('/due').length, stage.host.at('/under-way').length]).toEqual([1, 1]);
    expect(await stage.ledger(page.owner, underWay)).toMatchObject([{ id, attempt: 1, output: '200\nwhile it was away' }]);
  });

  it('hosts that hang, lie about their length and answer after a day: errors of their runs, and nobody else waits', async () => {
    const other = await stage.page();
    const paths = ['/hangs', '/after-a-day'];
    stage.holdBack(...paths);
    const answers = stage.host.answers;
    stage.host.answers = (received, response, request) => {
      if (received.path !== '/lies') return answers(received, response, request);
      response.writeHead(200, { 'content-length': '500' });
      response.write('short', () => response.destroy());
    };
    const [hangs, late, lies, same, others] = await Promise.all([
      stage.job(page, paths[0] as string),
      stage.job(page, paths[1] as string),
      stage.job(other, '/lies'),
      stage.job(other, '/same'),
      stage.job(other, '/others'),
    ]);
    await stage.run(page.owner, hangs);
    await stage.run(page.owner, late);
    for (const path of paths) await stage.received(path, 1);
    // An artifact has two runs at once, and a full one holds up no other.
    for (const job of [lies, same, others]) await stage.run(other.owner, job);
    expect((await stage.ended(other.owner, others))[0]).toMatchObject({ status: 'succeeded' });
    expect((await stage.ended(other.owner, same))[0]).toMatchObject({ status: 'succeeded' });
    expect((await stage.ended(other.owner, lies))[0]).toMatchObject({ status: 'failed', error: expect.stringContaining('ended early') });
    expect((await stage.ledger(page.owner, hangs))[0]?.status).toBe('running');
    stage.first.clock.advance(24 * HOUR_MS);
    for (const job of [hangs, late])
      expect((await stage.ended(page.owner, job))[0]).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('no whole answer within'),
      });
    const before = await stage.ledger(page.owner, late);
    stage.answer('/after-a-day', 0, 200, 'better late');
    stage.answerAll();
    await stage.run(page.owner, late);
    const [next, first] = await stage.ended(page.owner, late, 2);
    expect([next?.status, first]).toEqual(['succeeded', before[0]]);
  });

  it(`the time of day is set forward and back ${CLOCK_STEPS} times (seed ${SEED}): each due time once`, async () => {
    const { sql } = stage.second;
    const { clock } = stage.first;
    const random = new Random(SEED);
    const job = await stage.job(page, '/hourly', HOURLY);
    const [created] = await sql`select next_run_at_ms as first from job where id = ${job}`;
    let latestMs = clock.nowMs();
    const settled = async () => {
      const isSettled = async () => {
        clock.advance(POLL_MS);
        const [row] = await sql`
          select next_run_at_ms > ${clock.nowMs()} and not exists (select from job_run where due_ms is not null) as settled from job`;
        return row?.settled;
      };
      await expect.poll(isSettled, { interval: 20 }).toBe(true);
      latestMs = Math.max(latestMs, clock.nowMs());
    };
    for (let step = 0; step < CLOCK_STEPS; step += 1) {
      const hours = [2.5, -3, 0.2, -0.7, 5, -1][random.integer(6)] ?? 1;
      clock.set(hours * HOUR_MS);
      await settled();
      for (let passed = 0; passed < 3; passed += 1) {
        clock.advance((20 + random.integer(50)) * MINUTE_MS);
        await settled();
      }
    }
    const rows = await sql<{ id: string; at: number; times: number; status: string; reason: string | null }[]>`
      select id, scheduled_for_ms as at, due_times as times, status, reason from job_run where job_id = ${job} order by scheduled_for_ms`;
    const wanted: number[] = [];
    for (let at = created?.first; at <= latestMs; at += HOUR_MS) wanted.push(at);
    expect(wanted.length).toBeGreaterThan(CLOCK_STEPS);
    expect(rows.map(({ at, times }) => [at, times])).toEqual(wanted.map((at) => [at, 1]));
    for (const { status, reason } of rows) expect([status, reason === null]).toEqual([status, status === 'succeeded']);
    const ran = rows.filter(({ status }) => status === 'succeeded').map(({ id }) => id);
    expect(stage.host.at('/hourly').map(({ event }) => (event as unknown as { run_id: string }).run_id)).toEqual(ran);
  });
});
