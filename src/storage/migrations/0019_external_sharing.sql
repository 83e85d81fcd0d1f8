-- External sharing: organisations outside, their people, what is shared with them, and what they opened.

create table sharee (
  id text primary key,
  workspace_id text not null references workspace on delete cascade,
  name text not null,
  type text,
  properties jsonb not null default '{}',
  logo text,
  color text,
  created_by text references account on delete set null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null
);
create index sharee_workspace on sharee (workspace_id, created_at_ms desc, id);

-- Somebody outside as one workspace knows them: an address, which an account may have proved or not. account_id: whom their tokens act as.
create table external_user (
  id text primary key,
  workspace_id text not null references workspace on delete cascade,
  email text not null,
  account_id text unique references account on delete set null,
  invited_by text references account on delete set null,
  created_at_ms bigint not null,
  unique (workspace_id, email)
);
create index external_user_email on external_user (email);

create table sharee_member (
  sharee_id text not null references sharee on delete cascade,
  external_id text not null references external_user on delete cascade,
  added_by text references account on delete set null,
  added_at_ms bigint not null,
  primary key (sharee_id, external_id)
);
create index sharee_member_external on sharee_member (external_id);

create table access_grant (
  id text primary key,
  workspace_id text not null references workspace on delete cascade,
  sharee_id text references sharee on delete cascade,
  external_id text references external_user on delete cascade,
  artifact_id text references artifact on delete cascade,
  folder_id text references folder on delete cascade,
  -- The grant on a folder by which somebody has published the artifact: theirs ends with it.
  made_through text references access_grant on delete cascade,
  capability text not null check (capability in ('view', 'comment', 'create', 'edit')),
  expires_at_ms bigint,
  created_by text references account on delete set null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  check ((sharee_id is null) <> (external_id is null)),
  check ((artifact_id is null) <> (folder_id is null))
);
create unique index access_grant_once on access_grant (coalesce(sharee_id, external_id), coalesce(artifact_id, folder_id));
create index access_grant_workspace on access_grant (workspace_id, created_at_ms desc, id);
create index access_grant_sharee on access_grant (sharee_id) where sharee_id is not null;
create index access_grant_external on access_grant (external_id) where external_id is not null;
create index access_grant_artifact on access_grant (artifact_id) where artifact_id is not null;
create index access_grant_folder on access_grant (folder_id) where folder_id is not null;
create index access_grant_through on access_grant (made_through) where made_through is not null;
create index access_grant_expiry on access_grant (expires_at_ms) where expires_at_ms is not null;

create table external_token (
  id text primary key,
  external_id text not null references external_user on delete cascade,
  sharee_id text not null references sharee on delete cascade,
  name text,
  token_sha256 bytea not null unique,
  created_by text references account on delete set null,
  created_at_ms bigint not null,
  last_used_at_ms bigint,
  expires_at_ms bigint,
  revoked_at_ms bigint
);
create index external_token_external on external_token (external_id, sharee_id, created_at_ms desc, id);
create index external_token_sharee on external_token (sharee_id);

create table sharee_receipt (
  id text primary key,
  workspace_id text not null references workspace on delete cascade,
  external_id text not null references external_user on delete cascade,
  artifact_id text not null references artifact on delete cascade,
  opened_at_ms bigint not null
);
create index sharee_receipt_workspace on sharee_receipt (workspace_id, opened_at_ms desc, id);
create index sharee_receipt_external on sharee_receipt (external_id);
create index sharee_receipt_artifact on sharee_receipt (artifact_id);

create table sharee_note (
  sharee_id text not null references sharee on delete cascade,
  name text not null,
  content text not null,
  updated_by text references account on delete set null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  primary key (sharee_id, name)
);

-- The folders whose grants reach what is in this one: itself and those above it, up to the first that is private by its own setting.
create function folder_reach(folder_id text) returns text[] language sql stable as $$
  with recursive up (id, parent_id, visibility, depth) as (
    select id, parent_id, visibility, 0 from folder where id = folder_id
    union all
    select f.id, f.parent_id, f.visibility, up.depth + 1
    from up join folder f on f.id = up.parent_id where up.visibility <> 'private' and up.depth < 100
  )
  select coalesce(array_agg(id order by depth), '{}') from up
$$;
