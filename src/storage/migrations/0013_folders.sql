-- Folders in full, artifacts that a workspace owns, and what a workspace stores.

-- Whether people without an account may comment on what is in it; null follows the folder above, and the top says no.
alter table folder add column guest_comments boolean;

-- Private folders share no names with others, so that a name which is taken tells nobody of a folder that they may not see.
drop index folder_slug;
create unique index folder_slug on folder (
  coalesce(workspace_id, owner_id), coalesce(parent_id, ''), slug, (case when visibility = 'private' then coalesce(created_by, '') else '' end)
);
create index folder_workspace on folder (workspace_id) where workspace_id is not null;
create index folder_owner on folder (owner_id) where owner_id is not null;

-- The setting of the nearest folder above that has one.
create function folder_guests(folder_id text) returns boolean language sql stable as $$
  with recursive up (parent_id, guest_comments, depth) as (
    select parent_id, guest_comments, 0 from folder where id = folder_id
    union all
    select f.parent_id, f.guest_comments, up.depth + 1 from up join folder f on f.id = up.parent_id where up.guest_comments is null and up.depth < 100
  )
  select coalesce((select guest_comments from up where guest_comments is not null limit 1), false)
$$;

-- A page of a list is read in the order of its index, however many artifacts there are.
drop index artifact_folder;
create index artifact_folder on artifact (folder_id, updated_at_ms desc, id) where folder_id is not null;
drop index artifact_workspace;
create index artifact_workspace on artifact (workspace_id, updated_at_ms desc, id) where workspace_id is not null and deleted_at_ms is null;
create index artifact_workspace_trash on artifact (workspace_id, deleted_at_ms desc, id) where workspace_id is not null and deleted_at_ms is not null;
create index artifact_workspace_owned on artifact (workspace_id) where workspace_id is not null and owner_id is null;

-- The file that the context of a workspace begins with; null is index.md.
alter table workspace add column context_entry text;

-- What a workspace's plan gives: nothing beyond the free tier once it has ended.
create function workspace_tier(workspace_id text) returns text language sql stable as $$
  select case when plan_status in ('trialing', 'active', 'past_due') then plan_tier else 'free' end from workspace where id = workspace_id
$$;

-- An artifact without an owner counts for its workspace: account_id names an account or a workspace.
alter table account_usage
  drop constraint account_usage_account_id_fkey,
  add column user_id text generated always as (case when left(account_id, 4) = 'usr_' then account_id end) stored
    references account on delete cascade,
  add column workspace_id text generated always as (case when left(account_id, 4) = 'wsp_' then account_id end) stored
    references workspace on delete cascade;
alter table storage_reservation
  drop constraint storage_reservation_account_id_fkey,
  add column user_id text generated always as (case when left(account_id, 4) = 'usr_' then account_id end) stored
    references account on delete cascade,
  add column workspace_id text generated always as (case when left(account_id, 4) = 'wsp_' then account_id end) stored
    references workspace on delete cascade;

-- An agent's uploads count for its workspace.
alter table publish_upload
  alter column user_id drop not null,
  add column agent_id text references service_principal on delete cascade,
  add check ((user_id is null) <> (agent_id is null));
create index publish_upload_agent on publish_upload (agent_id) where agent_id is not null;
