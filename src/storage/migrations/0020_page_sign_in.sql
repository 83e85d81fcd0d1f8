-- People who are signed in on the origin of one page: what a session has become there.

create table page_sign_in (
  id text primary key,
  session_id text not null references session on delete cascade,
  artifact_id text not null references artifact on delete cascade,
  -- SHA-256 of the mark of the browser that asked for the ticket.
  challenge bytea not null,
  -- Null once the ticket is used.
  ticket_sha256 bytea unique,
  ticket_ends_at_ms bigint not null,
  -- Of the cookie; null until the ticket is used.
  secret_sha256 bytea unique,
  created_at_ms bigint not null,
  ends_at_ms bigint not null
);
create index page_sign_in_session on page_sign_in (session_id, created_at_ms desc, id);
create index page_sign_in_artifact on page_sign_in (artifact_id);
create index page_sign_in_end on page_sign_in (ends_at_ms);
