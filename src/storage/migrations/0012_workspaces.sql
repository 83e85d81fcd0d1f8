-- Workspaces: who may join, invitations, feature flags, and the record of what was done.

alter table workspace
  -- Whom an admin may invite; nobody is excluded where both are empty. Lowercase.
  add column allowed_domains text[] not null default '{}',
  add column allowed_emails text[] not null default '{}',
  -- Whom the lists name may join by themselves.
  add column auto_join boolean not null default false;

-- An invitation belongs to whoever has proved its address.
create index account_lower_email on account (lower(email));

create table workspace_invite (
  id text primary key,
  workspace_id text not null references workspace on delete cascade,
  -- In lowercase: only an account that has proved this address can claim it.
  email text not null,
  role text not null check (role in ('owner', 'admin', 'member')),
  code_sha256 bytea not null unique,
  invited_by text references account on delete set null,
  created_at_ms bigint not null,
  sent_at_ms bigint not null,
  expires_at_ms bigint not null,
  accepted_at_ms bigint,
  accepted_by text references account on delete set null,
  revoked_at_ms bigint
);
-- An address has one open invitation to a workspace.
create unique index workspace_invite_open on workspace_invite (workspace_id, email) where accepted_at_ms is null and revoked_at_ms is null;
create index workspace_invite_list on workspace_invite (workspace_id, created_at_ms desc, id);

-- What a workspace has beside or against its plan.
create table workspace_feature (
  workspace_id text not null references workspace on delete cascade,
  name text not null,
  enabled boolean not null,
  source text not null check (source in ('workspace', 'instance')),
  primary key (workspace_id, name)
);

-- What was done, by whom and from where. Nothing references anything: an entry outlives what it is about.
create table audit_entry (
  id text primary key,
  -- Null for what concerns the installation.
  workspace_id text,
  at_ms bigint not null,
  actor_kind text not null check (actor_kind in ('user', 'agent', 'system')),
  actor_id text,
  actor_name text,
  -- <resource>.<verb>
  action text not null,
  target_type text not null,
  target_id text,
  target_name text,
  detail jsonb not null default '{}',
  address text,
  request_id text
);
create index audit_entry_workspace on audit_entry (workspace_id, at_ms desc, id desc);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end
$$;
create trigger audit_entry_append_only before update or delete or truncate on audit_entry execute function refuse_change();
