/** Persons, artifacts, jobs and runs of the bench, written with SQL: the API allows a person 500 jobs and 300 starts an hour. */
import type postgres from 'postgres';

type Sql = postgres.Sql;

/** Numbers of rows: `first … first + count - 1`. */
export interface Numbers {
  readonly first: number;
  readonly count: number;
}

const last = ({ first, count }: Numbers): number => first + count - 1;

const JOB_COLUMNS = [
  ...['id', 'artifact_id', 'creator_id', 'title', 'action', 'trigger_type', 'schedule', 'timezone', 'event_type', 'event_filter', 'config'],
  ...['retry_config', 'enabled', 'next_run_at_ms', 'seen_update_ms', 'seen_at_ms', 'created_at_ms', 'updated_at_ms'],
];

/** Artifacts of `persons` persons in turn, so that no bound for one person holds the runs of all back. */
export async function seedOwned(sql: Sql, artifacts: Numbers, persons: number): Promise<void> {
  const nowMs = Date.now();
  await sql`
    insert into account (id, tier, created_at_ms, person_id)
    select 'usr_' || lpad(n::text, 24, '0'), 'team', ${nowMs}, 'per_' || lpad(n::text, 24, '0') from generate_series(0, ${persons - 1}::int) n
    on conflict do nothing`;
  await sql`
    insert into artifact (id, owner_id, name, slug, visibility, created_at_ms, updated_at_ms)
    select 'art_' || lpad(n::text, 24, '0'), 'usr_' || lpad((n % ${persons}::int)::text, 24, '0'), 'bench ' || n, 'bench-' || n, 'private', ${nowMs}, ${nowMs}
    from generate_series(${artifacts.first}::int, ${last(artifacts)}::int) n`;
  // They have no page, and the search for one in all of them would be measured with whatever follows.
  await sql`delete from search_turn`;
  await sql`analyze account, artifact`;
}

export interface Clocked {
  readonly action: 'http_get' | 'script';
  readonly config: postgres.JSONValue;
  readonly schedule: string;
  /** When the job with this number is due, Unix ms, as SQL. */
  readonly nextRunAtMs: (sql: Sql) => postgres.PendingQuery<postgres.Row[]>;
}

/** One job by the clock for each artifact of these numbers, of its owner. */
export async function seedClocked(sql: Sql, jobs: Numbers, { action, config, schedule, nextRunAtMs }: Clocked): Promise<void> {
  const nowMs = Date.now();
  await sql`
    insert into job ${columns(sql)}
    select 'job_' || lpad(n::text, 24, '0'), a.id, a.owner_id, 'bench', ${action}, 'cron', ${schedule}, 'UTC', null, null, ${sql.json(config)},
      ${sql.json({ maxAttempts: 1, backoff: 'fixed', initialDelay: 1 })}, true, ${nextRunAtMs(sql)}, 0, ${nowMs}, ${nowMs}, ${nowMs}
    from generate_series(${jobs.first}::int, ${last(jobs)}::int) n join artifact a on a.id = 'art_' || lpad(n::text, 24, '0')`;
  await sql`analyze job`;
}

/** One job for each artifact of these numbers, set off by events of this type; of `data.changed` by a key that the bench never writes. */
export async function seedListening(sql: Sql, jobs: Numbers, firstArtifact: number, eventType: string): Promise<void> {
  const nowMs = Date.now();
  await sql`
    insert into job ${columns(sql)}
    select 'job_' || lpad(n::text, 24, '0'), a.id, a.owner_id, 'bench', 'script', 'event', null, null, ${eventType}::text,
      case ${eventType}::text when 'data.changed' then '{"key": "never-written"}'::jsonb end, ${sql.json({ source: 'return null' })},
      ${sql.json({ maxAttempts: 1, backoff: 'fixed', initialDelay: 1 })}, true, null::bigint, a.updated_at_ms, ${nowMs}, ${nowMs}, ${nowMs}
    from generate_series(${jobs.first}::int, ${last(jobs)}::int) n
      join artifact a on a.id = 'art_' || lpad((n - ${jobs.first}::int + ${firstArtifact}::int)::text, 24, '0')`;
  await sql`analyze job`;
}

function columns(sql: Sql) {
  return sql`(${sql(JOB_COLUMNS)})`;
}

/** A watch of a table and its turn in a quarter of an hour, for each artifact of these numbers. */
export async function seedWatches(sql: Sql, artifacts: Numbers): Promise<void> {
  const nowMs = Date.now();
  await sql`
    insert into metric_watch (id, artifact_id, user_id, table_name, kind, threshold_pct, enabled, created_at_ms, updated_at_ms)
    select 'mwt_' || lpad(n::text, 24, '0'), a.id, a.owner_id, 'visits', 'count', 20, true, ${nowMs}, ${nowMs}
    from generate_series(${artifacts.first}::int, ${last(artifacts)}::int) n join artifact a on a.id = 'art_' || lpad(n::text, 24, '0')`;
  await sql`
    insert into metric_turn (id, artifact_id, watch_id, due_at_ms)
    select id, artifact_id, id, ${nowMs + 15 * 60_000} from metric_watch`;
}

/** Runs of jobs of these numbers that are over, `each` of a job: what a claim must not look through. */
export async function seedHistory(sql: Sql, jobs: Numbers, each: number): Promise<void> {
  const nowMs = Date.now();
  await sql`
    insert into job_run (
      id, job_id, artifact_id, creator_id, trigger, status, scheduled_for_ms, chain, attempt, claims, started_at_ms, finished_at_ms, created_at_ms)
    select 'run_' || lpad((n * 1000 + k)::text, 24, '0'), j.id, j.artifact_id, j.creator_id, 'schedule', 'succeeded', ${nowMs} - k * 60000::bigint,
      array[j.id], 1, 1, ${nowMs} - k * 60000::bigint, ${nowMs} - k * 60000::bigint + 5, ${nowMs} - k * 60000::bigint
    from generate_series(${jobs.first}::int, ${last(jobs)}::int) n
      join job j on j.id = 'job_' || lpad(n::text, 24, '0'), generate_series(1, ${each}::int) k`;
  await sql`analyze job_run`;
}

/** Runs that may be taken now, `each` of a job. Only one run of a job is under way at a time. */
export async function queueRuns(sql: Sql, jobs: Numbers, each: number): Promise<void> {
  const nowMs = Date.now();
  await sql`
    insert into job_run (id, job_id, artifact_id, creator_id, trigger, status, scheduled_for_ms, chain, due_ms, created_at_ms)
    select 'run_' || substr(md5(${nowMs}::text || '/' || n || '/' || k), 1, 24), j.id, j.artifact_id, j.creator_id, 'manual', 'queued', ${nowMs},
      array[j.id], ${nowMs}, ${nowMs}
    from generate_series(${jobs.first}::int, ${last(jobs)}::int) n
      join job j on j.id = 'job_' || lpad(n::text, 24, '0'), generate_series(1, ${each}::int) k`;
}
