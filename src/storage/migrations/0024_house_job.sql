-- Work that is done once for all nodes of an installation.
create table house_job (
  name text primary key,
  -- Unix ms: for when it was wanted last, and for when it was done last.
  due_ms bigint not null,
  done_ms bigint not null default 0,
  -- Rises with each claim: what an earlier holder reports late is not taken.
  fence bigint not null default 0,
  -- Until then no other node takes it. Compared with the clock of the database, which is the same for all.
  lease_ends_at timestamptz,
  -- Steps that are done of what is due. A successor goes on behind them.
  steps_done text[] not null default '{}'
);
