-- Datasets: named files of rows in versions. The rows are objects of the store, as lines of JSON; here is what is known about them.
create table dataset_version (
  artifact_id text not null references artifact on delete cascade,
  name text not null collate "C",
  version bigint not null,
  -- Of the artifact's changes to datasets, in `dataset_floor`.
  seq bigint not null,
  sha256 bytea not null,
  size_bytes bigint not null,
  row_count bigint not null,
  -- JSON: [{"name", "type"}] in the order of the columns.
  columns text not null,
  -- JSON: where each block of rows begins, as [row, byte, bytes of the cells before it as CSV].
  blocks text not null,
  -- Bytes of all cells as CSV.
  cell_bytes bigint not null,
  created_at_ms bigint not null,
  primary key (artifact_id, name, version)
);
create index dataset_version_sha256 on dataset_version (sha256);
create unique index dataset_version_seq on dataset_version (artifact_id, seq);

-- Changes of an artifact's datasets take turns at its row.
create table dataset_floor (
  artifact_id text primary key references artifact on delete cascade,
  -- The highest version of any dataset that was deleted: new ones begin above it, so that no number means two contents.
  version bigint not null default 0,
  -- Of the last change, and of the last deletion.
  seq bigint not null default 0,
  deleted_seq bigint not null default 0
);

-- The dataset that an upload will be; null for blobs. `blob_id` is then only the name of its reservation.
alter table blob_upload add column dataset text;
