/**
 * Two nodes as processes of their own that are killed in the middle of runs and deliveries. `AUTOMATION_STRIKES` says how often (the long mode: 50),
 * `AUTOMATION_SEED` repeats a run. Mail through such a death is in mail-crashes.test.ts.
 */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HookReceiver } from '../../support/hook-receiver.ts';
import { Random } from '../../support/random.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { post } from '../../support/requests.ts';
import { describeWith } from '../../support/services.ts';
import { publishTargets, type Target } from '../../support/writers.ts';
import { Cluster, type ClusterNodeProcess } from '../cluster/cluster.ts';

const STRIKES = Number(process.env.AUTOMATION_STRIKES ?? 2);
const SEED = Number(process.env.AUTOMATION_SEED ?? 14);
const STRIKE_MS_MAX = 120_000;
const CLAIMS_MAX = 5;

// It starts a Redis of its own, so it is skipped without the program.
const suite = hasRedisServer() ? describeWith('postgresUrl') : describe.skip;

suite('nodes that are killed', () => {
  let host: HookReceiver;
  let cluster: Cluster;
  let sql: postgres.Sql;
  let held: ServerResponse[];

  beforeAll(async () => {
    host = await HookReceiver.start();
    cluster = await Cluster.start(2, {
      ...host.settings,
      EGRESS_PORTS: 'any',
      EGRESS_PRIVATE_NETWORKS: '127.0.0.1',
      SECRET_KEY: randomBytes(32).toString('hex'),
      THUMBNAILS: 'off',
    });
    sql = postgres(cluster.databaseUrl, { max: 2 });
  });
  afterAll(async () => {
    await sql?.end();
    await cluster?.close();
    host?.close();
  });
  beforeEach(() => {
    held = [];
    host.received.length = 0;
  });

  const node = (at: number) => cluster.nodes[at] as ClusterNodeProcess;
  const kill = (at: number) => node(at).end('SIGKILL');
  /** As though whoever had something had died a minute ago. */
  const expire = async () => {
    await sql`update job_run set lease_ends_at = clock_timestamp() where lease_ends_at is not null`;
    await sql`update webhook set lease_ends_at = clock_timestamp() where lease_ends_at is not null`;
  };
  /** The node may have to wait for the lease of a dead one. */
  const call = async ({ token }: Target, method: string, path: string, body?: unknown, at = 0) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    let text = '';
    const status = async () => {
      const reply = await fetch(`${node(at).baseUrl}${path}`, { ...post(body), method, headers });
      text = await reply.text();
      return reply.status;
    };
    await expect.poll(status).not.toBe(503);
    const answer = JSON.parse(text);
    if (answer.code !== undefined) throw new Error(`${method} ${path} was refused: ${text}`);
    return answer;
  };
  const target = async () => (await publishTargets(node(0), 1))[0] as Target;
  const job = async (of: Target, path: string, schedule = '0 0 1 1 *', at = 0): Promise<string> => {
    const wanted = {
      artifact_id: of.artifactId,
      title: path,
      action: 'webhook',
      trigger_type: 'cron',
      schedule,
      config: { url: host.url(path) },
    };
    return (await call(of, 'POST', '/v1/jobs', wanted, at)).id;
  };
  const runIds = (path: string) => host.at(path).map(({ event }) => (event as unknown as { run_id: string }).run_id);

  it(
    `${STRIKES} strikes (seed ${SEED}): each due time has one entry and one run id, each change is in one delivery, whatever arrives twice`,
    async () => {
      const random = new Random(SEED);
      for (let strike = 0; strike < STRIKES; strike += 1) await strikeOnce(strike, random.pick([[0], [1], [0, 1]]));
    },
    STRIKES * STRIKE_MS_MAX,
  );

  async function strikeOnce(strike: number, victims: readonly number[]): Promise<void> {
    const [page, other] = [await target(), await target()];
    const paths = [`/a-${strike}`, `/b-${strike}`];
    const hookPath = `/hook-${strike}`;
    const ids = await Promise.all(paths.map((path) => job(page, path, '* * * * *')));
    await call(page, 'POST', '/v1/webhooks', { url: host.url(hookPath), artifact_id: page.artifactId, events: ['data.changed'] });
    host.answers = (_, response) => void held.push(response);
    // They have been due for a while.
    await sql`update job set next_run_at_ms = (extract(epoch from clock_timestamp())::bigint - 50) * 1000 where id = any(${ids})`;
    await call(page, 'PUT', `/v1/data/${page.artifactId}/json/before`, strike, 1);
    // A node with a new job looks at the schedule at once.
    await job(other, '/other', '0 0 1 1 *', victims[0]);
    for (const path of [...paths, hookPath]) await expect.poll(() => host.at(path).length, { message: path }).toBeGreaterThan(0);
    // In the middle of all of them, and a change is acknowledged that nobody has been told of.
    await call(page, 'PUT', `/v1/data/${page.artifactId}/json/after`, strike, 1);
    for (const at of victims) await kill(at);
    await sql`update job set next_run_at_ms = null`;
    host.answers = (_, response) => response.writeHead(204).end();
    for (const response of held.splice(0)) response.writeHead(204).end();
    await expire();
    await cluster.heal();
    await expectSettled(page);

    const rows = await sql<{ id: string; path: string; at: string; status: string }[]>`
      select r.id, j.title as path, r.scheduled_for_ms as at, r.status from job_run r join job j on j.id = r.job_id
      where j.id = any(${ids}) and r.trigger = 'schedule'`;
    for (const path of paths) {
      const ofJob = rows.filter((row) => row.path === path);
      expect(new Set(ofJob.map(({ at }) => at)).size).toBe(ofJob.length);
      const ran = ofJob.filter(({ status }) => status === 'succeeded');
      expect(ran.length).toBeGreaterThan(0);
      // What the host was told, however often, are these runs and no others; what was missed runs once.
      expect(new Set(runIds(path))).toEqual(new Set(ran.map(({ id }) => id)));
      expect(ofJob.filter(({ status }) => !['succeeded', 'missed', 'skipped', 'merged'].includes(status))).toEqual([]);
    }
    const deliveries = new Map(
      host.at(hookPath).map(({ headers, event, body }) => [`${headers['webhook-id']} ${event.number}`, { event, body }]),
    );
    expect(new Set(host.at(hookPath).map(({ body }) => body)).size).toBe(deliveries.size);
    const keys = [...deliveries.values()].flatMap(({ event }) => event.data.changes.map(({ key }: { key: string }) => key));
    expect(new Set(keys)).toEqual(new Set(['after', 'before']));
    await sql`delete from job`;
  }

  async function expectSettled({ artifactId }: Target): Promise<void> {
    const waiting = async () => {
      const [row] = await sql`
        select
          (select count(*)::int from job_run where artifact_id = ${artifactId} and due_ms is not null) as runs,
          (select count(*)::int from webhook_delivery d join webhook w on w.id = d.webhook_id
            where w.artifact_id = ${artifactId} and d.status <> 'delivered') as deliveries,
          (select a.seq - min(w.seen_seq) from webhook w join artifact a on a.id = w.artifact_id where a.id = ${artifactId} group by a.seq)::int as unseen`;
      return row;
    };
    await expect.poll(waiting, { timeout: 90_000 }).toEqual({ runs: 0, deliveries: 0, unseen: 0 });
  }

  it('[J4] a run that kills its process each time is given up, its ledger says why, and its neighbours go on meanwhile', async () => {
    await kill(1);
    const page = await target();
    const [poison, neighbour, later] = [await job(page, '/poison'), await job(page, '/neighbour'), await job(page, '/later')];
    host.answers = ({ path }, response) => {
      if (path === '/poison' || (path === '/neighbour' && host.at('/neighbour').length === 1)) held.push(response);
      else response.writeHead(204).end();
    };
    const run = async (id: string): Promise<string> => (await call(page, 'POST', `/v1/jobs/${id}/run`)).run.id;
    const [poisonRun, neighbourRun] = [await run(poison), await run(neighbour)];
    const received = (path: string, count: number) => expect.poll(() => host.at(path).length, { message: path }).toBe(count);
    for (const path of ['/poison', '/neighbour']) await received(path, 1);
    await kill(0);
    // The neighbour went down with it, as often as it takes to be suspected too.
    await sql`update job_run set claims = 2, lease_ends_at = clock_timestamp() where id = ${neighbourRun}`;
    await sql`update job_run set lease_ends_at = clock_timestamp() + interval '1 hour' where id = ${poisonRun}`;
    await node(0).start();
    await received('/neighbour', 2);
    expect(new Set(runIds('/neighbour'))).toEqual(new Set([neighbourRun]));
    const status = async (id: string) => (await sql`select status from job_run where id = ${id}`)[0]?.status;
    await expect.poll(() => status(neighbourRun)).toBe('succeeded');
    // All but the last of the deaths that it may cause.
    await sql`update job_run set claims = ${CLAIMS_MAX - 1} where id = ${poisonRun}`;
    await expire();
    const laterRun = await run(later);
    await received('/poison', 2);
    await expect.poll(() => status(laterRun)).toBe('succeeded');
    await kill(0);
    await expire();
    await node(0).start();
    await expect.poll(() => status(poisonRun)).toBe('failed');
    const entry = await call(page, 'GET', `/v1/jobs/${poison}/runs/${poisonRun}`);
    expect(entry).toMatchObject({ status: 'failed', attempt: 1, error: `The processes that ran it ended ${CLAIMS_MAX} times.` });
    expect(runIds('/poison')).toEqual([poisonRun, poisonRun]);
    const [left] = await sql`select count(*)::int as runs from job_run where due_ms is not null`;
    expect(left).toEqual({ runs: 0 });
  });
});
