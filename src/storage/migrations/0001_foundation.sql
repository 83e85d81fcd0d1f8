-- Times are Unix milliseconds; the clock is the program's, so that tests can move it.
create table account (
  id text primary key,
  username text unique,
  name text,
  email text unique,
  tier text not null default 'free' check (tier in ('free', 'pro', 'team')),
  is_admin boolean not null default false,
  metadata jsonb not null default '{}',
  created_at_ms bigint not null
);

create table access_token (
  id text primary key,
  user_id text not null references account on delete cascade,
  name text,
  token_sha256 bytea not null unique,
  created_at_ms bigint not null,
  last_used_at_ms bigint,
  expires_at_ms bigint,
  revoked_at_ms bigint
);
create index access_token_user on access_token (user_id, created_at_ms desc, id);

create table artifact (
  id text primary key,
  owner_id text references account,
  workspace_id text,
  name text not null,
  slug text not null,
  visibility text not null check (visibility in ('private', 'workspace', 'public', 'password')),
  password_hash text,
  allow_anon_write boolean not null default false,
  allow_anon_email boolean not null default false,
  allow_anon_agent boolean not null default false,
  allow_anon_collab boolean not null default false,
  social_title text,
  social_description text,
  social_image_url text,
  live_version_id text,
  pinned_version_id text,
  last_version_no integer not null default 0,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  deleted_at_ms bigint,
  -- Who may write: every load of the actor raises it, and every commit of the journal checks it.
  owner_epoch bigint not null default 0,
  -- Of the last committed change of the actor.
  seq bigint not null default 0
)
-- Every commit of the journal rewrites seq: with room on its page the new row needs no index entry.
with (fillfactor = 60);
-- A trashed artifact frees its slug.
create unique index artifact_slug on artifact (slug) where deleted_at_ms is null;
create index artifact_owner on artifact (owner_id, updated_at_ms desc, id);
create index artifact_trash on artifact (deleted_at_ms) where deleted_at_ms is not null;

create table collaborator (
  artifact_id text not null references artifact on delete cascade,
  user_id text not null references account on delete cascade,
  role text not null check (role in ('editor', 'viewer')),
  added_at_ms bigint not null,
  primary key (artifact_id, user_id)
);
create index collaborator_user on collaborator (user_id);

create table artifact_version (
  id text primary key,
  artifact_id text not null references artifact on delete cascade,
  version_no integer not null,
  entrypoint text not null,
  author_id text references account,
  label text,
  note text,
  is_draft boolean not null default false,
  size_bytes bigint not null,
  created_at_ms bigint not null,
  unique (artifact_id, version_no)
);
create index artifact_version_author on artifact_version (author_id, created_at_ms);

create table version_file (
  version_id text not null references artifact_version on delete cascade,
  path text not null collate "C",
  sha256 bytea not null,
  mime text not null,
  size_bytes bigint not null,
  primary key (version_id, path)
);
create index version_file_sha256 on version_file (sha256);

-- Contents in the object store, by digest; swept when nothing names them any more.
create table stored_object (
  sha256 bytea primary key,
  size_bytes bigint not null,
  stored_at_ms bigint not null
);

-- Precompressed forms of a content, themselves stored by digest. No row with encoded_sha256 null: not worth it.
create table object_encoding (
  sha256 bytea not null references stored_object on delete cascade,
  encoding text not null check (encoding in ('br', 'gzip')),
  encoded_sha256 bytea references stored_object,
  primary key (sha256, encoding)
);
create index object_encoding_encoded on object_encoding (encoded_sha256);

create table publish_upload (
  id text primary key,
  user_id text not null references account on delete cascade,
  created_at_ms bigint not null,
  expires_at_ms bigint not null
);
create table publish_upload_part (
  upload_id text not null references publish_upload on delete cascade,
  sha256 bytea not null,
  primary key (upload_id, sha256)
);

create table preview_link (
  id text primary key,
  artifact_id text not null references artifact on delete cascade,
  version_id text not null references artifact_version on delete cascade,
  secret_sha256 bytea not null unique,
  created_by text references account,
  created_at_ms bigint not null,
  expires_at_ms bigint not null
);

create table favorite (
  user_id text not null references account on delete cascade,
  artifact_id text not null references artifact on delete cascade,
  created_at_ms bigint not null,
  primary key (user_id, artifact_id)
);

create table json_key (
  artifact_id text not null references artifact on delete cascade,
  key text not null collate "C",
  value text not null,
  seq bigint not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  expires_at_ms bigint,
  primary key (artifact_id, key)
)
-- The same for values that are written again and again.
with (fillfactor = 75);

create table idempotency_record (
  principal text not null,
  method text not null,
  path text not null,
  key text not null,
  body_sha256 bytea not null,
  -- null while the first call is still running.
  status integer,
  headers jsonb,
  body bytea,
  created_at_ms bigint not null,
  primary key (principal, method, path, key)
);
create index idempotency_record_age on idempotency_record (created_at_ms);

-- Small facts of this installation, for example the signing key of content-origin cookies.
create table installation (
  name text primary key,
  value text not null
);
