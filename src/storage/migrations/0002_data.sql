-- Tables, blobs and what a follower of changes needs of things deleted. Every row carries the artifact's seq of its last change:
-- "what changed since N" is read from the rows themselves, and only deletions need a record of their own.
create table data_table (
  artifact_id text not null references artifact on delete cascade,
  name text not null collate "C",
  -- What PUT _schema was given; null: anything goes.
  schema jsonb,
  row_count integer not null,
  seq bigint not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  primary key (artifact_id, name)
);

-- No foreign key: its check would cost every insert more than the insert; a purge deletes these rows by name.
create table table_row (
  artifact_id text not null,
  table_name text not null collate "C",
  row_id text not null collate "C",
  data jsonb not null,
  -- Of the insert, which is the natural order of a table, and of the last change.
  created_seq bigint not null,
  seq bigint not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  -- Ids before names: without statistics, or with those of very unequal tables, the planner would take the order for as good a way to one row.
  primary key (artifact_id, row_id, table_name)
);
create unique index table_row_order on table_row (artifact_id, table_name, created_seq);
create index table_row_seq on table_row (artifact_id, seq);

-- Values of `indexed` and `unique` columns, one row each: a number in num (kind n), a string in txt (s), a boolean as 'true' or 'false' in txt (b),
-- and neither where the row has no value (z): so that a whole table can be read in the order of a column, rows alike in that of their insertion.
create table row_index (
  artifact_id text not null,
  table_name text not null collate "C",
  column_name text not null collate "C",
  kind "char" not null,
  num double precision,
  txt text collate "C",
  row_id text not null collate "C",
  -- As the row has it.
  created_seq bigint not null,
  primary key (artifact_id, table_name, row_id, column_name)
);
create index row_index_num on row_index (artifact_id, table_name, column_name, num, created_seq) where kind = 'n';
create index row_index_txt on row_index (artifact_id, table_name, column_name, txt, created_seq) where kind <> 'n';

create table blob (
  artifact_id text not null references artifact on delete cascade,
  id text not null,
  filename text not null,
  mime_type text not null,
  size_bytes bigint not null,
  sha256 bytea not null,
  created_by text,
  seq bigint not null,
  created_at_ms bigint not null,
  primary key (artifact_id, id)
);
create index blob_sha256 on blob (sha256);

create table blob_upload (
  -- The upload token's id; it works once.
  id text primary key,
  artifact_id text not null references artifact on delete cascade,
  filename text not null,
  mime_type text not null,
  declared_bytes bigint,
  direct boolean not null,
  created_by text,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  used_at_ms bigint
);
create index blob_upload_age on blob_upload (expires_at_ms);

-- What was deleted, for followers that resume; trimmed by age and number, after which they are told to reset.
create table tombstone (
  artifact_id text not null references artifact on delete cascade,
  seq bigint not null,
  -- 'json.delete', 'row.delete', 'table.drop', 'blob.delete'
  kind text not null,
  -- The key, the table's name, or the blob's id; the row's id.
  name text not null,
  row_id text,
  at_ms bigint not null,
  primary key (artifact_id, seq)
);
-- Deletions up to this seq may have been trimmed.
alter table artifact add column tombstones_trimmed_seq bigint not null default 0;
