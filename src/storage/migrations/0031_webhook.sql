-- Outgoing webhooks: what is subscribed to, what happened in workspaces and waits to be told, and what was sent.

create table webhook (
  id text primary key,
  artifact_id text references artifact on delete cascade,
  workspace_id text references workspace on delete cascade,
  -- On whose access it stands.
  user_id text not null references account on delete cascade,
  url text not null,
  events text[] not null,
  description text not null,
  -- Sealed. The one before the last rotation signs too until its end.
  secret bytea not null,
  old_secret bytea,
  old_secret_ends_ms bigint,
  -- Null while it is turned on.
  disabled_reason text check (disabled_reason in ('off', 'failing', 'gone', 'access_lost')),
  disabled_at_ms bigint,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  -- What has become deliveries already. Of an artifact: changes up to this seq, and its state at the last look.
  seen_seq bigint not null default 0,
  seen_updated_at_ms bigint not null default 0,
  seen_version_id text,
  seen_deleted boolean not null default false,
  looked_at_ms bigint not null,
  -- Of the last delivery.
  last_number bigint not null default 0,
  -- Tries in a row that failed, and since when.
  failures integer not null default 0,
  failing_since_ms bigint,
  -- When the next try is due; null where nothing waits.
  due_ms bigint,
  -- Rises with each claim: what an earlier holder reports late is not taken. The lease ends by the clock of the database.
  fence bigint not null default 0,
  lease_ends_at timestamptz,
  check ((artifact_id is null) <> (workspace_id is null)),
  check ((disabled_reason is null) = (disabled_at_ms is null))
);
create index webhook_artifact on webhook (artifact_id, created_at_ms desc, id desc) where artifact_id is not null;
create index webhook_workspace on webhook (workspace_id, created_at_ms desc, id desc) where workspace_id is not null;
create index webhook_user on webhook (user_id, created_at_ms desc, id desc);
create index webhook_due on webhook (due_ms) where due_ms is not null and disabled_at_ms is null;

-- What happened in a workspace, written in the transaction that does it, one row for each webhook that wants it.
create table webhook_event (
  number bigint generated always as identity primary key,
  webhook_id text not null references webhook on delete cascade,
  event text not null,
  at_ms bigint not null,
  data jsonb not null
);
create index webhook_event_webhook on webhook_event (webhook_id, number);

create table webhook_delivery (
  id text primary key,
  webhook_id text not null references webhook on delete cascade,
  number bigint not null,
  event text not null,
  body text not null,
  status text not null check (status in ('pending', 'delivered', 'failed')),
  -- All tries, and those since it was wanted last.
  tries integer not null default 0,
  round_tries integer not null default 0,
  -- It holds up those after it no longer, and has a time of its own.
  is_deferred boolean not null default false,
  next_try_ms bigint not null,
  -- First try since it was wanted last.
  first_try_ms bigint,
  created_at_ms bigint not null,
  finished_at_ms bigint,
  -- Of the last try.
  response_status integer,
  error text,
  unique (webhook_id, number)
);
create index webhook_delivery_pending on webhook_delivery (webhook_id, number) where status = 'pending';
create index webhook_delivery_age on webhook_delivery (created_at_ms);

create table webhook_try (
  delivery_id text not null references webhook_delivery on delete cascade,
  number integer not null,
  at_ms bigint not null,
  duration_ms integer not null,
  request_headers jsonb not null,
  response_status integer,
  response_headers jsonb not null,
  response_body text not null,
  error text,
  primary key (delivery_id, number)
);
