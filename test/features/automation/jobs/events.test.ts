/** Jobs after events: what sets them off, what does not, and what happens when nobody was there to hear. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { JobStage, script } from './stage.ts';

let stage: JobStage;
beforeAll(async () => {
  stage = await JobStage.start();
});
afterAll(() => stage?.close());
beforeEach(() => stage.publish());
afterEach(() => stage.deleteJobs());

const onEvent = (event_type: string, more: Record<string, unknown> = {}) => ({
  action: 'http_get',
  trigger_type: 'event',
  event_type,
  config: { url: `${stage.origin}/${event_type}` },
  ...more,
});

/** What was gathered is looked at. */
async function gathered(): Promise<void> {
  stage.easel.clock.advance(1000);
}

async function runsOf(jobId: string, count: number) {
  await expect
    .poll(async () => {
      await gathered();
      return (await stage.ended(jobId)).length;
    })
    .toBe(count);
  return stage.ended(jobId);
}

describe('jobs after events', () => {
  it('data.changed with a filter: only changes of the key or the table, gathered into one run', async () => {
    const ofKey = await stage.create(onEvent('data.changed', { event_filter: { key: 'orders.*' } }));
    const ofTable = await stage.create(onEvent('data.changed', { event_filter: { table: 'visits' } }));
    await stage.put('other', 1);
    await stage.put('orders.1', 1);
    await stage.put('orders.2', 1);
    const [run] = await runsOf(ofKey.id, 1);
    expect(run).toMatchObject({ trigger: 'event', status: 'succeeded' });
    expect(run?.events).toMatchObject({ types: ['data.changed'] });
    expect(JSON.stringify(run?.events)).not.toContain('"other"');
    expect(await stage.logs(ofTable.id)).toEqual([]);
    await stage.call('POST', `/v1/data/${stage.artifactId}/tables/visits`, { n: 1 });
    await runsOf(ofTable.id, 1);
    expect((await stage.logs(ofKey.id)).length).toBe(1);
  });

  it('comment.added and artifact.updated', async () => {
    await stage.call('PUT', `/v1/data/${stage.artifactId}/comments/_config`, { enabled: true });
    const ofComments = await stage.create(onEvent('comment.added'));
    const ofArtifact = await stage.create(onEvent('artifact.updated'));
    const comment = await stage.call('POST', `/v1/data/${stage.artifactId}/comments`, { content: 'Hello' });
    expect(comment.status).toBe(201);
    const [run] = await runsOf(ofComments.id, 1);
    expect(run?.events).toMatchObject({ things: [{ kind: 'comment:added', name: comment.body.data.id }] });
    expect(await stage.logs(ofArtifact.id)).toEqual([]);
    stage.easel.clock.advance(10);
    await stage.call('PATCH', `/v1/artifacts/${stage.artifactId}`, { name: 'Another name' });
    await runsOf(ofArtifact.id, 1);
  });

  it('artifact.viewed', async () => {
    const job = await stage.create(onEvent('artifact.viewed'));
    const { body } = await stage.call('GET', `/v1/artifacts/${stage.artifactId}`);
    const host = new URL(stage.easel.contentUrl(body.slug)).host;
    expect(await openPage(host)).toBe(200);
    const [run] = await runsOf(job.id, 1);
    expect(run?.events).toMatchObject({ types: ['artifact.viewed'] });
  });

  it("a job's own changes do not set it off; those of another job do", async () => {
    const own = await stage.create({
      ...script("await easel.json.increment('seen')"),
      trigger_type: 'event',
      schedule: undefined,
      event_type: 'data.changed',
    });
    await stage.put('start', 1);
    await runsOf(own.id, 1);
    for (let seconds = 0; seconds < 5; seconds += 1) await gathered();
    await stage.put('start', 2);
    await runsOf(own.id, 2);
    expect(await stage.value('seen')).toBe(2);
  });

  it('jobs that set each other off stop at a depth of five, and the ledger names them', async () => {
    const event = { trigger_type: 'event', schedule: undefined, event_type: 'data.changed' };
    const ping = await stage.create({ ...script("await easel.json.increment('pong')"), ...event, event_filter: { key: 'ping' } });
    const pong = await stage.create({ ...script("await easel.json.increment('ping')"), ...event, event_filter: { key: 'pong' } });
    await stage.put('ping', 0);
    await expect
      .poll(async () => {
        await gathered();
        return [...(await stage.logs(ping.id)), ...(await stage.logs(pong.id))].filter(({ status }) => status === 'skipped').length;
      })
      .toBe(1);
    const entries = [...(await stage.ended(ping.id)), ...(await stage.ended(pong.id))];
    expect(entries.filter(({ status }) => status === 'succeeded')).toHaveLength(5);
    const reason = entries.find(({ status }) => status === 'skipped')?.reason ?? '';
    expect(reason.split(' → ')).toHaveLength(6);
    expect(reason).toContain(ping.id);
  });

  it('what nobody has heard of is found by what the job has not seen, and runs once', async () => {
    const job = await stage.create(onEvent('data.changed', { event_filter: { key: 'a' } }));
    await gathered();
    // As another node would have written it, and died.
    await stage.easel.sql`
      insert into json_key (artifact_id, key, value, seq, created_at_ms, updated_at_ms)
      select id, 'a', '1', seq + 1, 1, 1 from artifact where id = ${stage.artifactId}`;
    await stage.easel.sql`update artifact set seq = seq + 1 where id = ${stage.artifactId}`;
    stage.easel.clock.advance(60_000);
    await runsOf(job.id, 1);
    stage.easel.clock.advance(60_000);
    await gathered();
    expect(await stage.logs(job.id)).toHaveLength(1);
  });

  it('data.changed hears new versions and deletions of datasets, filtered by name, also after nobody has heard', async () => {
    const ofOne = await stage.create(onEvent('data.changed', { event_filter: { dataset: 'prices' } }));
    const ofAll = await stage.create(onEvent('data.changed'));
    const ofTable = await stage.create(onEvent('data.changed', { event_filter: { table: 'prices' } }));
    await stage.putDataset('other', [{ n: 1 }]);
    await stage.putDataset('prices', [{ n: 1 }]);
    const [first] = await runsOf(ofOne.id, 1);
    expect(first?.events).toEqual({ types: ['data.changed'], count: 1, things: [{ kind: 'dataset.version', name: 'prices' }] });
    const ofBoth = (await runsOf(ofAll.id, 1))[0]?.events as { things: unknown[] };
    expect(ofBoth.things).toHaveLength(2);
    // The same rows again are no new version.
    await stage.putDataset('prices', [{ n: 1 }]);
    for (let seconds = 0; seconds < 3; seconds += 1) await gathered();
    expect(await stage.logs(ofOne.id)).toHaveLength(1);
    await stage.call('DELETE', `/v1/data/${stage.artifactId}/datasets/prices`);
    const [gone] = await runsOf(ofOne.id, 2);
    expect(gone?.events).toMatchObject({ things: [{ kind: 'dataset.deleted', name: 'prices' }] });
    // As another node would have written it, and died.
    await stage.easel.sql`update dataset_floor set seq = seq + 1 where artifact_id = ${stage.artifactId}`;
    await stage.easel.sql`
      insert into dataset_event (artifact_id, seq, name, is_deletion, chain)
      select artifact_id, seq, 'prices', false, '{}' from dataset_floor where artifact_id = ${stage.artifactId}`;
    stage.easel.clock.advance(60_000);
    await runsOf(ofOne.id, 3);
    expect(await stage.logs(ofTable.id)).toEqual([]);
  });

  it('a materialize job does not set itself off by its dataset, and others hear of it with the chain', async () => {
    const own = await stage.create({
      ...onEvent('data.changed'),
      action: 'materialize',
      config: { table: 'orders', select: ['n'], dataset: 'orders' },
    });
    const other = await stage.create(onEvent('data.changed', { event_filter: { dataset: 'orders' } }));
    await stage.call('POST', `/v1/data/${stage.artifactId}/tables/orders`, { n: 1 });
    await runsOf(other.id, 1);
    for (let seconds = 0; seconds < 5; seconds += 1) await gathered();
    expect(await stage.ended(own.id)).toMatchObject([{ status: 'succeeded', changes: [{ channel: 'datasets', name: 'orders' }] }]);
    const [{ chain } = { chain: [] }] = await stage.easel.sql<{ chain: string[] }[]>`
      select chain from job_run where job_id = ${other.id}`;
    expect(chain).toEqual([own.id, other.id]);
  });

  it('what no job has to see any more of datasets is swept away', async () => {
    await stage.create(onEvent('data.changed', { event_filter: { dataset: 'prices' } }));
    const events = () => stage.easel.sql`select seq from dataset_event where artifact_id = ${stage.artifactId}`;
    await stage.putDataset('prices', [{ n: 1 }]);
    await stage.easel.sweep();
    expect(await events()).toHaveLength(1);
    stage.easel.clock.advance(1000);
    await expect
      .poll(async () => {
        await gathered();
        await stage.easel.sweep();
        return (await events()).length;
      })
      .toBe(0);
  });

  it('a paused job hears nothing, also not of what came meanwhile', async () => {
    const job = await stage.create(onEvent('data.changed'));
    await stage.call('PATCH', `/v1/jobs/${job.id}`, { enabled: false });
    await stage.put('a', 1);
    await gathered();
    await stage.call('PATCH', `/v1/jobs/${job.id}`, { enabled: true });
    await gathered();
    expect(await stage.logs(job.id)).toEqual([]);
    await stage.put('a', 2);
    await runsOf(job.id, 1);
  });
});

/** As a browser does; `fetch` does not send a Host of its own. */
async function openPage(host: string): Promise<number> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const headers = { host, 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', accept: 'text/html' };
    request({ host: '127.0.0.1', port: stage.easel.port, path: '/', headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}
