-- Mail that is sent on behalf of pages, and addresses that get none.

-- One message. Each recipient has a row of their own in mail_outbox.
create table mail_batch (
  id text primary key,
  artifact_id text not null references artifact on delete cascade,
  -- Who sent it, or whose job did. Null for visitors without an account and for agents.
  sender_id text references account on delete set null,
  -- `owner`: a visitor writes to the owner of the page, whose address is not theirs to see.
  purpose text not null check (purpose in ('page', 'owner')),
  subject text not null,
  -- Of what the service adds to it.
  locale text not null,
  -- Of the work that a visitor did for it, so that it counts once.
  proof_sha256 bytea unique,
  created_at_ms bigint not null
);
create index mail_batch_artifact on mail_batch (artifact_id, created_at_ms desc, id);
create index mail_batch_sender on mail_batch (sender_id);

alter table mail_outbox
  add column batch_id text references mail_batch on delete cascade,
  -- When it was decided that it is not sent, because its recipient gets no such mail.
  add column suppressed_at_ms bigint;
create index mail_outbox_batch on mail_outbox (batch_id);

-- Addresses of which a mail server has said that there are none.
create table mail_bounce (
  address text primary key,
  failure text not null,
  bounced_at_ms bigint not null,
  expires_at_ms bigint not null
);
create index mail_bounce_expiry on mail_bounce (expires_at_ms);

-- Addresses that want no mail of a page any more.
create table mail_opt_out (
  artifact_id text not null references artifact on delete cascade,
  address text not null,
  opted_out_at_ms bigint not null,
  primary key (artifact_id, address)
);
