-- Templates of mails.

create table template (
  id text primary key,
  owner_id text not null references account on delete cascade,
  -- Null for one of the account: it can be used with every artifact of its owner.
  artifact_id text references artifact on delete cascade,
  name text not null,
  subject text not null,
  html text not null,
  -- Empty: the text of the HTML.
  text_body text not null,
  variables json not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null
);
create index template_owner on template (owner_id, updated_at_ms desc, id);
create index template_artifact on template (artifact_id) where artifact_id is not null;

-- What a workspace sends instead of a built-in mail.
create table workspace_mail (
  workspace_id text not null references workspace on delete cascade,
  kind text not null,
  locale text not null,
  subject text not null,
  html text not null,
  text_body text not null,
  updated_at_ms bigint not null,
  primary key (workspace_id, kind, locale)
);
