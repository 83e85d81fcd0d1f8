-- Pictures of pages for lists, one row an artifact: for the version that was live when somebody last looked, made or still to be made.

create table thumbnail (
  artifact_id text primary key references artifact on delete cascade,
  version_id text not null references artifact_version on delete cascade,
  -- The account or the workspace that the artifact counts for. Pictures are made for one holder after the other.
  holder text not null,
  asked_at_ms bigint not null,
  -- Including the current one.
  attempts integer not null default 0,
  tried_at_ms bigint,
  -- When the next attempt is due; during an attempt, when its lease ends. Null where there is a picture, or where no further attempt is made.
  due_at_ms bigint,
  -- The picture in the object store.
  sha256 bytea
);
create index thumbnail_version on thumbnail (version_id);
create index thumbnail_due on thumbnail (due_at_ms) where due_at_ms is not null;
create index thumbnail_turn on thumbnail (holder, tried_at_ms desc);
create index thumbnail_sha256 on thumbnail (sha256) where sha256 is not null;
