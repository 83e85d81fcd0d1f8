/** Jobs that run: by the clock, by hand and after events, in the name of who has made them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { JobStage, script } from './stage.ts';

let stage: JobStage;
beforeAll(async () => {
  stage = await JobStage.start();
});
afterAll(() => stage?.close());
beforeEach(() => stage.publish());
// Its jobs would run as the next test moves the clock.
afterEach(() => stage.deleteJobs());

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

async function outcomeOf(jobId: string, count = 1) {
  await expect.poll(async () => (await stage.ended(jobId)).length).toBeGreaterThanOrEqual(count);
  return stage.ended(jobId);
}

describe('runs of jobs', () => {
  it('a script reads and writes the data of its artifact, and the log says what it printed and changed', async () => {
    await stage.put('count', 4);
    const source = `
      const before = await easel.json.get('count');
      await easel.json.set('count', before + params.by);
      await easel.table('visits').insert([{ at: 1 }, { at: 2 }]);
      console.log('was', before);
      return { now: before + params.by };`;
    const job = await stage.create(script(source, { config: { source, params: { by: 3 } } }));
    const { id, status } = await stage.run(job.id);
    expect(status).toBe('queued');
    const [run] = await outcomeOf(job.id);
    expect(run).toMatchObject({ id, status: 'succeeded', trigger: 'manual', attempt: 1, error: null });
    expect(run?.output).toContain('was 4');
    expect(run?.output).toContain('{"now":7}');
    expect(run?.changes).toEqual([
      { channel: 'json', name: 'count', op: 'put', count: 1 },
      { channel: 'tables', name: 'visits', op: 'insert', count: 2 },
    ]);
    expect(await stage.value('count')).toBe(7);
    expect(await stage.get(job.id)).toMatchObject({ last_status: 'succeeded', failures: 0 });
    expect((await stage.call('GET', `/v1/jobs/${job.id}/runs/${id}`)).body).toEqual(run);
  });

  it('runs by the clock, once for each due time', async () => {
    const job = await stage.create({
      action: 'http_get',
      trigger_type: 'cron',
      schedule: '*/5 * * * *',
      config: { url: `${stage.origin}/tick` },
    });
    const firstMs = Date.parse(job.next_run_at ?? '');
    stage.easel.clock.advance(firstMs - stage.easel.clock.nowMs());
    const [run] = await outcomeOf(job.id);
    expect(run).toMatchObject({ status: 'succeeded', trigger: 'schedule', scheduled_for: job.next_run_at });
    expect(stage.asked.map(({ url }) => url)).toEqual(['/tick']);
    expect(Date.parse((await stage.get(job.id)).next_run_at ?? '')).toBe(firstMs + 5 * MINUTE_MS);
  });

  it('[J2] after downtime one late run; the due times before it are in the ledger as missed', async () => {
    const job = await stage.create({ action: 'http_get', trigger_type: 'cron', schedule: '0 * * * *', config: { url: stage.origin } });
    stage.easel.clock.advance(5 * HOUR_MS);
    await outcomeOf(job.id, 5);
    const entries = await stage.ended(job.id);
    expect(entries.map(({ status }) => status).sort()).toEqual(['missed', 'missed', 'missed', 'missed', 'succeeded']);
    expect(new Set(entries.map(({ scheduled_for }) => scheduled_for)).size).toBe(5);
    expect(entries.filter(({ status }) => status === 'missed').every(({ reason }) => reason !== null)).toBe(true);
    expect(stage.asked).toHaveLength(1);
  });

  it('[J2] after a week away a job of each minute runs once, and the ledger counts every due time', async () => {
    const job = await stage.create({ action: 'http_get', trigger_type: 'cron', schedule: '* * * * *', config: { url: stage.origin } });
    const firstMs = Date.parse(job.next_run_at ?? '');
    const count = 7 * 24 * 60;
    // The node was not there meanwhile, and comes back with a clock that is a week later.
    stage.easel.clock.set(firstMs + (count - 1) * MINUTE_MS - stage.easel.clock.nowMs());
    stage.easel.clock.advance(10_000);
    await outcomeOf(job.id, 100);
    const rows = await stage.easel.sql<{ status: string; rows: number; times: number }[]>`
      select status, count(*)::int as rows, sum(due_times)::int as times from job_run where job_id = ${job.id} group by status order by status`;
    expect(rows).toEqual([
      { status: 'missed', rows: 100, times: count - 1 },
      { status: 'succeeded', rows: 1, times: 1 },
    ]);
    expect(stage.asked).toHaveLength(1);
  });

  it('[J2] a due time while an earlier one still waits for its place is merged into it, and says so', async () => {
    stage.answer = () => undefined;
    const slow = { action: 'http_get', trigger_type: 'cron', schedule: '0 0 1 1 *', config: { url: stage.origin } };
    for (const { id } of [await stage.create(slow), await stage.create(slow)]) await stage.run(id);
    // An artifact has two runs at once.
    await expect.poll(() => stage.asked.length).toBe(2);
    const job = await stage.create({ ...slow, schedule: '0 * * * *' });
    for (const entries of [1, 2]) {
      stage.easel.clock.advance(HOUR_MS);
      await expect.poll(async () => (await stage.logs(job.id)).length).toBe(entries);
    }
    const [merged, waiting] = await stage.logs(job.id);
    expect([merged, waiting]).toMatchObject([
      { status: 'merged', reason: `${waiting?.id} still waited, and stands for it.` },
      { status: 'queued' },
    ]);
    expect(stage.asked).toHaveLength(2);
  });

  it('a due time while a run is under way is skipped, and says why', async () => {
    let release = (): void => undefined;
    stage.answer = (response) => {
      release = () => response.end('late');
    };
    const job = await stage.create({ action: 'http_get', trigger_type: 'cron', schedule: '0 * * * *', config: { url: stage.origin } });
    await stage.run(job.id);
    await expect.poll(() => stage.asked.length).toBe(1);
    stage.easel.clock.advance(HOUR_MS);
    await expect.poll(async () => (await stage.logs(job.id)).some(({ status }) => status === 'skipped')).toBe(true);
    release();
    const entries = await outcomeOf(job.id, 2);
    expect(entries.find(({ status }) => status === 'skipped')?.reason).toMatch(/^run_\w+ was still under way/);
  });

  it('tries again as configured, and with the same id', async () => {
    stage.answer = (response) => {
      response.statusCode = stage.asked.length < 3 ? 500 : 200;
      response.end('x');
    };
    const retry_config = { maxAttempts: 3, backoff: 'fixed', initialDelay: 10 };
    const config = { url: stage.origin, secret: 'a secret of sixteen' };
    const job = await stage.create({ action: 'webhook', trigger_type: 'cron', schedule: '0 0 1 1 *', config, retry_config });
    const { id } = await stage.run(job.id);
    for (let tries = 1; tries < 3; tries += 1) {
      await expect
        .poll(async () => (await stage.logs(job.id))[0])
        .toMatchObject({ attempt: tries, status: 'queued', error: 'The host answered 500.' });
      await expect
        .poll(() => {
          // Not behind the try that is waited for: it may have failed by then, and the next would follow unseen.
          if (stage.asked.length === tries) stage.easel.clock.advance(13_000);
          return stage.asked.length;
        })
        .toBe(tries + 1);
    }
    const [run] = await outcomeOf(job.id);
    expect(run).toMatchObject({ id, status: 'succeeded', attempt: 3 });
    expect(stage.asked.map(({ headers }) => headers['webhook-id'])).toEqual([id, id, id]);
    expect(stage.asked.map(({ body }) => JSON.parse(body).attempt)).toEqual([1, 2, 3]);
    expect(stage.asked[0]?.headers['easel-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  });

  it('ten failures in a row pause it, and its maker finds a notice', async () => {
    const job = await stage.create(script("throw new Error('no good')"));
    for (let failures = 1; failures <= 10; failures += 1) {
      await stage.run(job.id);
      await outcomeOf(job.id, failures);
    }
    const paused = await stage.get(job.id);
    expect(paused).toMatchObject({ enabled: false, failures: 10, next_run_at: null });
    expect(paused.paused_reason).toContain('no good');
    const bell = (await stage.call('GET', '/v1/notifications')).body;
    expect(bell.notifications.find((notice: { artifact_id: string }) => notice.artifact_id === stage.artifactId)).toMatchObject({
      kind: 'job.paused',
    });
    const resumed = await stage.call('PATCH', `/v1/jobs/${job.id}`, { enabled: true });
    expect(resumed.body).toMatchObject({ enabled: true, failures: 0, paused_reason: null });
    expect(resumed.body.next_run_at).not.toBeNull();
  });

  it('one whose time zone the system does not know any more is paused at its next due time, and its maker hears of it', async () => {
    const job = await stage.create({ action: 'http_get', trigger_type: 'cron', schedule: '*/5 * * * *', config: { url: stage.origin } });
    await stage.easel.sql`update job set timezone = 'Atlantis/Capital' where id = ${job.id}`;
    stage.easel.clock.advance(5 * MINUTE_MS);
    await expect.poll(async () => (await stage.get(job.id)).enabled).toBe(false);
    expect((await stage.get(job.id)).paused_reason).toContain('Atlantis/Capital');
    const { notifications } = (await stage.call('GET', '/v1/notifications')).body;
    expect(notifications.find((notice: { artifact_id: string }) => notice.artifact_id === stage.artifactId)).toMatchObject({
      kind: 'job.paused',
      body: expect.stringContaining('Atlantis/Capital'),
    });
    expect(stage.asked).toEqual([]);
  });

  it('checks the access of who has made it at each run', async () => {
    const editor = await stage.easel.newUser('pro');
    await stage.easel.sql`update account set email = ${'editor@jobs.example'} where id = ${editor.userId}`;
    const added = await stage.call('POST', `/v1/artifacts/${stage.artifactId}/collaborators`, {
      emails: ['editor@jobs.example'],
      role: 'editor',
    });
    expect(added.status).toBe(200);
    const job = await stage.create(script("await easel.json.set('by', 'editor')"), editor.token);
    await stage.run(job.id);
    expect((await outcomeOf(job.id))[0]).toMatchObject({ status: 'succeeded' });
    const removed = await stage.call('DELETE', `/v1/artifacts/${stage.artifactId}/collaborators/editor@jobs.example`);
    expect(removed.status).toBe(200);
    await stage.put('by', 'owner');
    const { id } = await stage.run(job.id);
    const run = (await outcomeOf(job.id, 2)).find((each) => each.id === id);
    expect(run).toMatchObject({ status: 'failed', error: 'Who has made the job may not edit the artifact any more.' });
    expect(await stage.value('by')).toBe('owner');
  });

  it('a run can be canceled while it is under way; nobody else sees jobs', async () => {
    stage.answer = () => undefined;
    const job = await stage.create({ action: 'http_get', trigger_type: 'cron', schedule: '0 0 1 1 *', config: { url: stage.origin } });
    const { id } = await stage.run(job.id);
    await expect.poll(() => stage.asked.length).toBe(1);
    expect((await stage.call('POST', `/v1/jobs/${job.id}/run`)).body.code).toBe('RUN_IN_PROGRESS');
    const { token } = await stage.easel.newUser();
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/logs'],
      ['POST', '/run'],
      ['POST', `/runs/${id}/cancel`],
      ['DELETE', ''],
    ] as const)
      expect((await stage.call(method, `/v1/jobs/${job.id}${path}`, undefined, { token })).body.code).toBe('JOB_NOT_FOUND');
    expect((await stage.call('GET', `/v1/jobs?artifact_id=${stage.artifactId}`, undefined, { token })).status).toBe(403);
    expect((await stage.call('POST', `/v1/jobs/${job.id}/runs/${id}/cancel`)).status).toBe(200);
    expect((await outcomeOf(job.id))[0]).toMatchObject({ id, status: 'canceled', reason: 'Canceled by a person.' });
    expect((await stage.call('POST', `/v1/jobs/${job.id}/runs/${id}/cancel`)).body.code).toBe('RUN_FINISHED');
  });

  it('writes a table as a dataset', async () => {
    await stage.call('POST', `/v1/data/${stage.artifactId}/tables/orders`, { rows: [{ n: 1 }, { n: 2 }, { n: 3 }] });
    const config = { table: 'orders', filter: { n: { $gt: 1 } }, select: ['n'], dataset: 'big' };
    const job = await stage.create({ action: 'materialize', trigger_type: 'cron', schedule: '0 0 1 1 *', config });
    await stage.run(job.id);
    expect((await outcomeOf(job.id))[0]).toMatchObject({ status: 'succeeded', output: 'big: version 1, 2 rows' });
    expect((await stage.call('GET', `/v1/data/${stage.artifactId}/datasets/big`)).body.data).toMatchObject({ version: 1, rows: 2 });
  });

  it('a rehearsal tells what would be written and called, and changes nothing', async () => {
    await stage.put('count', 1);
    const source = `
      await easel.json.increment('count');
      const again = await easel.json.get('count');
      await easel.fetch('${stage.origin}/hook', { method: 'POST', body: 'x' });
      return again;`;
    const job = await stage.create(script(source));
    const { status, body } = await stage.call('POST', `/v1/jobs/${job.id}/rehearse`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      would: {
        write: [{ channel: 'json', name: 'count', before: 1, after: 2 }],
        call: [{ method: 'POST', url: `${stage.origin}/hook` }],
        send: [],
      },
      error: null,
    });
    expect(body.output).toContain('2');
    expect(await stage.value('count')).toBe(1);
    expect(stage.asked).toEqual([]);
    expect((await stage.logs(job.id))[0]).toMatchObject({ trigger: 'rehearsal', status: 'succeeded' });
  });

  it('a rehearsal tries a config that is not stored yet, with the secrets that are, and does not store it', async () => {
    const job = await stage.create(script('return 1;'));
    const other = { action: 'http_get', config: { url: `${stage.origin}/try`, headers: { 'X-Key': 'hush' } } };
    const { body } = await stage.call('POST', `/v1/jobs/${job.id}/rehearse`, other);
    expect(body).toMatchObject({ would: { call: [{ method: 'GET', url: `${stage.origin}/try` }] }, error: null });
    expect(await stage.get(job.id)).toEqual(job);
    const refused = await stage.call('POST', `/v1/jobs/${job.id}/rehearse`, { config: { source: '' } });
    expect([refused.status, refused.body.param]).toEqual([400, 'config.source']);
    const kept = await stage.create({ trigger_type: 'cron', schedule: '0 0 1 1 *', ...other });
    const again = await stage.call('POST', `/v1/jobs/${kept.id}/rehearse`, { config: { ...kept.config, save_key: 'answer' } });
    expect(again.body.would.write).toEqual([{ channel: 'json', name: 'answer', before: null, after: '' }]);
    const elsewhere = await stage.call('POST', `/v1/jobs/${kept.id}/rehearse`, { config: { ...kept.config, url: `${stage.origin}/b` } });
    expect([elsewhere.status, elsewhere.body.param]).toEqual([400, 'config.headers.X-Key']);
  });

  it('keeps its secrets: masked in answers, kept when the mask comes back, gone with another destination', async () => {
    const config = { url: `${stage.origin}/a`, headers: { 'X-Key': 'hush' } };
    const job = await stage.create({ action: 'http_get', trigger_type: 'cron', schedule: '0 0 1 1 *', config });
    expect(job.config).toEqual({ url: `${stage.origin}/a`, headers: { 'X-Key': '********' } });
    expect((await stage.call('PATCH', `/v1/jobs/${job.id}`, { config: job.config, title: 'Renamed' })).status).toBe(200);
    await stage.run(job.id);
    await outcomeOf(job.id);
    expect(stage.asked[0]?.headers['x-key']).toBe('hush');
    const elsewhere = await stage.call('PATCH', `/v1/jobs/${job.id}`, { config: { ...job.config, url: `${stage.origin}/b` } });
    expect([elsewhere.status, elsewhere.body.param]).toEqual([400, 'config.headers.X-Key']);
  });

  it.each([
    [{ schedule: '61 * * * *' }, 'INVALID_SCHEDULE', 'schedule'],
    [{ schedule: '0 0 * * *', timezone: 'Mars/Base' }, 'INVALID_SCHEDULE', 'timezone'],
    [{ schedule: undefined }, 'INVALID_REQUEST', 'schedule'],
    [{ trigger_type: 'event', schedule: undefined }, 'INVALID_REQUEST', 'event_type'],
    [
      { trigger_type: 'event', event_type: 'comment.added', schedule: undefined, event_filter: { key: 'a' } },
      'INVALID_REQUEST',
      'event_filter',
    ],
    [{ config: {} }, 'INVALID_REQUEST', 'config.source'],
    [{ action: 'webhook', config: { url: 'ftp://a.example' } }, 'INVALID_REQUEST', 'config.url'],
    [{ action: 'email', config: { to: ['a@example.com'] } }, 'INVALID_REQUEST', 'config.text'],
  ])('refuses %j', async (change, code, param) => {
    const wanted = { artifact_id: stage.artifactId, title: 'A job', ...script('1'), ...change };
    expect((await stage.call('POST', '/v1/jobs', wanted)).body).toMatchObject({ code, param });
  });
});
