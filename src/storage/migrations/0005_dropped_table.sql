-- Tables that were dropped and still have rows here, which a purge takes away in pieces. Nobody reads them, and no other table gets their name.
create table dropped_table (
  artifact_id text not null references artifact on delete cascade,
  -- What its rows have as table_name.
  stored_as text not null collate "C",
  dropped_at_ms bigint not null,
  primary key (artifact_id, stored_as)
);

-- What the rows of a table have as table_name; null: its own name, as long as no dropped table can have rows under it.
alter table data_table add column stored_as text collate "C";
