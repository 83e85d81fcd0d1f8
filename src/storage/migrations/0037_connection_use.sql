-- How far a job has read a connection: it appends to its dataset what is beyond. Written with the version that has the rows up to there.
create table job_cursor (
  job_id text primary key references job on delete cascade,
  -- Of what is read, and where it goes: after a change of it the job begins from the start.
  source text not null,
  -- JSON: a text or a number.
  value text not null,
  updated_at_ms bigint not null
);
