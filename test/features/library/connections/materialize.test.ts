/** Jobs that write what a connection answers as a dataset: a database, a host, a store; once and bit by bit. */
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { createServerDatabase } from '../../../support/database.ts';
import type { TestUser } from '../../../support/easel.ts';
import { json, post } from '../../../support/requests.ts';
import { startS3, type TestS3 } from '../../../support/s3.ts';
import { describeWith } from '../../../support/services.ts';
import { newWorkspace } from '../../../support/workspaces.ts';
import { JobStage } from '../../automation/jobs/stage.ts';

let stage: JobStage;
let member: TestUser;
let s3: TestS3;
beforeAll(async () => {
  stage = await JobStage.start();
  s3 = await startS3();
  member = await stage.easel.newUser();
  await newWorkspace(stage.easel, { [stage.owner.userId]: 'owner', [member.userId]: 'member' }, { slug: 'acme' });
});
afterAll(async () => {
  await stage?.close();
  await s3?.close();
});
beforeEach(() => stage.publish());
afterEach(() => stage.deleteJobs());

let names = 0;
async function connect(body: object, by: TestUser = stage.owner): Promise<string> {
  names += 1;
  const init = { token: by.token, ...post({ name: `Connection ${names}`, ...body }) };
  const made = await json(await stage.easel.fetch('/v1/workspaces/acme/connections', init));
  if (made.id === undefined) throw new Error(JSON.stringify(made));
  return made.id;
}

const wanted = (config: object) => ({
  action: 'materialize',
  trigger_type: 'cron',
  schedule: '0 0 1 1 *',
  config: { dataset: 'got', ...config },
});
const make = (config: object) => stage.create(wanted(config));

async function outcome(jobId: string) {
  const { id } = await stage.run(jobId);
  await expect.poll(async () => (await stage.ended(jobId)).map((run) => run.id)).toContain(id);
  return (await stage.ended(jobId)).find((run) => run.id === id);
}

const got = async (name = 'got') =>
  (await stage.call('GET', `/v1/data/${stage.artifactId}/datasets/${name}/content?format=json`)).body as Record<string, unknown>[];
const stored = async (id: string) => (await stage.call('GET', `/v1/workspaces/acme/connections/${id}`)).body;

