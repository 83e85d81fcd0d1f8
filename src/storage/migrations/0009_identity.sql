-- Who somebody is and what they belong to: linked accounts, workspaces with members and agents, folders.

-- Accounts with the same person_id are sign-ins of one person. Every account has one; alone by default.
alter table account add column person_id text;
update account set person_id = 'per_' || substr(id, 5);
alter table account alter column person_id set not null;
create index account_person on account (person_id);

create table workspace (
  id text primary key,
  slug text not null,
  name text not null,
  description text,
  locale text not null default 'en' check (locale in ('en', 'es')),
  -- #rrggbb
  accent_color text,
  hide_footer boolean not null default false,
  logo text,
  plan_tier text not null default 'free' check (plan_tier in ('free', 'pro', 'team')),
  plan_status text not null default 'active' check (plan_status in ('trialing', 'active', 'past_due', 'canceled', 'incomplete')),
  created_by text references account on delete set null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  deleted_at_ms bigint
);
-- A deleted workspace frees its slug.
create unique index workspace_slug on workspace (slug) where deleted_at_ms is null;

create table workspace_member (
  workspace_id text not null references workspace on delete cascade,
  user_id text not null references account on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member')),
  joined_at_ms bigint not null,
  -- Who added or invited them; null where they joined by themselves.
  added_by text references account on delete set null,
  primary key (workspace_id, user_id)
);
create index workspace_member_user on workspace_member (user_id);

-- Whom agent tokens act as. It outlives its tokens, because what it has made names it.
create table service_principal (
  id text primary key,
  workspace_id text not null references workspace on delete cascade,
  name text not null,
  created_at_ms bigint not null
);
create index service_principal_workspace on service_principal (workspace_id, created_at_ms desc, id);

create table agent_token (
  id text primary key,
  principal_id text not null references service_principal on delete cascade,
  scopes text[] not null,
  token_sha256 bytea not null unique,
  created_by text references account on delete set null,
  created_at_ms bigint not null,
  last_used_at_ms bigint,
  expires_at_ms bigint,
  revoked_at_ms bigint
);
create index agent_token_principal on agent_token (principal_id);

-- Personal folders of an account, or Team Space folders of a workspace.
create table folder (
  id text primary key,
  workspace_id text references workspace on delete cascade,
  owner_id text references account on delete cascade,
  parent_id text references folder,
  slug text not null,
  name text not null,
  description text,
  visibility text not null default 'inherit' check (visibility in ('inherit', 'public', 'workspace', 'private')),
  readme text,
  created_by text references account on delete set null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  check ((workspace_id is null) <> (owner_id is null))
);
-- One slug at each level.
create unique index folder_slug on folder (coalesce(workspace_id, owner_id), coalesce(parent_id, ''), slug);
create index folder_parent on folder (parent_id);

-- What a Team Space folder's visibility comes to: that of its nearest ancestor that does not inherit; `workspace` at the top.
create function folder_visibility(folder_id text) returns text language sql stable as $$
  with recursive up (parent_id, visibility, depth) as (
    select parent_id, visibility, 0 from folder where id = folder_id
    union all
    -- The depth ends a circle, which no call can make.
    select f.parent_id, f.visibility, up.depth + 1 from up join folder f on f.id = up.parent_id where up.visibility = 'inherit' and up.depth < 100
  )
  select coalesce((select visibility from up where visibility <> 'inherit' limit 1), 'workspace')
$$;

alter table artifact
  add column folder_id text references folder on delete set null,
  add constraint artifact_workspace_id_fkey foreign key (workspace_id) references workspace;
create index artifact_folder on artifact (folder_id) where folder_id is not null;
create index artifact_workspace on artifact (workspace_id, updated_at_ms desc, id) where workspace_id is not null;
