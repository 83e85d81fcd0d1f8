/** Which tables the scripts of jobs read and write, in the lineage of the catalog. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Job } from '../../../../protocol/automation/jobs.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { TestUser } from '../../../support/easel.ts';
import { agentOf, moveInto, newWorkspace } from '../../../support/workspaces.ts';
import { JobStage, script } from '../../automation/jobs/stage.ts';

let stage: JobStage;
let member: TestUser;
let workspace: string;
beforeAll(async () => {
  stage = await JobStage.start();
  member = await stage.easel.newUser();
  workspace = await newWorkspace(stage.easel, { [stage.owner.userId]: 'owner', [member.userId]: 'member' }, { slug: 'acme', tier: 'team' });
  await stage.call('PATCH', '/v1/workspaces/acme/features', { features: { catalog: true } }, { token: stage.easel.adminToken });
  await stage.call('POST', '/v1/workspaces/acme/catalog/enable');
});
afterAll(() => stage?.close());
beforeEach(async () => {
  await stage.publish();
  for (const name of ['orders', 'prices', 'totals'])
    await stage.call('POST', `/v1/data/${stage.artifactId}/tables/${name}`, { rows: [{ n: 1 }] });
  await moveInto(stage.easel, stage.owner, stage.artifactId, workspace);
});
afterEach(() => stage.deleteJobs());

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly source: { readonly id: string };
}

async function idOf(name: string): Promise<string> {
  const { entries } = (await stage.call('GET', `/v1/workspaces/acme/catalog?q=${name}`)).body as { entries: Entry[] };
  return entries.find((entry) => entry.name === name && entry.source.id === stage.artifactId)?.id ?? '';
}

async function lineageOf(id: string, token = stage.owner.token) {
  return (await stage.call('GET', `/v1/workspaces/acme/catalog/entries/${id}/lineage`, undefined, { token })).body;
}

async function ran(job: Job, runs = 1): Promise<void> {
  await stage.run(job.id);
  await expect.poll(async () => (await stage.ended(job.id)).length).toBe(runs);
}

const source = `
  const rows = await easel.table('orders').query({});
  await easel.table('prices').count();
  await easel.table('nothing').query({}).catch(() => {});
  await easel.table('totals').insert({ n: rows.length });`;

it('leads from what a script reads by its job to what it writes, both ways', async () => {
  const job = await stage.create(script(source, { title: 'Add up' }));
  await ran(job);
  const [orders, prices, totals] = [await idOf('orders'), await idOf('prices'), await idOf('totals')];
  const written = { from: job.id, to: totals, kind: 'write' };
  await expect.poll(async () => (await lineageOf(orders)).edges).toEqual([{ from: orders, to: job.id, kind: 'read' }, written]);
  const { nodes, edges, truncated } = await lineageOf(totals);
  const reads = [orders, prices].map((id) => ({ from: id, to: job.id, kind: 'read' }));
  expect([edges.length, truncated]).toEqual([3, false]);
  expect(edges).toEqual(expect.arrayContaining([written, ...reads]));
  expect(nodes).toHaveLength(4);
  // Where there is no table, nothing is noted.
  expect(await stage.easel.sql`select from job_table_use where job_id = ${job.id} and name = 'nothing'`).toHaveLength(0);
  expect(nodes).toContainEqual({ id: job.id, kind: 'job', name: 'Add up', source_name: 'Page', artifact_id: stage.artifactId });
});

it('shows a table that a script both reads and writes once, with an edge each way', async () => {
  const job = await stage.create(script("const t = easel.table('totals'); await t.insert({ n: await t.count() });"));
  await ran(job);
  const totals = await idOf('totals');
  await expect.poll(async () => (await lineageOf(totals)).edges).toHaveLength(2);
  const { nodes, edges } = await lineageOf(totals);
  expect(nodes.map(({ id }: Entry) => id)).toEqual([totals, job.id]);
  expect(edges).toEqual(
    expect.arrayContaining([
      { from: job.id, to: totals, kind: 'write' },
      { from: totals, to: job.id, kind: 'read' },
    ]),
  );
});

it('tells nothing of a job to who may not edit its page: neither the job nor what it joins', async () => {
  const job = await stage.create(script(source));
  await ran(job);
  const orders = await idOf('orders');
  await expect.poll(async () => (await lineageOf(orders)).edges).toHaveLength(2);
  const reader = await agentOf(stage.easel, workspace, ['artifacts:read']);
  expect((await lineageOf(orders, reader)).edges).toHaveLength(2);
  expect(await lineageOf(orders, member.token)).toMatchObject({ nodes: [{ id: orders }], edges: [], truncated: false });
  await stage.easel.sql`
    insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${stage.artifactId}, ${member.userId}, 'editor', 0)`;
  expect((await lineageOf(orders, member.token)).edges).toHaveLength(2);
});

it('a rehearsal is no use of a table', async () => {
  const job = await stage.create(script(source));
  expect((await stage.call('POST', `/v1/jobs/${job.id}/rehearse`)).body.error).toBe(null);
  await ran(await stage.create(script("await easel.table('prices').count();")));
  const prices = await idOf('prices');
  await expect.poll(async () => (await lineageOf(prices)).edges).toHaveLength(1);
  expect((await lineageOf(await idOf('orders'))).edges).toEqual([]);
});

it('forgets what a script used once it is another one, with its job, and long after its last use', async () => {
  const { sql } = stage.easel;
  const [orders, prices] = [await idOf('orders'), await idOf('prices')];
  const edgesOf = async (id: string) => (await lineageOf(id)).edges.length;
  const job = await stage.create(script(source));
  await ran(job);
  await expect.poll(() => edgesOf(orders)).toBe(2);
  await stage.call('PATCH', `/v1/jobs/${job.id}`, { title: 'Renamed' });
  expect(await edgesOf(orders)).toBe(2);
  await stage.call('PATCH', `/v1/jobs/${job.id}`, { config: { source: "await easel.table('prices').count();" } });
  expect(await edgesOf(orders)).toBe(0);
  await ran(job, 2);
  await expect.poll(() => edgesOf(prices)).toBe(1);
  await stage.easel.sweep();
  expect(await edgesOf(prices)).toBe(1);
  await sql`update job_table_use set used_at_ms = used_at_ms - ${LIMITS.jobTableUsesKeptMs + 1000}`;
  await stage.easel.sweep();
  expect(await edgesOf(prices)).toBe(0);
  // What was noted today is not written again before tomorrow.
  stage.easel.clock.advance(24 * 3600 * 1000);
  await ran(job, 3);
  await expect.poll(() => edgesOf(prices)).toBe(1);
  await stage.call('DELETE', `/v1/jobs/${job.id}`);
  expect(await edgesOf(prices)).toBe(0);
  expect(await sql`select from job_table_use where job_id = ${job.id}`).toHaveLength(0);
});
