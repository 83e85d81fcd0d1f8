-- A visibility that was asked for without a plan that allows it: the artifact becomes public once a plan does.
alter table artifact
  add column requested_visibility text check (requested_visibility = 'public'),
  -- Who has asked: a person, or an agent of the workspace. The wish counts as long as they may still make it.
  add column requested_by text references account on delete set null,
  add column requested_agent text references service_principal on delete set null,
  add column requested_at_ms bigint,
  add constraint artifact_requested check ((requested_visibility is null) = (requested_at_ms is null));

-- The looks for what may be released: all of them, those of a workspace, those of a person. Few artifacts have a wish.
create index artifact_held on artifact (id) where requested_visibility is not null;
create index artifact_held_workspace on artifact (workspace_id, id) where requested_visibility is not null;
-- Also found when an account or an agent is deleted.
create index artifact_requested_by on artifact (requested_by, id) where requested_by is not null;
create index artifact_requested_agent on artifact (requested_agent) where requested_agent is not null;
