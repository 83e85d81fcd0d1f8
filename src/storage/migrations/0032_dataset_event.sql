-- Changes of datasets that event jobs have yet to see. Unlike keys and rows, a deleted dataset leaves nothing that says its name.
create table dataset_event (
  artifact_id text not null references artifact on delete cascade,
  -- Of `dataset_floor`.
  seq bigint not null,
  name text not null,
  is_deletion boolean not null,
  -- The jobs by whose changes it came to this one, the one that made it last; empty where no job did.
  chain text[] not null,
  primary key (artifact_id, seq)
);

-- Changes of datasets up to here have been looked at.
alter table job add column seen_dataset_seq bigint not null default 0;
