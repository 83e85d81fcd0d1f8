/** Prepares what the examples of jobs need. */
import { vi } from 'vitest';
import type { TestEasel, TestUser } from '../support/easel.ts';

/** What these examples need of the world of `examples.ts`. */
interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly artifactId: string;
}

type Prepared = { readonly ids: { readonly job: string; readonly run?: string } };

async function posted({ easel, owner }: World, path: string, body?: unknown) {
  const headers = { 'content-type': 'application/json' };
  const reply = await easel.fetch(path, {
    method: 'POST',
    token: owner.token,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as { readonly id: string; readonly run: { readonly id: string } };
}

async function job(world: World): Promise<Prepared> {
  const config = { source: 'return 1;' };
  const trigger = { trigger_type: 'cron', schedule: '0 0 1 1 *' };
  const { id } = await posted(world, '/v1/jobs', { artifact_id: world.artifactId, title: 'A job', action: 'script', ...trigger, config });
  return { ids: { job: id } };
}

async function run(world: World): Promise<Prepared> {
  const { ids } = await job(world);
  return { ids: { ...ids, run: (await posted(world, `/v1/jobs/${ids.job}/run`)).run.id } };
}

/** One that has ended, because it changes until then. */
async function endedRun(world: World): Promise<Prepared> {
  const prepared = await run(world);
  const status = async () =>
    (await world.easel.sql<{ status: string }[]>`select status from job_run where id = ${prepared.ids.run ?? ''}`)[0]?.status;
  await vi.waitUntil(async () => (await status()) === 'succeeded', { timeout: 60_000 });
  return prepared;
}

/** One that waits, and is not taken before it is canceled. */
async function waitingRun(world: World): Promise<Prepared> {
  const { ids } = await run(world);
  const { sql } = world.easel;
  for (;;) {
    const { count } = await sql`
      update job_run set status = 'queued', due_ms = 9e15, lease_token = null, lease_ends_at = null, finished_at_ms = null
      where id = ${ids.run ?? ''} and status <> 'running'`;
    if (count > 0) return { ids };
  }
}

export const jobArrangements = {
  'jobs.get': job,
  'jobs.update': job,
  'jobs.delete': job,
  'jobs.run': job,
  'jobs.rehearse': job,
  'jobs.logs': endedRun,
  'jobs.getRun': endedRun,
  'jobs.cancelRun': waitingRun,
};
