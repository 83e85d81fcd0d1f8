/** Table queries (filter, sort, first 50 rows) in an open loop, each artifact at its full rate. */
import type { Paced } from '../load/paced.ts';
import type { Table } from '../report/report.ts';
import { atMost, rounded, spreadOf, type Verdict, withSpread } from '../report/statistics.ts';
import { artifactId } from '../servers/fixture.ts';
import type { Server } from '../servers/processes.ts';
import { CONNECTIONS } from './closed-loop.ts';
import { type DataStage, WITH_KEYS } from './data-stage.ts';
import { backendsApart, FULL_RATE, pace } from './knee.ts';

const TABLE = 'people';
const QUERY = JSON.stringify({ filter: { status: 'active', score: { $gte: 300 } }, sort: '-score', limit: 50 });
/** Artifacts beyond those with keys. */
const SMALL = { first: WITH_KEYS, artifacts: 2, rows: 10_000 };
const LARGE = { first: WITH_KEYS + SMALL.artifacts, artifacts: 2, rows: 100_000 };

type TableSet = typeof SMALL;

export async function queries(stage: DataStage): Promise<{ table: Table; verdicts: Verdict[]; rounds: unknown }> {
  await seedRows(stage, SMALL, []);
  await seedRows(stage, LARGE, ['score']);
  const cases = [
    { set: SMALL, what: `${SMALL.rows} rows, no index`, server: stage.easel, aimMs: 15 },
    { set: SMALL, what: `${SMALL.rows} rows, no index`, server: stage.fastify, aimMs: undefined },
    { set: LARGE, what: `${LARGE.rows} rows, score indexed`, server: stage.easel, aimMs: 25 },
  ];
  const rounds = cases.map((): Paced[] => []);
  for (let round = 0; round < (stage.quick ? 1 : 2); round++) {
    for (const [index, { set, server, what }] of cases.entries()) {
      const paced = await ask(stage, server, set, round);
      console.log(`  Query over ${what}, ${server.name}: p50 ${rounded(paced.all.p50Ms)} ms, p99 ${rounded(paced.all.p99Ms)} ms`);
      rounds[index]?.push(paced);
    }
  }
  const of = (index: number, pick: (paced: Paced) => number) => spreadOf((rounds[index] ?? []).map(pick));
  return {
    table: {
      title: 'Query of a table: filter, sort, the first 50 rows',
      columns: ['Table', 'Server', 'Queries/s', 'p50 ms', 'p99 ms', 'Server CPU µs each', 'Database core in use'],
      rows: cases.map(({ what, server }, index) => [
        what,
        server.name,
        withSpread(of(index, (paced) => paced.answeredPerS)),
        withSpread(of(index, (paced) => paced.all.p50Ms)),
        withSpread(of(index, (paced) => paced.all.p99Ms)),
        withSpread(of(index, (paced) => paced.serverCpuUsEach)),
        `${Math.round(of(index, (paced) => paced.databaseShare).median * 100)} %`,
      ]),
      notes: [`\`POST …/query\` with ${QUERY}; ${SMALL.artifacts} artifacts at ${FULL_RATE} queries a minute each, open loop.`],
    },
    verdicts: cases.flatMap(({ what, aimMs }, index) =>
      aimMs === undefined ? [] : [atMost(`Query over ${what}: p99`, of(index, (paced) => paced.all.p99Ms).median, aimMs, 'ms')],
    ),
    rounds: cases.map(({ what, server }, index) => ({ what, server: server.name, rounds: rounds[index] })),
  };
}

