-- Collaborators who have no account yet, and requests for access.

-- Whoever proves the address becomes a collaborator, and the row goes.
create table pending_collaborator (
  artifact_id text not null references artifact on delete cascade,
  -- In lowercase.
  email text not null,
  role text not null check (role in ('editor', 'viewer')),
  added_at_ms bigint not null,
  added_by text references account on delete set null,
  primary key (artifact_id, email)
);
create index pending_collaborator_email on pending_collaborator (email);

create table access_request (
  id text primary key,
  artifact_id text not null references artifact on delete cascade,
  requester_id text not null references account on delete cascade,
  -- The slug that was asked for; null where it was asked for by id. Who asks may not know what else the artifact is called.
  asked_slug text,
  message text,
  -- 'ended': access was given in another way.
  status text not null check (status in ('pending', 'approved', 'denied', 'ended')),
  created_at_ms bigint not null,
  decided_at_ms bigint,
  decided_by text references account on delete set null,
  check ((status = 'pending') = (decided_at_ms is null))
);
create unique index access_request_pending on access_request (artifact_id, requester_id) where status = 'pending';
create index access_request_requester on access_request (requester_id, created_at_ms desc, id);
create index access_request_age on access_request (created_at_ms);
