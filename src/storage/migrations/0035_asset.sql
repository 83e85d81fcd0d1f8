-- The asset library of a person or a workspace: files with versions (deliverables), files that belong to none (loose), collections, share links.
create table asset_deliverable (
  id text primary key,
  owner_id text references account on delete cascade,
  workspace_id text references workspace on delete cascade,
  name text not null,
  -- An account or an agent.
  created_by text not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  check ((owner_id is null) <> (workspace_id is null))
);
create index asset_deliverable_owner on asset_deliverable (owner_id, created_at_ms desc, id desc) where owner_id is not null;
create index asset_deliverable_workspace on asset_deliverable (workspace_id, created_at_ms desc, id desc) where workspace_id is not null;

-- A stored file: loose, or one version of a deliverable.
create table asset_file (
  id text primary key,
  owner_id text references account on delete cascade,
  workspace_id text references workspace on delete cascade,
  deliverable_id text references asset_deliverable on delete cascade,
  version_no integer,
  filename text not null,
  mime_type text not null,
  size_bytes bigint not null,
  sha256 bytea not null,
  created_by text not null,
  created_at_ms bigint not null,
  check ((owner_id is null) <> (workspace_id is null)),
  check ((deliverable_id is null) = (version_no is null))
);
create unique index asset_file_version on asset_file (deliverable_id, version_no) where deliverable_id is not null;
create index asset_file_owner on asset_file (owner_id, created_at_ms desc, id desc) where owner_id is not null;
create index asset_file_workspace on asset_file (workspace_id, created_at_ms desc, id desc) where workspace_id is not null;
create index asset_file_sha256 on asset_file (sha256);

-- Pictures of files, and those that are to be made. `due_at_ms` null: made, or given up.
create table asset_thumbnail (
  file_id text primary key references asset_file on delete cascade,
  -- Whose turn it is: the account or the workspace of the file.
  holder text not null,
  asked_at_ms bigint not null,
  attempts integer not null default 0,
  tried_at_ms bigint,
  due_at_ms bigint,
  sha256 bytea
);
create index asset_thumbnail_due on asset_thumbnail (due_at_ms) where due_at_ms is not null;
create index asset_thumbnail_holder on asset_thumbnail (holder, tried_at_ms desc);
create index asset_thumbnail_sha256 on asset_thumbnail (sha256) where sha256 is not null;

create table asset_collection (
  id text primary key,
  owner_id text references account on delete cascade,
  workspace_id text references workspace on delete cascade,
  name text not null,
  created_by text not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  check ((owner_id is null) <> (workspace_id is null))
);
create index asset_collection_owner on asset_collection (owner_id, created_at_ms desc, id desc) where owner_id is not null;
create index asset_collection_workspace on asset_collection (workspace_id, created_at_ms desc, id desc) where workspace_id is not null;

create table asset_collection_item (
  collection_id text not null references asset_collection on delete cascade,
  deliverable_id text not null references asset_deliverable on delete cascade,
  primary key (collection_id, deliverable_id)
);
create index asset_collection_item_deliverable on asset_collection_item (deliverable_id);

create table asset_link (
  id text primary key,
  deliverable_id text not null references asset_deliverable on delete cascade,
  secret_sha256 bytea not null unique,
  gate text not null check (gate in ('none', 'password', 'domain')),
  password_hash text,
  domain text,
  expires_at_ms bigint,
  revoked_at_ms bigint,
  views bigint not null default 0,
  created_by text not null,
  created_at_ms bigint not null,
  check ((gate = 'password') = (password_hash is not null)),
  check ((gate = 'domain') = (domain is not null))
);
create index asset_link_deliverable on asset_link (deliverable_id, created_at_ms desc, id desc);

alter table access_grant add column deliverable_id text references asset_deliverable on delete cascade;
alter table access_grant drop constraint access_grant_check1;
alter table access_grant add constraint access_grant_resource check (num_nonnulls(artifact_id, folder_id, deliverable_id) = 1);
drop index access_grant_once;
create unique index access_grant_once
  on access_grant (coalesce(sharee_id, external_id), coalesce(artifact_id, folder_id, deliverable_id));
create index access_grant_deliverable on access_grant (deliverable_id) where deliverable_id is not null;