describe('a dataset from a host', () => {
  const answers = (body: unknown, type = 'application/json') => {
    stage.answer = (response) => response.setHeader('content-type', type).end(typeof body === 'string' ? body : JSON.stringify(body));
  };

  it('reads arrays under a header, rows behind a pointer, and CSV, below the URL and with the credentials', async () => {
    const id = await connect({
      type: 'http',
      authType: 'bearer',
      config: { url: `${stage.origin}/v4` },
      credentials: { token: 'se-cret' },
    });
    answers({
      range: 'A1:C3',
      values: [
        ['city', 'people', ''],
        ['Oslo', 7],
        ['Rome', 28, 'x'],
      ],
    });
    const sheet = await make({ connection_id: id, path: 'sheets/1/values?render=RAW' });
    expect(await outcome(sheet.id)).toMatchObject({ status: 'succeeded', output: 'got: version 1, 2 rows' });
    expect(await got()).toEqual([
      { city: 'Oslo', people: 7 },
      { city: 'Rome', people: 28, column_3: 'x' },
    ]);
    expect(stage.asked.at(-1)).toMatchObject({ url: '/v4/sheets/1/values?render=RAW', headers: { authorization: 'Bearer se-cret' } });
    answers({ data: { items: [{ n: 1 }, { n: 2 }] } });
    const items = await make({ connection_id: id, path: '', rows: '/data/items', dataset: 'items' });
    expect(await outcome(items.id)).toMatchObject({ output: 'items: version 1, 2 rows' });
    answers('n,at\n1,2026-01-05\n', 'text/csv; charset=utf-8');
    const csv = await make({ connection_id: id, path: 'export', dataset: 'csv' });
    expect(await outcome(csv.id)).toMatchObject({ status: 'succeeded' });
    expect(await got('csv')).toEqual([{ n: 1, at: '2026-01-05' }]);
  });

  it('appends what is beyond the last value, which the host is told', async () => {
    const id = await connect({ type: 'http', config: { url: stage.origin } });
    answers([{ at: '2026-01-05T10:00:00.5Z', n: 2 }, { at: '2026-01-05T10:00:00Z', n: 1 }, { n: 0 }]);
    const job = await make({ connection_id: id, path: 'events', cursor_column: 'at', cursor_param: 'since' });
    expect(await outcome(job.id)).toMatchObject({ output: 'got: version 1, 2 rows' });
    answers([
      { at: '2026-01-05T10:00:00.5Z', n: 2 },
      { at: '2026-01-06T00:00:00Z', n: 3 },
    ]);
    expect(await outcome(job.id)).toMatchObject({ output: 'got: version 2, 3 rows, 1 of them new' });
    expect(stage.asked.at(-1)?.url).toBe('/events?since=2026-01-05T10%3A00%3A00.5Z');
    expect((await got()).map(({ n }) => n)).toEqual([2, 1, 3]);
    expect(await outcome(job.id)).toMatchObject({ output: 'got: no new rows, version 2, 3 rows' });
    // Something else is read now, so it begins again.
    answers([{ at: '2025-01-01', n: 9 }]);
    await stage.call('PATCH', `/v1/jobs/${job.id}`, { config: { ...job.config, path: 'others' } });
    expect(await outcome(job.id)).toMatchObject({ output: 'got: version 3, 1 rows' });
  });

  it('a rehearsal reads, and writes nothing', async () => {
    const id = await connect({ type: 'http', config: { url: stage.origin } });
    answers([{ n: 1 }, { n: 2 }]);
    const job = await make({ connection_id: id, path: '' });
    const { body } = await stage.call('POST', `/v1/jobs/${job.id}/rehearse`);
    expect(body).toMatchObject({ error: null, output: 'got: would have 2 rows', would: { write: [] } });
    expect((await stage.call('GET', `/v1/data/${stage.artifactId}/datasets`)).body.data.datasets).toEqual([]);
  });

  it('says what is wrong and shows no credentials; each use is in the record', async () => {
    const id = await connect({
      type: 'http',
      authType: 'bearer',
      config: { url: `${stage.origin}/v4` },
      credentials: { token: 'se-cret' },
    });
    stage.answer = (response) => response.writeHead(401).end('not se-cret');
    const job = await make({ connection_id: id, path: 'x' });
    const run = await outcome(job.id);
    expect(run).toMatchObject({ status: 'failed', error: 'The host does not accept the credentials: it answered 401.' });
    expect(await stored(id)).toMatchObject({ last_error: run?.error, last_used_at: expect.any(String) });
    const { body } = await stage.call('GET', '/v1/workspaces/acme/audit?action=connection.use');
    const detail = { by: 'run', artifact_id: stage.artifactId, job_id: job.id };
    const used = body.entries.filter(({ target }: { target: { id: string } }) => target.id === id);
    expect(used).toMatchObject([{ actor: { id: stage.owner.userId }, detail }]);
    stage.answer = (response) => response.writeHead(307, { location: 'https://b.example/v5?key=se-cret' }).end();
    expect(await outcome(job.id)).toMatchObject({
      error: 'The host redirects to https://b.example/v5 (307), and redirects are not followed: use the URL to which it leads.',
    });
    answers({ items: 'none' });
    expect(await outcome(job.id)).toMatchObject({ error: expect.stringContaining('There is no array') });
    const out = await stage.create(wanted({ connection_id: id, path: '../../admin' }));
    expect(await outcome(out.id)).toMatchObject({ error: 'The path leads out of the URL of the connection.' });
    expect(JSON.stringify([await stage.logs(job.id), body, await stored(id)])).not.toContain('se-cret');
  });

  it('asks at each run whether who has made the job still belongs to the workspace, and uses their own credentials', async () => {
    const guest = await stage.easel.newUser();
    const { sql } = stage.easel;
    await sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${stage.artifactId}, ${member.userId}, 'editor', 0)`;
    const config = { url: stage.origin };
    const own = await connect({ type: 'http', authType: 'bearer', credentialScope: 'person', config, credentials: { token: 'of-owner' } });
    answers([{ n: 1 }]);
    await stage.call('PUT', `/v1/data/${stage.artifactId}/comments/_config`, { enabled: true });
    const job = await stage.create(wanted({ connection_id: own, path: '' }), member.token);
    expect(await outcome(job.id)).toMatchObject({ error: 'There are no credentials to connect with.' });
    stage.answer = (response) => response.writeHead(401).end();
    const mine = { credentials: { token: 'of-member' } };
    expect((await stage.call('PATCH', `/v1/workspaces/acme/connections/${own}`, mine, { token: member.token })).status).toBe(200);
    expect(await outcome(job.id)).toMatchObject({ error: 'The host does not accept the credentials: it answered 401.' });
    expect(await stored(own)).toMatchObject({ last_error: 'The last use failed; its run says why.' });
    answers([{ n: 1 }]);
    expect(await outcome(job.id)).toMatchObject({ status: 'succeeded' });
    expect(stage.asked.at(-1)?.headers.authorization).toBe('Bearer of-member');
    expect((await stage.call('DELETE', `/v1/workspaces/acme/members/${member.userId}`)).status).toBe(200);
    expect(await outcome(job.id)).toMatchObject({ error: expect.stringContaining('There is no such connection in a workspace') });
    const refused = await stage.call(
      'POST',
      '/v1/jobs',
      { artifact_id: stage.artifactId, title: 'x', ...wanted({ connection_id: own, path: '' }) },
      { token: guest.token },
    );
    expect(refused.status).toBe(403);
  });

  it('needs what its type reads, and either a table or a connection', async () => {
    const id = await connect({ type: 'http', config: { url: stage.origin } });
    const refused = async (config: object) => {
      const { status, body } = await stage.call('POST', '/v1/jobs', { artifact_id: stage.artifactId, title: 'x', ...wanted(config) });
      return [status, body.code, body.param];
    };
    expect(await refused({})).toEqual([400, 'INVALID_REQUEST', 'config.table']);
    expect(await refused({ connection_id: id, table: 't', path: '' })).toEqual([400, 'INVALID_REQUEST', 'config.connection_id']);
    expect(await refused({ connection_id: id })).toEqual([400, 'INVALID_REQUEST', 'config.path']);
    expect(await refused({ connection_id: id, path: '', query: 'select 1' })).toEqual([400, 'INVALID_REQUEST', 'config.query']);
    expect(await refused({ connection_id: `con_${'a'.repeat(24)}`, path: '' })).toEqual([
      404,
      'CONNECTION_NOT_FOUND',
      'config.connection_id',
    ]);
  });
});

describe('a dataset from a store', () => {
  it('reads an object by its end, and only below the prefix', async () => {
    await s3.makeBucket('sales');
    await s3.put('sales', 'daily/a.csv', 'n\n1\n2\n');
    const { S3_ENDPOINT: endpoint, S3_ACCESS_KEY: access_key_id, S3_SECRET_KEY: secret_access_key } = s3.settings;
    const credentials = { access_key_id, secret_access_key };
    const id = await connect({ type: 's3', config: { endpoint, bucket: 'sales', prefix: 'daily/' }, credentials });
    const job = await make({ connection_id: id, key: 'daily/a.csv' });
    expect(await outcome(job.id)).toMatchObject({ status: 'succeeded', output: 'got: version 1, 2 rows' });
    expect(await got()).toEqual([{ n: 1 }, { n: 2 }]);
    const missing = await make({ connection_id: id, key: 'daily/b.csv', dataset: 'b' });
    expect(await outcome(missing.id)).toMatchObject({ error: 'There is no object "daily/b.csv".' });
    const outside = await make({ connection_id: id, key: 'secret.csv', dataset: 'c' });
    expect(await outcome(outside.id)).toMatchObject({ error: 'The key must begin with the prefix of the connection, "daily/".' });
  });
});

describeWith('postgresUrl')('a dataset from Postgres', () => {
  let database: Awaited<ReturnType<typeof createServerDatabase>>;
  let sql: postgres.Sql;
  let id: string;
  beforeAll(async () => {
    database = await createServerDatabase('empty');
    sql = postgres(database.url, { max: 1, onnotice: () => undefined });
    await sql`
      create table orders (
        id bigint primary key, paid numeric, at timestamptz, day date, is_open boolean, more jsonb, big bigint)`;
    await sql`
      insert into orders select i, i + 0.5, '2026-01-05T00:00:00.000001Z'::timestamptz + i * interval '1 s', '2026-01-05', true, '{"a": 1}',
        9007199254740993 from generate_series(1, 450) i`;
    const { hostname: host, port, username, password, pathname } = new URL(database.url);
    const config = { host, port: Number(port || 5432), database: pathname.slice(1), ssl: 'disable' };
    id = await connect({ type: 'postgres', config, credentials: { username: username || 'root', password: password || 'pass-word' } });
  });
  afterAll(async () => {
    await sql?.end();
    await database?.drop();
  });

  it('reads in batches, values as they are, and appends beyond the last microsecond', async () => {
    const job = await make({ connection_id: id, query: 'select * from orders -- all of them', cursor_column: 'at' });
    expect(await outcome(job.id)).toMatchObject({ status: 'succeeded', output: 'got: version 1, 450 rows' });
    expect((await got())[0]).toEqual({
      id: 1,
      paid: 1.5,
      at: '2026-01-05T00:00:01.000001Z',
      day: '2026-01-05',
      is_open: true,
      more: { a: 1 },
      big: '9007199254740993',
    });
    await sql`insert into orders (id, at) values (451, '2026-01-05T00:07:30.000002Z'), (452, null)`;
    expect(await outcome(job.id)).toMatchObject({ output: 'got: version 2, 451 rows, 1 of them new' });
    expect((await got()).at(-1)).toMatchObject({ id: 451, at: '2026-01-05T00:07:30.000002Z' });
    await sql`delete from orders where id > 450`;
  });

  it('only reads: one statement, in a transaction that writes nothing, for a bounded time', async () => {
    const failing = async (query: string) => {
      const job = await make({ connection_id: id, query });
      return (await outcome(job.id))?.error;
    };
    await sql`create function add_order() returns int language sql as 'insert into orders (id) values (1000) returning 1'`;
    expect(await failing('select add_order()')).toBe('The query writes; connections only read.');
    expect(await failing('select 1) as q; delete from orders; select * from (select 1')).toContain('cannot insert multiple commands');
    expect(await failing('commit')).toContain('syntax error');
    expect(await failing('select * from nothing_here')).toBe('The database refuses: relation "nothing_here" does not exist');
    const [row] = await sql`select count(*)::int as n from orders`;
    expect(row?.n).toBe(450);
  });

  it('numbers a column whose name is taken, in every batch of rows', async () => {
    const job = await make({ connection_id: id, query: 'select i as a, -i as a, 0 as b from generate_series(1, 201) i' });
    expect(await outcome(job.id)).toMatchObject({ status: 'succeeded', output: 'got: version 1, 201 rows' });
    const rows = await got();
    expect([rows[0], rows.at(-1)]).toEqual([
      { a: 1, a_2: -1, b: 0 },
      { a: 201, a_2: -201, b: 0 },
    ]);
  });

  it('is not asked again for what stays wrong', async () => {
    const retry_config = { maxAttempts: 3, backoff: 'fixed', initialDelay: 10 };
    for (const [query, error] of [
      ['select $1', 'bind message supplies 0 parameters'],
      ['selec 1', 'syntax error'],
    ] as const) {
      const job = await stage.create({ ...wanted({ connection_id: id, query }), retry_config });
      expect(await outcome(job.id)).toMatchObject({ status: 'failed', attempt: 1, error: expect.stringContaining(error) });
    }
    const host = await connect({ type: 'http', config: { url: stage.origin } });
    stage.answer = (response) => response.setHeader('content-length', LIMITS.connectionFetchBytesMax + 1).flushHeaders();
    const job = await stage.create({ ...wanted({ connection_id: host, path: '' }), retry_config });
    expect(await outcome(job.id)).toMatchObject({ status: 'failed', attempt: 1, error: expect.stringContaining('is larger than') });
  });

  it('leaves nothing behind that a transaction which only reads could: no large object, no notification', async () => {
    const heard: string[] = [];
    const listener = postgres(database.url, { max: 1 });
    await listener.listen('news', (text) => heard.push(text));
    try {
      // Servers from 16 on refuse it themselves.
      await outcome((await make({ connection_id: id, query: 'select lo_create(4711) as made', dataset: 'made' })).id);
      const told = await make({ connection_id: id, query: "select pg_notify('news', 'of the query')::text as told", dataset: 'told' });
      expect(await outcome(told.id)).toMatchObject({ status: 'succeeded' });
      // Notifications come in the order of their commits.
      await sql.notify('news', 'of the test');
      await expect.poll(() => heard).toContain('of the test');
      expect(heard).toEqual(['of the test']);
      expect(await sql`select from pg_largeobject_metadata where oid = 4711`).toHaveLength(0);
    } finally {
      await listener.end();
    }
  });

  it('a server that ends in the middle is a failure, not the end of the rows', async () => {
    const query = 'select id, case when id = 400 then pg_terminate_backend(pg_backend_pid()) end as ends from orders order by id';
    const job = await make({ connection_id: id, query });
    expect(await outcome(job.id)).toMatchObject({ status: 'failed' });
    expect((await stage.call('GET', `/v1/data/${stage.artifactId}/datasets`)).body.data.datasets).toEqual([]);
  });
});
