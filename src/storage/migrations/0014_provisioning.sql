-- How a workspace reaches systems outside, with sealed credentials.

create table connection (
  id text primary key,
  workspace_id text not null references workspace on delete cascade,
  name text not null,
  type text not null check (type in ('postgres', 'http', 's3')),
  credential_scope text not null check (credential_scope in ('workspace', 'person')),
  auth_type text not null,
  config jsonb not null,
  -- Sealed. Only with the scope `workspace`.
  credentials bytea,
  created_by text references account on delete set null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  last_used_at_ms bigint,
  last_error text
);
create unique index connection_name on connection (workspace_id, lower(name));
create index connection_list on connection (workspace_id, created_at_ms desc, id desc);

-- What each member brings with the scope `person`. It goes with the membership.
create table connection_credential (
  connection_id text not null references connection on delete cascade,
  workspace_id text not null,
  user_id text not null,
  -- Sealed
  credentials bytea not null,
  stored_at_ms bigint not null,
  primary key (connection_id, user_id),
  foreign key (workspace_id, user_id) references workspace_member on delete cascade
);
create index connection_credential_member on connection_credential (workspace_id, user_id);
