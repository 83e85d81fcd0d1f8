-- What an administrator has suspended cannot be used, and comes back whole when that is lifted: nothing else is changed for it.
alter table account
  add column suspended_at_ms bigint,
  add column suspended_reason text,
  add column suspended_by text references account on delete set null,
  add constraint account_suspension check ((suspended_at_ms is null) = (suspended_reason is null));
alter table workspace
  add column suspended_at_ms bigint,
  add column suspended_reason text,
  add column suspended_by text references account on delete set null,
  add constraint workspace_suspension check ((suspended_at_ms is null) = (suspended_reason is null));
alter table artifact
  add column suspended_at_ms bigint,
  add column suspended_reason text,
  add column suspended_by text references account on delete set null,
  add constraint artifact_suspension check ((suspended_at_ms is null) = (suspended_reason is null));

-- An account that is removed looks for what names it as the one who suspended.
create index account_suspended_by on account (suspended_by) where suspended_by is not null;
create index workspace_suspended_by on workspace (suspended_by) where suspended_by is not null;
create index artifact_suspended_by on artifact (suspended_by) where suspended_by is not null;

-- Administrators page through everything, newest first.
create index account_made on account (created_at_ms desc, id desc);
create index workspace_made on workspace (created_at_ms desc, id desc);
create index artifact_made on artifact (created_at_ms desc, id desc);
create index mail_outbox_made on mail_outbox (created_at_ms desc, id desc);
create index audit_entry_at on audit_entry (at_ms desc, id desc);

-- What the installation offers. A flag without a row is on.
create table instance_flag (
  name text primary key,
  enabled boolean not null,
  changed_at_ms bigint not null,
  changed_by text references account on delete set null
);

-- One line that everybody is shown. There is one at most.
create table instance_banner (
  only_one boolean primary key default true check (only_one),
  text text not null,
  level text not null check (level in ('info', 'warning', 'critical')),
  from_ms bigint,
  to_ms bigint,
  set_at_ms bigint not null
);
