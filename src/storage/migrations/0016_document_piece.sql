-- Pieces of a large value on its way into another table: sent one by one, so that neither the program nor the embedded database is held up.
-- Unlogged: what a crash leaves is worth nothing, and pieces need no flush to the disk.
create unlogged table document_piece (
  upload uuid not null,
  n integer not null,
  data bytea not null,
  at timestamptz not null default now(),
  primary key (upload, n)
);
alter table document_piece alter column data set storage external;
