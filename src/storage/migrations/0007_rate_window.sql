-- Calls of limits that all processes count together: one row a limit and subject, with the times of the calls that were accepted.
create table rate_window (
  limit_name text not null collate "C",
  subject text not null collate "C",
  -- Oldest first.
  taken_at_ms bigint[] not null,
  -- Whether the last attempt was.
  accepted boolean not null,
  -- Of the last attempt; it never goes back.
  seen_at_ms bigint not null,
  -- When none of the calls counts any more: the sweep deletes the row.
  forget_at_ms bigint not null,
  primary key (limit_name, subject)
) with (fillfactor = 70);
create index rate_window_forget on rate_window (forget_at_ms);
