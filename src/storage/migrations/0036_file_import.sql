-- Files brought in from cloud drives: who is connected, what is a source, what became of each file, and the runs.

-- A connect that a browser has begun. It counts once.
create table import_attempt (
  state_sha256 bytea primary key,
  workspace_id text not null references workspace on delete cascade,
  user_id text not null references account on delete cascade,
  provider text not null,
  code_verifier text not null,
  expires_at_ms bigint not null
);
create index import_attempt_expiry on import_attempt (expires_at_ms);

-- The access of one member to one drive, in one workspace.
create table import_connection (
  workspace_id text not null references workspace on delete cascade,
  user_id text not null references account on delete cascade,
  provider text not null,
  account_email text,
  -- Sealed; null once the access was withdrawn.
  tokens bytea,
  connected_at_ms bigint not null,
  primary key (workspace_id, user_id, provider)
);

create table import_source (
  id text primary key,
  workspace_id text not null references workspace on delete cascade,
  -- On whose access it stands.
  user_id text not null references account on delete cascade,
  provider text not null,
  -- What the provider calls the folder.
  remote jsonb not null,
  remote_name text not null,
  target_folder_id text references folder on delete set null,
  convert boolean not null,
  daily_sync boolean not null,
  next_sync_at_ms bigint,
  -- Up to where the provider has told of changes; null makes the next run look at everything.
  cursor text,
  created_at_ms bigint not null,
  updated_at_ms bigint not null
);
create index import_source_workspace on import_source (workspace_id, created_at_ms desc, id desc);
create index import_source_due on import_source (next_sync_at_ms) where daily_sync;

create table import_run (
  id text primary key,
  source_id text not null references import_source on delete cascade,
  user_id text not null,
  trigger text not null check (trigger in ('manual', 'daily')),
  status text not null check (status in ('queued', 'running', 'completed', 'stopped', 'failed')),
  counts jsonb not null,
  errors jsonb not null default '[]',
  stop_code text,
  stop_message text,
  cancel_wanted boolean not null default false,
  created_at_ms bigint not null,
  started_at_ms bigint,
  finished_at_ms bigint,
  -- Of the claim of the process that works on it, which ends by the clock of the database.
  claims integer not null default 0,
  lease_token text,
  lease_ends_at timestamptz,
  check ((status in ('queued', 'running')) = (finished_at_ms is null))
);
create unique index import_run_active on import_run (source_id) where status in ('queued', 'running');
create index import_run_source on import_run (source_id, created_at_ms desc, id desc);
create index import_run_waiting on import_run (created_at_ms) where status in ('queued', 'running');

-- What became of a file of a source.
create table import_item (
  source_id text not null references import_source on delete cascade,
  remote_id text not null,
  path text not null,
  -- What the provider says of its content, with how it was taken; null where it is not whole yet.
  mark text,
  artifact_id text not null,
  -- The run that stored it last and how, and the run that saw it last.
  stored_by text not null,
  outcome text not null check (outcome in ('imported', 'converted')),
  seen_by text not null,
  is_remote_deleted boolean not null default false,
  primary key (source_id, remote_id)
);
