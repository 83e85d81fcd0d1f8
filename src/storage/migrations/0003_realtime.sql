-- Collaborative documents (Yjs), comments, guests, and mail to be sent.
create table document (
  artifact_id text not null references artifact on delete cascade,
  name text not null collate "C",
  -- The row of document_snapshot that holds; 0 while nothing was compacted.
  snapshot_seq bigint not null default 0,
  -- Of its first update: one of the same name that was dropped before is another document.
  created_seq bigint not null,
  -- Of the last update.
  seq bigint not null,
  -- Of the snapshot and the updates since.
  stored_bytes bigint not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  primary key (artifact_id, name)
);
-- Everything up to seq, in Yjs' format v1. Beside the document, whose row every commit locks: writing a large one takes a while.
create table document_snapshot (
  artifact_id text not null,
  name text not null collate "C",
  seq bigint not null,
  data bytea not null,
  primary key (artifact_id, name, seq)
);
-- Snapshots are compressed already or do not compress: leave them as they are.
alter table document_snapshot alter column data set storage external;

-- No foreign key: its check would cost every update more than the update; a purge deletes these rows by name.
create table document_update (
  artifact_id text not null,
  name text not null collate "C",
  -- Of the last update in data: one row holds what one commit had of a document.
  seq bigint not null,
  -- Each update with its length before it (varUint), in order.
  data bytea not null,
  updates integer not null,
  by_user text,
  at_ms bigint not null,
  primary key (artifact_id, name, seq)
);

-- States to come back to, whole. Those before created_seq are of another document.
create table document_version (
  artifact_id text not null,
  name text not null collate "C",
  seq bigint not null,
  state bytea not null,
  label text,
  created_by text,
  -- Made by compaction, and thinned out with time; others stay until they are deleted.
  automatic boolean not null,
  created_at_ms bigint not null,
  primary key (artifact_id, name, seq)
);
alter table document_version alter column state set storage external;

create table comment_config (
  artifact_id text primary key references artifact on delete cascade,
  config jsonb not null,
  seq bigint not null,
  updated_at_ms bigint not null
);

create table comment (
  artifact_id text not null references artifact on delete cascade,
  id text not null collate "C",
  data jsonb not null,
  seq bigint not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  primary key (artifact_id, id)
);
create index comment_seq on comment (artifact_id, seq);

-- What edits have replaced.
create table comment_revision (
  artifact_id text not null references artifact on delete cascade,
  comment_id text not null collate "C",
  -- Of the edit that replaced it.
  seq bigint not null,
  content text not null,
  at_ms bigint not null,
  primary key (artifact_id, comment_id, seq)
);

-- How far each person has read: comments changed up to this seq.
create table comment_read (
  artifact_id text not null references artifact on delete cascade,
  user_id text not null references account on delete cascade,
  seq bigint not null,
  primary key (artifact_id, user_id)
);

-- People without an account who have proved an e-mail address, for the comments of one artifact.
create table comment_guest (
  -- One guest of an artifact for each address, however many tokens: what was written with one can be changed with the next.
  id text not null,
  artifact_id text not null references artifact on delete cascade,
  email text not null,
  name text not null,
  token_id text primary key,
  token_sha256 bytea not null unique,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  revoked_at_ms bigint
);
create index comment_guest_artifact on comment_guest (artifact_id, email);

create table comment_guest_code (
  artifact_id text not null references artifact on delete cascade,
  email text not null,
  name text not null,
  code_sha256 bytea not null,
  attempts_left integer not null,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  primary key (artifact_id, email)
);

-- Mail that was asked for; sent_at_ms is null until it has left.
create table mail_outbox (
  id text primary key,
  artifact_id text references artifact on delete set null,
  recipient text not null,
  subject text not null,
  text_body text,
  html_body text,
  reply_to text,
  kind text not null,
  attempts integer not null default 0,
  next_attempt_at_ms bigint,
  sent_at_ms bigint,
  failure text,
  created_at_ms bigint not null
);
create index mail_outbox_due on mail_outbox (next_attempt_at_ms) where sent_at_ms is null;
create index mail_outbox_recipient on mail_outbox (recipient, created_at_ms);
create index mail_outbox_artifact on mail_outbox (artifact_id, created_at_ms);
