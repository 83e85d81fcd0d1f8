/** The SQL of the steps of a deletion that are more than rows by a column. */
import type { ArtifactId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import { isPersonSuspended } from '../../people/persons/rows.ts';
import { NOBODY_ID } from './holdings.ts';

/** Nobody acts as them from now on. */
export async function closeAccounts(tx: Queries, accounts: readonly UserId[], nowMs: number): Promise<void> {
  await tx`
    update account set suspended_at_ms = coalesce(suspended_at_ms, ${nowMs}), suspended_reason = coalesce(suspended_reason, 'The account is being removed.')
    where id = any(${accounts as UserId[]}::text[])`;
}

export interface OwnedArtifact {
  readonly id: ArtifactId;
  readonly slug: string;
  readonly owner_id: UserId;
  readonly workspace_id: WorkspaceId | null;
  readonly is_live: boolean;
}

/** Locked until the transaction ends, in the order of their ids. */
export function lockOwnedArtifacts(tx: Queries, accounts: readonly UserId[], rowsMax: number) {
  return tx<OwnedArtifact[]>`
    select id, slug, owner_id, workspace_id, deleted_at_ms is null as is_live from artifact
    where owner_id = any(${accounts as UserId[]}::text[]) order by id limit ${rowsMax} for update`;
}

/** The same of those only that are in a workspace with other members. */
export function lockSharedArtifacts(tx: Queries, accounts: readonly UserId[], rowsMax: number) {
  return tx<OwnedArtifact[]>`
    select a.id, a.slug, a.owner_id, a.workspace_id, a.deleted_at_ms is null as is_live from artifact a
    where a.owner_id = any(${accounts as UserId[]}::text[]) and exists (
      select from workspace w join workspace_member o on o.workspace_id = w.id
      where w.id = a.workspace_id and w.deleted_at_ms is null and o.user_id <> all(${accounts as UserId[]}::text[]))
    order by a.id limit ${rowsMax} for update of a`;
}

/** Null: the workspace that it is in owns it. What was filed in a folder of the person is in none. */
export async function giveArtifact(tx: Queries, id: ArtifactId, ownerId: UserId | null, nowMs: number): Promise<void> {
  await tx`
    update artifact a set owner_id = ${ownerId}, updated_at_ms = greatest(a.updated_at_ms + 1, ${nowMs}),
      folder_id = case when exists (select from folder f where f.id = a.folder_id and f.workspace_id is not null) then a.folder_id end
    where a.id = ${id}`;
  await tx`delete from collaborator where artifact_id = ${id} and user_id = ${ownerId}`;
}

/** What is doomed is in the trash since long ago, so that the purge takes it now. */
export function doomArtifacts(tx: Queries, accounts: readonly UserId[], rowsMax: number) {
  return tx<{ readonly id: ArtifactId; readonly slug: string }[]>`
    update artifact set deleted_at_ms = 1 where id = any(array(
      select a.id from artifact a
      where coalesce(a.deleted_at_ms, 2) > 1 and (
        a.owner_id = any(${accounts as UserId[]}::text[])
        or (a.owner_id is null and a.workspace_id in (
          select m.workspace_id from workspace_member m where m.user_id = any(${accounts as UserId[]}::text[])
            and not exists (
              select from workspace_member o where o.workspace_id = m.workspace_id and o.user_id <> all(${accounts as UserId[]}::text[]))))
      )
      order by a.id limit ${rowsMax} for update
    ))
    returning id, slug`;
}

/** Workspaces that only these accounts own. */
export function listOrphanedWorkspaces(sql: Queries, accounts: readonly UserId[]) {
  return sql<{ readonly id: WorkspaceId }[]>`
    select distinct m.workspace_id as id from workspace_member m join workspace w on w.id = m.workspace_id
    where m.user_id = any(${accounts as UserId[]}::text[]) and m.role = 'owner' and w.deleted_at_ms is null and not exists (
      select from workspace_member o where o.workspace_id = m.workspace_id and o.role = 'owner' and o.user_id <> all(${accounts as UserId[]}::text[]))
    order by 1`;
}

/** The member of the highest role and the longest standing beside these accounts; null where there is none. */
export async function readSuccessor(sql: Queries, id: WorkspaceId, accounts: readonly UserId[]): Promise<UserId | null> {
  const [row] = await sql<{ user_id: UserId }[]>`
    select m.user_id from workspace_member m join account a on a.id = m.user_id
    where m.workspace_id = ${id} and m.user_id <> all(${accounts as UserId[]}::text[])
    order by ${isPersonSuspended(sql)}, array_position(array['owner', 'admin', 'member'], m.role), m.joined_at_ms, m.user_id limit 1`;
  return row?.user_id ?? null;
}

/**
 * Metrics on artifacts that stay go on in the name of the artifact's owner, or of the first owner of the workspace, so that the alert rules of
 * others stay with them. Answers how many; fewer than `rowsMax` when none is left that anybody can have.
 */
export async function giveMetrics(tx: Queries, accounts: readonly UserId[], rowsMax: number): Promise<number> {
  const { count } = await tx`
    update metric_definition d set created_by = n.user_id from (
      select d.artifact_id, d.metric_id, coalesce(a.owner_id, m.user_id) as user_id
      from metric_definition d join artifact a on a.id = d.artifact_id
      left join lateral (
        select m.user_id from workspace_member m
        where m.workspace_id = a.workspace_id and m.role in ('owner', 'admin') and m.user_id <> all(${accounts as UserId[]}::text[])
        order by m.role = 'owner' desc, m.joined_at_ms, m.user_id limit 1
      ) m on true
      where d.created_by = any(${accounts as UserId[]}::text[]) and coalesce(a.owner_id, m.user_id) <> all(${accounts as UserId[]}::text[])
      limit ${rowsMax}
    ) n where d.artifact_id = n.artifact_id and d.metric_id = n.metric_id`;
  return count;
}

/** Webhooks of workspaces that stay stand on the access of their first owner or administrator from now on. Answers like `giveMetrics`. */
export async function giveWebhooks(tx: Queries, accounts: readonly UserId[], rowsMax: number): Promise<number> {
  const { count } = await tx`
    update webhook h set user_id = n.user_id from (
      select h.id, m.user_id from webhook h join workspace w on w.id = h.workspace_id and w.deleted_at_ms is null
      join lateral (
        select m.user_id from workspace_member m
        where m.workspace_id = w.id and m.role in ('owner', 'admin') and m.user_id <> all(${accounts as UserId[]}::text[])
        order by m.role = 'owner' desc, m.joined_at_ms, m.user_id limit 1
      ) m on true
      where h.user_id = any(${accounts as UserId[]}::text[]) limit ${rowsMax}
    ) n where h.id = n.id`;
  return count;
}

export async function makeOwner(tx: Queries, id: WorkspaceId, userId: UserId, nowMs: number): Promise<void> {
  await tx`
    insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${id}, ${userId}, 'owner', ${nowMs})
    on conflict (workspace_id, user_id) do update set role = 'owner'`;
}

export async function endLoneWorkspace(tx: Queries, id: WorkspaceId, nowMs: number): Promise<void> {
  await tx`update workspace set deleted_at_ms = ${nowMs} where id = ${id} and deleted_at_ms is null`;
}

export async function forgetAllowed(tx: Queries, addresses: readonly string[]): Promise<number> {
  const { count } = await tx`
    update workspace set allowed_emails = array(select e from unnest(allowed_emails) e where lower(e) <> all(${addresses as string[]}::text[]))
    where allowed_emails && ${addresses as string[]}::text[]`;
  return count;
}

/** Artifacts beyond this id with comments in which any of these accounts is named, wherever in them; in the order of their ids. */
export function listCommented(sql: Queries, accounts: readonly UserId[], beyond: string, rowsMax: number) {
  return sql<{ readonly id: ArtifactId; readonly slug: string }[]>`
    select a.id, a.slug from artifact a where a.id > ${beyond} and exists (
      select from comment c, unnest(${accounts as UserId[]}::text[]) w where c.artifact_id = a.id and position(w in c.data::text) > 0
    ) order by a.id limit ${rowsMax}`;
}

export interface NamedComment {
  readonly id: string;
  readonly data: Record<string, unknown>;
}

export function readNamedComments(tx: Queries, id: ArtifactId, accounts: readonly UserId[], beyond: string, rowsMax: number) {
  return tx<NamedComment[]>`
    select c.id, c.data from comment c
    where c.artifact_id = ${id} and c.id > ${beyond}
      and exists (select from unnest(${accounts as UserId[]}::text[]) w where position(w in c.data::text) > 0)
    order by c.id limit ${rowsMax}`;
}

/**
 * Makes room for so many changes, and fences whatever actor has the artifact in memory: what it holds of the comments is old. Answers the seq
 * before them.
 */
export async function fenceArtifact(tx: Queries, id: ArtifactId, changes: number): Promise<number> {
  const [row] = await tx<{ seq: number }[]>`
    update artifact set owner_epoch = owner_epoch + 1, seq = seq + ${changes} where id = ${id} returning seq`;
  return (row?.seq ?? changes) - changes;
}

export async function writeComment(tx: Queries, artifactId: ArtifactId, { id, data }: NamedComment, seq: number): Promise<void> {
  await tx`update comment set data = ${tx.json(data as never)}, seq = ${seq} where artifact_id = ${artifactId} and id = ${id}`;
}

/** Entries stay, and name nobody. Answers how many it has changed; fewer than `rowsMax` when none is left. */
export async function blankRecord(tx: Queries, accounts: readonly UserId[], names: readonly string[], rowsMax: number): Promise<number> {
  await tx`select set_config('easel.forgets_person', 'on', true)`;
  const { count } = await tx`
    update audit_entry e set
      actor_id = case when e.actor_id = any(${accounts as UserId[]}::text[]) then ${NOBODY_ID} else e.actor_id end,
      actor_name = case when e.actor_id = any(${accounts as UserId[]}::text[]) then null else e.actor_name end,
      address = case when e.actor_id = any(${accounts as UserId[]}::text[]) then null else e.address end,
      target_id = case when e.target_id = any(${names as string[]}::text[]) then ${NOBODY_ID} else e.target_id end,
      target_name = case when e.target_id = any(${names as string[]}::text[]) or lower(e.target_name) = any(${names as string[]}::text[]) then null
        else e.target_name end,
      detail = case when names_person(e.detail::text, ${names as string[]}::text[]) then '{}'
        else e.detail end
    where e.id = any(array(
      select x.id from audit_entry x
      where x.actor_id = any(${accounts as UserId[]}::text[]) or x.target_id = any(${names as string[]}::text[])
        or lower(x.target_name) = any(${names as string[]}::text[])
        or names_person(x.detail::text, ${names as string[]}::text[])
      limit ${rowsMax}
    ))`;
  return count;
}

/** What they wrote in the tickets of others stays, and nobody has written it. Answers how many; fewer than `rowsMax` when none is left. */
export async function unsignMessages(tx: Queries, accounts: readonly UserId[], rowsMax: number): Promise<number> {
  const { count } = await tx`
    update ticket_message set author_id = null, author_name = null where id = any(array(
      select m.id from ticket_message m where m.author_id = any(${accounts as UserId[]}::text[]) limit ${rowsMax}
    ))`;
  return count;
}

/** The same for what they changed of what a workspace pays. */
export async function unsignOperations(tx: Queries, accounts: readonly UserId[], rowsMax: number): Promise<number> {
  const { count } = await tx`
    update billing_operation set created_by = null, address = '' where id = any(array(
      select o.id from billing_operation o where o.created_by = any(${accounts as UserId[]}::text[]) limit ${rowsMax}
    ))`;
  return count;
}

export async function deleteAccounts(tx: Queries, accounts: readonly UserId[]): Promise<number> {
  return (await tx`delete from account where id = any(${accounts as UserId[]}::text[])`).count;
}