async function ask(stage: DataStage, server: Server, set: TableSet, round: number): Promise<Paced> {
  const call = { method: 'POST', path: `/tables/${TABLE}/query`, body: QUERY } as const;
  // All at once, so that the connection pool is fully open when the database's processes are listed.
  const numbers = Array.from({ length: set.artifacts * 4 }, (_, index) => set.first + (index % set.artifacts));
  await Promise.all(numbers.map((number) => askOnce(stage, server, `/v1/data/${artifactId(number)}${call.path}`)));
  const paced = await pace(stage, {
    origin: server.origin,
    token: stage.token,
    firstArtifact: set.first,
    artifacts: set.artifacts,
    callsPerMinuteEach: FULL_RATE,
    read: call,
    write: call,
    writeEvery: 0,
    connections: CONNECTIONS,
    warmUpS: 2,
    measuredS: stage.quick ? 2 : 6,
    seed: round,
    serverPid: server.pid,
    databasePids: await backendsApart(stage.database),
  });
  if (paced.failures + paced.refused > 0) {
    throw new Error(`${paced.failures} queries to ${server.name} failed and ${paced.refused} were refused: the run is void.`);
  }
  return paced;
}

/** Checks the answer before the measurement. */
async function askOnce(stage: DataStage, server: Server, path: string): Promise<void> {
  const headers = { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' };
  const answer = await fetch(server.origin + path, { method: 'POST', headers, body: QUERY });
  const { data } = (await answer.json()) as { data?: { rows: { status: string; score: number }[] } };
  const rows = data?.rows ?? [];
  const inOrder = rows.every(({ score }, at) => score >= (rows[at + 1]?.score ?? 300));
  if (rows.length !== 50 || !inOrder || rows.some(({ status }) => status !== 'active')) {
    throw new Error(`${server.name} answered the query with ${answer.status} and ${rows.length} rows, or out of order.`);
  }
}

/** Inserts the rows with SQL, in the form that inserts through Easel have. A third of them is `active`; scores are spread over 0–999. */
async function seedRows({ database: { sql } }: DataStage, set: TableSet, indexed: readonly string[]): Promise<void> {
  const nowMs = Date.now();
  const schema = {
    columns: indexed.map((name) => ({ name, type: 'number', required: false, unique: false, indexed: true })),
    write: 'any',
  };
  const last = set.first + set.artifacts - 1;
  await sql`
    insert into data_table (artifact_id, name, schema, row_count, seq, created_at_ms, updated_at_ms)
    select 'art_' || lpad(a::text, 24, '0'), ${TABLE}, ${indexed.length === 0 ? null : JSON.stringify(schema)}::text::jsonb,
      ${set.rows}, ${set.rows}, ${nowMs}, ${nowMs}
    from generate_series(${set.first}::int, ${last}::int) a`;
  await sql`
    insert into table_row (artifact_id, table_name, row_id, data, created_seq, seq, created_at_ms, updated_at_ms)
    select 'art_' || lpad(a::text, 24, '0'), ${TABLE}, 'row_' || substr(md5(a || '.' || n), 1, 24),
      jsonb_build_object(
        'name', 'Person ' || n, 'status', (array['active', 'paused', 'gone'])[1 + n % 3], 'score', (n::bigint * 7919 % 100003) * 1000 / 100003,
        'city', (array['Bern', 'Oslo', 'Lima', 'Kyoto'])[1 + n % 4], 'tags', jsonb_build_array('a', 'b'), 'note', repeat('x', 40)),
      n, n, ${nowMs}, ${nowMs}
    from generate_series(${set.first}::int, ${last}::int) a, generate_series(1, ${set.rows}::int) n`;
  for (const column of indexed) {
    await sql`
      insert into row_index (artifact_id, table_name, column_name, kind, num, row_id, created_seq)
      select artifact_id, table_name, ${column}, 'n', (data->>${column})::float8, row_id, created_seq from table_row
      where table_name = ${TABLE} and artifact_id between 'art_' || lpad(${set.first}::text, 24, '0') and 'art_' || lpad(${last}::text, 24, '0')`;
  }
  await sql`
    update artifact set seq = ${set.rows}
    where id between 'art_' || lpad(${set.first}::text, 24, '0') and 'art_' || lpad(${last}::text, 24, '0')`;
  await sql`analyze data_table, table_row, row_index`;
}
