-- Support tickets.
create table ticket (
  id text primary key,
  subject text not null,
  status text not null check (status in ('open', 'pending', 'resolved', 'closed')),
  channel text not null check (channel in ('ui', 'email', 'chat')),
  priority text not null check (priority in ('low', 'normal', 'high', 'urgent')),
  workspace_id text references workspace on delete set null,
  -- The page in whose chat it began. Its makers answer it, and it goes with the page.
  artifact_id text references artifact on delete cascade,
  requester_id text references account on delete set null,
  -- As it was when the ticket was opened; replies by mail go there.
  requester_email text,
  requester_name text,
  assignee_id text references account on delete set null,
  follows_id text references ticket on delete set null,
  -- In the address that replies by mail are sent to, so it cannot be guessed.
  mail_token text not null unique,
  -- The conversation in another chat. A later ticket of the same conversation takes its place.
  chat_thread text,
  -- Of the secret with which a visitor of a page reads the replies.
  chat_secret_sha256 bytea unique,
  -- Requests that its messages quote.
  request_ids text[] not null default '{}',
  -- Numbers order the messages; a draft gets a new one when it is sent.
  last_number integer not null default 0,
  -- Of the last message or change of status: from then on the ticket is quiet.
  quiet_since_ms bigint not null,
  closed_at_ms bigint,
  created_at_ms bigint not null,
  updated_at_ms bigint not null
);
create index ticket_updated on ticket (updated_at_ms desc, id);
create index ticket_requester on ticket (requester_id, updated_at_ms desc) where requester_id is not null;
create index ticket_workspace on ticket (workspace_id, updated_at_ms desc) where workspace_id is not null;
create index ticket_artifact on ticket (artifact_id, updated_at_ms desc) where artifact_id is not null;
create index ticket_assignee on ticket (assignee_id) where assignee_id is not null;
create index ticket_follows on ticket (follows_id) where follows_id is not null;
create index ticket_thread on ticket (chat_thread, created_at_ms desc) where chat_thread is not null;
create index ticket_quiet on ticket (quiet_since_ms) where status = 'resolved';

create table ticket_message (
  id text primary key,
  ticket_id text not null references ticket on delete cascade,
  number integer not null,
  author_kind text not null check (author_kind in ('customer', 'staff', 'system')),
  author_id text references account on delete set null,
  -- As it was, because the account may be renamed or gone when the message is read.
  author_name text,
  body text not null,
  -- The history that a mail quoted.
  quoted text,
  channel text not null,
  is_draft boolean not null default false,
  -- Of a mail that came in.
  mail_message_id text,
  -- The mail in the outbox with which it left.
  mail_id text unique,
  -- Of the work that a visitor has done for it, so that it counts once.
  proof_sha256 bytea unique,
  created_at_ms bigint not null,
  unique (ticket_id, number)
);
create index ticket_message_author on ticket_message (author_id) where author_id is not null;

create table ticket_attachment (
  id text primary key,
  -- Null until a message names it.
  message_id text references ticket_message on delete cascade,
  uploader_id text references account on delete cascade,
  filename text not null,
  media_type text not null,
  size_bytes bigint not null,
  sha256 bytea not null,
  -- Among the files of its message.
  position integer not null default 0,
  created_at_ms bigint not null
);
create index ticket_attachment_message on ticket_attachment (message_id) where message_id is not null;
create index ticket_attachment_loose on ticket_attachment (created_at_ms) where message_id is null;
create index ticket_attachment_uploader on ticket_attachment (uploader_id) where uploader_id is not null;
create index ticket_attachment_sha256 on ticket_attachment (sha256);

-- What mail and chat servers have brought, so that each thing is taken once, and what became of it.
create table ticket_inbound (
  -- SHA-256 of what names the mail or the message.
  sha256 bytea primary key,
  source text not null check (source in ('email', 'chat')),
  sender text,
  outcome text not null check (outcome in ('created', 'continued', 'ignored')),
  reason text,
  ticket_id text references ticket on delete cascade,
  taken_at_ms bigint not null
);
create index ticket_inbound_ticket on ticket_inbound (ticket_id) where ticket_id is not null;
create index ticket_inbound_taken on ticket_inbound (taken_at_ms);

-- Whether visitors of a page may write to its makers.
create table page_chat (
  artifact_id text primary key references artifact on delete cascade,
  is_enabled boolean not null,
  greeting text not null,
  updated_at_ms bigint not null
);

-- Replies of people by mail belong to a thread.
alter table mail_outbox
  add column in_reply_to text,
  add column reference_ids text,
  add column is_personal boolean not null default false;
