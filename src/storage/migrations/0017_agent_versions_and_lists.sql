-- Which agent has published a version: it sees its own ones while they wait for approval.

alter table artifact_version add column agent_id text references service_principal on delete set null;
create index artifact_version_agent on artifact_version (agent_id) where agent_id is not null;

-- A page of what members see of a workspace, and of what is somebody's own in it, is read in the order of an index, however much else there is.
create index artifact_workspace_open on artifact (workspace_id, updated_at_ms desc, id)
  where workspace_id is not null and deleted_at_ms is null and visibility <> 'private';
create index artifact_workspace_owner on artifact (workspace_id, owner_id, updated_at_ms desc, id)
  where workspace_id is not null and deleted_at_ms is null;
