-- How versions of a workspace's artifacts go live, who has approved them, and when the record of a workspace may be forgotten.

create table publish_policy (
  workspace_id text primary key references workspace on delete cascade,
  policy text not null check (policy in ('allow', 'prohibit', 'require_approval')),
  approvals_required integer not null check (approvals_required between 1 and 10)
);

alter table artifact_version
  -- A version that waits for approval counts as a draft until it is published.
  add column waiting_since_ms bigint check (waiting_since_ms is null or is_draft),
  -- When its last needed approval published it; null for versions that needed none.
  add column approved_at_ms bigint;
create index artifact_version_waiting on artifact_version (waiting_since_ms desc, id) where waiting_since_ms is not null;

create table version_approval (
  version_id text not null references artifact_version on delete cascade,
  user_id text not null references account on delete cascade,
  created_at_ms bigint not null,
  primary key (version_id, user_id)
);
create index version_approval_user on version_approval (user_id);

-- Entries are never changed. They are removed only with all else of a workspace, after its deletion.
drop trigger audit_entry_append_only on audit_entry;
create trigger audit_entry_append_only before update or truncate on audit_entry execute function refuse_change();
create function refuse_forgetting() returns trigger language plpgsql as $$
begin
  if old.workspace_id is not null
    and not exists (select 1 from workspace w where w.id = old.workspace_id and w.deleted_at_ms is null) then
    return old;
  end if;
  raise exception 'audit_entry is append-only';
end
$$;
create trigger audit_entry_kept before delete on audit_entry for each row execute function refuse_forgetting();
create index audit_entry_action on audit_entry (workspace_id, action, at_ms desc, id desc);
create index audit_entry_actor on audit_entry (workspace_id, actor_id, at_ms desc, id desc);
