-- What a workspace pays. The payment provider has the truth; the tables billing_* mirror it, so that a read needs no call of the provider.

-- Whom an owner lets see and change what the workspace pays, without making them an admin.
alter table workspace_member add column billing_manager boolean not null default false;

-- A workspace as the provider knows it. `look_no` rises before each read of the provider and `seen_no` is the newest that was stored: an answer
-- that arrives late never overwrites a newer one, and look_no > seen_no says that something has changed there.
create table billing_customer (
  workspace_id text not null references workspace (id) on delete cascade,
  provider text not null,
  ref text not null,
  -- The tier that the workspace has without a subscription.
  base_tier text not null check (base_tier in ('free', 'pro', 'team')),
  look_no bigint not null default 0,
  seen_no bigint not null default 0,
  looked_at_ms bigint not null,
  -- No node looks before this time, because one does already or the last look failed.
  look_after_ms bigint not null default 0,
  created_at_ms bigint not null,
  primary key (workspace_id, provider),
  unique (provider, ref)
);

create table billing_subscription (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  provider text not null,
  ref text not null,
  status text not null check (status in ('trialing', 'active', 'past_due', 'canceled', 'incomplete')),
  plan_id text not null,
  seats integer not null check (seats > 0),
  -- A larger plan that was paid until then, after a change to a smaller one.
  kept_plan_id text,
  kept_seats integer,
  kept_until_ms bigint,
  trial_ends_at_ms bigint,
  period_ends_at_ms bigint,
  cancel_at_period_end boolean not null,
  action_url text,
  past_due_since_ms bigint,
  dunning_sent integer not null default 0,
  canceled_at_ms bigint,
  created_at_ms bigint not null,
  unique (provider, ref)
);
create index billing_subscription_workspace on billing_subscription (workspace_id, created_at_ms desc);
create index billing_subscription_live on billing_subscription (provider, workspace_id) where status <> 'canceled';

create table billing_method (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  provider text not null,
  ref text not null,
  brand text not null,
  last4 text not null,
  exp_month integer not null,
  exp_year integer not null,
  is_default boolean not null,
  created_at_ms bigint not null,
  unique (workspace_id, provider, ref)
);

create table billing_invoice (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  provider text not null,
  ref text not null,
  number text,
  amount_cents bigint not null,
  currency text not null,
  status text not null,
  page_url text,
  created_at_ms bigint not null,
  unique (workspace_id, provider, ref)
);
create index billing_invoice_newest on billing_invoice (workspace_id, created_at_ms desc, id);

-- A change at the provider, stored before it is made. Its id is the idempotency key there: a node that ends between the provider's answer and
-- our record leaves the row open, and whoever goes on repeats the same call, which charges nothing again.
create table billing_operation (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  provider text not null,
  kind text not null,
  request jsonb not null,
  state text not null check (state in ('open', 'done', 'failed')),
  -- The code of the error, where it failed.
  failure text,
  created_by text,
  address text not null,
  request_id text not null,
  tries integer not null default 1,
  lease_until_ms bigint not null,
  created_at_ms bigint not null,
  finished_at_ms bigint
);
-- One change of a workspace at a time.
create unique index billing_operation_open on billing_operation (workspace_id) where state = 'open';
create index billing_operation_finished on billing_operation (finished_at_ms) where state <> 'open';

-- Events of the provider that were taken: a second delivery changes nothing.
create table billing_event (
  provider text not null,
  id text not null,
  kind text not null,
  received_at_ms bigint not null,
  primary key (provider, id)
);
create index billing_event_received on billing_event (received_at_ms);

create table billing_checkout (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  provider text not null,
  ref text not null,
  expires_at_ms bigint not null,
  created_at_ms bigint not null
);
create index billing_checkout_expiry on billing_checkout (expires_at_ms);

-- Who has had a trial: each workspace one, and each person one.
create table billing_trial (
  workspace_id text primary key,
  person_id text not null unique,
  operation_id text not null
);

-- The embedded payment provider, which stands for a real one: its customers with all they have, the answers to calls by their idempotency
-- keys, the addresses of its pages, and the events that it still has to send.
create table pay_customer (
  ref text primary key,
  state jsonb not null,
  -- When something happens by itself next: a trial or a period ends, or a payment is tried again.
  due_at_ms bigint
);
create index pay_customer_due on pay_customer (due_at_ms) where due_at_ms is not null;
create table pay_call (
  key text primary key,
  answer jsonb not null,
  made_at_ms bigint not null
);
create table pay_link (
  secret text primary key,
  customer_ref text not null references pay_customer (ref) on delete cascade
);
create table pay_event (
  id text primary key,
  customer_ref text not null,
  kind text not null,
  due_at_ms bigint not null
);
create index pay_event_due on pay_event (due_at_ms);
