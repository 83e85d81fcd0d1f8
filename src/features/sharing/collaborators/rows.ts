/** The SQL of `collaborator` and `pending_collaborator`. A person is one collaborator, whichever of the linked accounts have a row. */
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import type { CollaboratorRole } from '../../../../protocol/sharing/collaborators.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';

export interface CollaboratorRow {
  /** Null while nobody has proved the address. */
  readonly user_id: UserId | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly role: CollaboratorRole;
  readonly added_at_ms: number;
  /** Orders people who were added at the same time. */
  readonly place: string;
}

/**
 * The collaborators of an artifact, one for each person: the best role (the first by its letters), since the first row, under the account of the
 * first row. Linking may have made the owner one of them; that row means nothing.
 */
function everybody(sql: Queries, id: ArtifactId) {
  return sql`
    (select distinct on (a.person_id) c.user_id, coalesce(a.email, (
        select p.email from account p where p.person_id = a.person_id and p.email is not null order by p.created_at_ms, p.id limit 1
      )) as email,
      coalesce(nullif(a.name, ''), a.username) as name,
      min(c.role) over (partition by a.person_id) as role, c.added_at_ms, c.user_id as place
    from collaborator c join account a on a.id = c.user_id
    where c.artifact_id = ${id}
      and a.person_id is distinct from (select o.person_id from artifact r join account o on o.id = r.owner_id where r.id = ${id})
    order by a.person_id, c.added_at_ms, c.user_id)
    union all
    select null, email, null, role, added_at_ms, md5(email) from pending_collaborator where artifact_id = ${id}`;
}

/** Last added first. */
export function listCollaborators(sql: Queries, id: ArtifactId, after: PageKey, rowsMax: number): Promise<CollaboratorRow[]> {
  return sql<CollaboratorRow[]>`
    select user_id, email, name, role, added_at_ms, place from (${everybody(sql, id)}) e
    where added_at_ms < ${after.number} or (added_at_ms = ${after.number} and place > ${after.id})
    order by added_at_ms desc, place limit ${rowsMax}`;
}

export async function countCollaborators(sql: Queries, id: ArtifactId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from (${everybody(sql, id)}) e`;
  return row?.total ?? 0;
}

/** The collaborator that these accounts are. */
export async function readCollaborator(sql: Queries, id: ArtifactId, accounts: Accounts): Promise<CollaboratorRow | null> {
  const [row] = await sql<CollaboratorRow[]>`
    select user_id, email, name, role, added_at_ms, place from (${everybody(sql, id)}) e
    where user_id = any(${accounts as UserId[]})`;
  return row ?? null;
}

export async function readPending(sql: Queries, id: ArtifactId, email: string): Promise<CollaboratorRow | null> {
  const [row] = await sql<CollaboratorRow[]>`
    select null as user_id, email, null as name, role, added_at_ms, md5(email) as place
    from pending_collaborator where artifact_id = ${id} and email = ${email}`;
  return row ?? null;
}

export interface NewCollaborator {
  readonly artifactId: ArtifactId;
  readonly role: CollaboratorRole;
  readonly nowMs: number;
}

export async function insertCollaborator(tx: Queries, userId: UserId, { artifactId, role, nowMs }: NewCollaborator): Promise<void> {
  await tx`
    insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${artifactId}, ${userId}, ${role}, ${nowMs})`;
}

export async function insertPending(
  tx: Queries,
  email: string,
  { artifactId, role, nowMs, addedBy }: NewCollaborator & { readonly addedBy: UserId },
): Promise<void> {
  await tx`
    insert into pending_collaborator (artifact_id, email, role, added_at_ms, added_by)
    values (${artifactId}, ${email}, ${role}, ${nowMs}, ${addedBy})`;
}

/** Of every row that a person has. */
export async function writeRole(tx: Queries, id: ArtifactId, accounts: Accounts, role: CollaboratorRole): Promise<void> {
  await tx`update collaborator set role = ${role} where artifact_id = ${id} and user_id = any(${accounts as UserId[]})`;
}

export async function writePendingRole(tx: Queries, id: ArtifactId, emails: readonly string[], role: CollaboratorRole): Promise<number> {
  return (await tx`update pending_collaborator set role = ${role} where artifact_id = ${id} and email = any(${[...emails]}::text[])`).count;
}

export async function deleteCollaborator(tx: Queries, id: ArtifactId, accounts: Accounts): Promise<number> {
  return (await tx`delete from collaborator where artifact_id = ${id} and user_id = any(${accounts as UserId[]})`).count;
}

export async function deletePending(tx: Queries, id: ArtifactId, emails: readonly string[]): Promise<number> {
  return (await tx`delete from pending_collaborator where artifact_id = ${id} and email = any(${[...emails]}::text[])`).count;
}

export interface ClaimedRow {
  readonly artifact_id: ArtifactId;
  readonly slug: string;
  readonly role: CollaboratorRole;
  readonly added_at_ms: number;
}

/** Takes what waits for an address. Artifacts in the trash are included: they may be restored. */
export function takePending(tx: Queries, email: string): Promise<ClaimedRow[]> {
  return tx<ClaimedRow[]>`
    with taken as (delete from pending_collaborator where email = ${email} returning artifact_id, role, added_at_ms)
    select t.artifact_id, a.slug, t.role, t.added_at_ms from taken t join artifact a on a.id = t.artifact_id
    order by t.artifact_id`;
}

export interface OwnerRow {
  readonly user_id: UserId;
  readonly email: string | null;
  readonly name: string | null;
}

/** How others see an account: its name, and a proved address of the person. */
export async function readShown(sql: Queries, userId: UserId): Promise<OwnerRow | null> {
  const [row] = await sql<OwnerRow[]>`
    select a.id as user_id, coalesce(nullif(a.name, ''), a.username) as name, coalesce(a.email, (
      select p.email from account p where p.person_id = a.person_id and p.email is not null order by p.created_at_ms, p.id limit 1
    )) as email
    from account a where a.id = ${userId}`;
  return row ?? null;
}

/** Proved addresses in lowercase of the persons that these accounts belong to. */
export async function readProved(sql: Queries, accounts: Accounts): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    select distinct lower(email) as email from account where id = any(${accounts as UserId[]}) and email is not null`;
  return rows.map(({ email }) => email);
}

/** The account with this id, where there is one. */
export async function accountExists(sql: Queries, id: UserId): Promise<boolean> {
  const rows = await sql`select 1 from account where id = ${id}`;
  return rows.length > 0;
}
