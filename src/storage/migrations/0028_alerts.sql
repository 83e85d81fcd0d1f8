-- The bell, metrics of artifacts, rules that alert when one crosses a threshold, and watches of tables.

-- What an account is told in the bell. Its person reads it from every linked account.
create table notice (
  id text primary key,
  user_id text not null references account on delete cascade,
  kind text not null,
  title text not null,
  body text not null,
  artifact_id text references artifact on delete cascade,
  url text,
  created_at_ms bigint not null,
  read_at_ms bigint
);
create index notice_account on notice (user_id, created_at_ms desc, id);
create index notice_unread on notice (user_id, created_at_ms desc, id) where read_at_ms is null;
create index notice_age on notice (created_at_ms);
create index notice_artifact on notice (artifact_id) where artifact_id is not null;

-- A number that is read from the live data of an artifact.
create table metric_definition (
  artifact_id text not null references artifact on delete cascade,
  -- Chosen by whoever defines it.
  metric_id text not null,
  name text not null,
  source jsonb not null,
  -- Whose access decides whether its history is kept.
  created_by text not null references account on delete cascade,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  primary key (artifact_id, metric_id)
);
create index metric_definition_creator on metric_definition (created_by);

-- Values that were seen, of which backtests are made.
create table metric_sample (
  artifact_id text not null,
  metric_id text not null,
  at_ms bigint not null,
  value double precision not null,
  primary key (artifact_id, metric_id, at_ms),
  foreign key (artifact_id, metric_id) references metric_definition on delete cascade
);
create index metric_sample_age on metric_sample (at_ms);

create table alert_rule (
  id text primary key,
  artifact_id text not null,
  metric_id text not null,
  -- Whose access each evaluation needs.
  created_by text not null references account on delete cascade,
  name text not null,
  op text not null check (op in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq', 'change_pct_gt', 'change_pct_lt')),
  threshold double precision not null,
  schedule text not null,
  timezone text not null,
  destination_kind text not null check (destination_kind in ('email', 'webhook', 'http_get', 'bell')),
  -- Without the secret.
  destination jsonb not null,
  sealed_secret bytea,
  message text,
  cooldown_s integer not null,
  notify_recovery boolean not null,
  enabled boolean not null,
  -- Why the service has switched it off; null where a person has.
  disabled_reason text,
  is_firing boolean not null default false,
  -- The last value that was there, which changes in percent are measured against, and when it was seen.
  last_value double precision,
  last_value_at_ms bigint,
  last_fired_at_ms bigint,
  -- Evaluations in a row that failed.
  failures integer not null default 0,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  foreign key (artifact_id, metric_id) references metric_definition on delete cascade
);
create index alert_rule_artifact on alert_rule (artifact_id, created_at_ms desc, id);
create index alert_rule_metric on alert_rule (artifact_id, metric_id);
create index alert_rule_creator on alert_rule (created_by, created_at_ms desc, id);

-- Evaluations of a rule, and what became of what they sent.
create table alert_event (
  id text primary key,
  rule_id text not null references alert_rule on delete cascade,
  at_ms bigint not null,
  -- Null where the metric had no value.
  value double precision,
  fired boolean not null,
  recovered boolean not null,
  -- 'none': nothing is sent. 'ended': nothing is sent any more, though it was not delivered.
  delivery text not null check (delivery in ('none', 'waiting', 'delivered', 'ended')),
  attempts integer not null default 0,
  error text,
  -- While it waits: when it is tried next, and who tries it now until when.
  next_attempt_at_ms bigint,
  lease_token text,
  lease_ends_at timestamptz,
  check ((delivery = 'waiting') = (next_attempt_at_ms is not null))
);
create index alert_event_rule on alert_event (rule_id, at_ms desc, id);
create index alert_event_age on alert_event (at_ms);
create index alert_event_waiting on alert_event (next_attempt_at_ms) where next_attempt_at_ms is not null;

create table metric_watch (
  id text primary key,
  artifact_id text not null references artifact on delete cascade,
  -- Who hears of it in the bell.
  user_id text not null references account on delete cascade,
  table_name text not null,
  kind text not null check (kind in ('count', 'sum', 'last')),
  column_name text,
  threshold_pct double precision not null,
  enabled boolean not null,
  is_ringing boolean not null default false,
  last_value double precision,
  baseline double precision,
  last_seen_at_ms bigint,
  failures integer not null default 0,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  check ((kind = 'count') = (column_name is null))
);
create index metric_watch_artifact on metric_watch (artifact_id, created_at_ms desc, id);
create index metric_watch_account on metric_watch (user_id);

-- What a watch has seen. Its baseline is their median.
create table watch_value (
  watch_id text not null references metric_watch on delete cascade,
  at_ms bigint not null,
  value double precision not null,
  primary key (watch_id, at_ms)
);

-- When a rule, a metric or a watch is looked at next. One node does it, under a lease.
create table metric_turn (
  -- That of the rule or the watch, or artifact and metric.
  id text primary key,
  artifact_id text not null references artifact on delete cascade,
  rule_id text references alert_rule on delete cascade,
  watch_id text references metric_watch on delete cascade,
  metric_id text,
  -- Null while it is switched off.
  due_at_ms bigint,
  -- Asked for since it was taken: it is due again when the look that is under way ends.
  is_hastened boolean not null default false,
  -- New with each claim: what an earlier holder reports late is not taken.
  lease_token text,
  -- Compared with the clock of the database, which is the same for all nodes.
  lease_ends_at timestamptz,
  foreign key (artifact_id, metric_id) references metric_definition on delete cascade,
  check (num_nonnulls(rule_id, watch_id, metric_id) = 1)
);
create index metric_turn_due on metric_turn (due_at_ms) where due_at_ms is not null;
create index metric_turn_artifact on metric_turn (artifact_id);
create index metric_turn_rule on metric_turn (rule_id) where rule_id is not null;
create index metric_turn_watch on metric_turn (watch_id) where watch_id is not null;
