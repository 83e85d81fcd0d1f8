-- Jobs: what an artifact does by itself, by the clock or after an event.

create table job (
  id text primary key,
  artifact_id text not null references artifact on delete cascade,
  -- In whose name it runs; their access is checked at each run.
  creator_id text not null references account on delete cascade,
  title text not null,
  description text,
  action text not null check (action in ('email', 'webhook', 'http_get', 'script', 'materialize')),
  trigger_type text not null check (trigger_type in ('cron', 'event')),
  schedule text,
  timezone text,
  event_type text,
  -- Of data.changed: {table?, key?}
  event_filter jsonb,
  config jsonb not null,
  -- What `config` keeps secret, by name; null where it has no secrets.
  sealed_secrets bytea,
  retry_config jsonb not null,
  enabled boolean not null,
  -- Why it was paused by the service; null where a person did, or nobody.
  paused_reason text,
  -- Failed runs in a row.
  failures integer not null default 0,
  -- Of a job by the clock that is not paused.
  next_run_at_ms bigint,
  -- Events up to here have been looked at: changes of live data, changes of the artifact itself, and views.
  seen_seq bigint not null default 0,
  seen_update_ms bigint not null default 0,
  seen_views bigint not null default 0,
  seen_at_ms bigint not null default 0,
  last_run_at_ms bigint,
  last_status text,
  created_at_ms bigint not null,
  updated_at_ms bigint not null
);
create index job_due on job (next_run_at_ms) where next_run_at_ms is not null;
create index job_artifact on job (artifact_id, created_at_ms desc, id desc);
create index job_creator on job (creator_id, created_at_ms desc, id desc);
create index job_event on job (artifact_id) where trigger_type = 'event' and enabled;

-- The ledger: each due time, event or order of a person, and what has come of it.
create table job_run (
  id text primary key,
  job_id text not null references job on delete cascade,
  artifact_id text not null,
  creator_id text not null,
  trigger text not null check (trigger in ('schedule', 'event', 'manual', 'rehearsal')),
  status text not null check (status in ('queued', 'running', 'succeeded', 'failed', 'canceled', 'merged', 'skipped', 'missed')),
  scheduled_for_ms bigint not null,
  -- The last of several due times that this row stands for, and how many they are.
  scheduled_until_ms bigint,
  due_times integer not null default 1,
  -- Why it did not run, or stopped.
  reason text,
  -- What it runs for: see RunEvents in src/features/automation/jobs/runs.ts.
  events jsonb,
  -- The jobs by whose changes it came to this run, its own last.
  chain text[] not null,
  attempt integer not null default 0,
  -- How often a process has taken it, also those that died with it.
  claims integer not null default 0,
  -- When it may be taken; null when it is over.
  due_ms bigint,
  -- Of the process that has it: it works and reports with this token, and no longer than the lease.
  lease_token text,
  lease_ends_at timestamptz,
  token_sha256 bytea unique,
  cancel_wanted boolean not null default false,
  started_at_ms bigint,
  finished_at_ms bigint,
  error text,
  output text,
  changes jsonb,
  created_at_ms bigint not null
);
create unique index job_run_once on job_run (job_id, scheduled_for_ms) where trigger = 'schedule';
create index job_run_due on job_run (due_ms) where due_ms is not null;
create index job_run_open on job_run (job_id) where status in ('queued', 'running');
-- By the end of the lease: what has ended long ago is not passed, also while nothing can be removed from the index.
create index job_run_held on job_run (lease_ends_at) where status = 'running';
create index job_run_list on job_run (job_id, created_at_ms desc, id desc);
create index job_run_age on job_run (created_at_ms);

-- Which changes of live data runs have made. Written in the commit of the changes.
create table job_mark (
  artifact_id text not null references artifact on delete cascade,
  from_seq bigint not null,
  to_seq bigint not null,
  run_id text not null,
  chain text[] not null,
  at timestamptz not null default now(),
  primary key (artifact_id, from_seq)
);
create index job_mark_age on job_mark (at);
