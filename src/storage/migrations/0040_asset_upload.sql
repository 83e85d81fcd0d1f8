-- Uploads of assets in pieces. Each piece is an object, so that any node appends the next one.
create table asset_upload (
  id text primary key,
  owner_id text references account on delete cascade,
  workspace_id text references workspace on delete cascade,
  -- For whom its room is reserved, under the id of the upload.
  holder text not null,
  filename text not null,
  mime_type text not null,
  size_bytes bigint not null,
  -- Of the whole file, where the sender has told it.
  sha256 bytea,
  -- What has arrived.
  offset_bytes bigint not null default 0,
  -- While one caller stores a piece or the whole; a later time than its process may need.
  busy_until_ms bigint,
  -- Once it is complete, for a sender whose last answer was lost.
  file_id text references asset_file on delete cascade,
  created_by text not null,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  check ((owner_id is null) <> (workspace_id is null)),
  check (offset_bytes between 0 and size_bytes)
);
create index asset_upload_creator on asset_upload (created_by);
create index asset_upload_owner on asset_upload (owner_id) where owner_id is not null;
create index asset_upload_workspace on asset_upload (workspace_id) where workspace_id is not null;
create index asset_upload_file on asset_upload (file_id) where file_id is not null;
create index asset_upload_expiry on asset_upload (expires_at_ms);

create table asset_upload_piece (
  upload_id text not null references asset_upload on delete cascade,
  offset_bytes bigint not null,
  size_bytes bigint not null,
  sha256 bytea not null,
  primary key (upload_id, offset_bytes)
);
create index asset_upload_piece_sha256 on asset_upload_piece (sha256);
