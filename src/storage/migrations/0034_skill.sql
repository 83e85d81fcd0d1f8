-- Skills: artifacts whose source is one Markdown file with front matter, what is proposed to them, and where they are attached.

-- What an artifact is made from. The versions of a skill come from its Markdown only, so that its approvers decide on each of them.
alter table artifact add column kind text not null default 'page' check (kind in ('page', 'skill'));

create table skill (
  id text primary key,
  artifact_id text not null unique references artifact on delete cascade,
  created_at_ms bigint not null
);

-- What the front matter of a version says.
create table skill_version (
  version_id text primary key references artifact_version on delete cascade,
  name text not null,
  description text not null
);

create table skill_change (
  id text primary key,
  skill_id text not null references skill on delete cascade,
  title text not null,
  note text not null,
  markdown text not null,
  -- Kept, because a version can be deleted.
  base_version_no integer not null,
  base_markdown text not null,
  status text not null check (status in ('open', 'merged', 'rejected', 'withdrawn')),
  -- Null for an account that is gone.
  author_id text references account on delete set null,
  created_at_ms bigint not null,
  decided_at_ms bigint,
  -- That a merge has published.
  version_no integer,
  check ((status = 'open') = (decided_at_ms is null))
);
create index skill_change_list on skill_change (skill_id, created_at_ms desc, id desc);

create table skill_attachment (
  skill_id text not null references skill on delete cascade,
  artifact_id text references artifact on delete cascade,
  workspace_id text references workspace on delete cascade,
  attached_at_ms bigint not null,
  check ((artifact_id is null) <> (workspace_id is null))
);
create unique index skill_attachment_artifact on skill_attachment (artifact_id, skill_id) where artifact_id is not null;
create unique index skill_attachment_workspace on skill_attachment (workspace_id, skill_id) where workspace_id is not null;
create index skill_attachment_skill on skill_attachment (skill_id);
create index artifact_skill on artifact (workspace_id, updated_at_ms desc) where kind = 'skill' and deleted_at_ms is null;
