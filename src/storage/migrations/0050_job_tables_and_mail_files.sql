-- Tables that the script of a job has read or written: nothing else says what a script does. It goes with the job.
create table job_table_use (
  job_id text not null references job on delete cascade,
  name text not null collate "C",
  use text not null check (use in ('read', 'write')),
  used_at_ms bigint not null,
  primary key (job_id, name, use)
);
create index job_table_use_age on job_table_use (used_at_ms);

-- Files of a library that go with a mail on behalf of a page: the version that was the newest one when the mail was queued, so that each try and each
-- reader gets the same. Whether its sender may still open it is looked at when it is sent, so nothing refers to the file: one that is gone ends the mail
-- instead of leaving it without the file.
create table mail_attachment (
  batch_id text not null references mail_batch on delete cascade,
  position smallint not null,
  deliverable_id text not null,
  file_id text not null,
  filename text not null,
  size_bytes bigint not null,
  -- Where its HTML shows it; null for a file that is listed.
  cid text,
  primary key (batch_id, position)
);
