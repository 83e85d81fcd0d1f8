/** The SQL of what a person has: linked accounts, the best of their roles, and what is shared with them from outside. */
import { type Grant, type Grants, grantsOf, type Person, personAt } from '../../../../actors/access/access.ts';
import type { WorkspaceRole } from '../../../../protocol/core/endpoint.ts';
import type { PersonId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { isEnabled } from '../../business/tiers/rules.ts';
import type { Queries } from '../../deps.ts';
import type { FeatureFlag, WorkspaceRow } from '../../workspaces/workspaces/rows.ts';

/** What an account stands for, beyond its own id. */
export interface Standing {
  readonly person: Person;
  /** Whether any account of the person administers this installation. */
  readonly isAdmin: boolean;
  /** Whether any of them answers tickets for it. */
  readonly isStaff: boolean;
}

export interface StandingRow {
  readonly person_id: PersonId;
  readonly accounts: readonly UserId[];
  readonly workspaces: Readonly<Record<WorkspaceId, WorkspaceRole>>;
  readonly is_admin: boolean;
  readonly is_staff: boolean;
  /** Whether an administrator has suspended any account of the person: then none of them can be used. */
  readonly is_suspended: boolean;
  readonly suspended_workspaces: readonly WorkspaceId[];
  readonly grants: readonly GrantRow[];
}

/** A grant, and what decides whether its workspace may share at all. */
export interface GrantRow extends Grant, Pick<WorkspaceRow, 'plan_tier' | 'plan_status'> {
  readonly flag: FeatureFlag | null;
  /** Of the workspace. */
  readonly suspended_at_ms: number | null;
}

/** The columns of a `StandingRow`, for account `a`. */
export function standingColumns(sql: Queries) {
  return sql`
    a.person_id,
    (select array_agg(p.id) from account p where p.person_id = a.person_id) as accounts,
    (select bool_or(p.is_admin) from account p where p.person_id = a.person_id) as is_admin,
    (select bool_or(p.is_staff) from account p where p.person_id = a.person_id) as is_staff,
    ${isPersonSuspended(sql)} as is_suspended,
    array(
      select w.id from account p join workspace_member m on m.user_id = p.id join workspace w on w.id = m.workspace_id
      where p.person_id = a.person_id and w.deleted_at_ms is null and w.suspended_at_ms is not null
    ) as suspended_workspaces,
    coalesce((
      select json_object_agg(s.workspace_id, s.role)
      from (
        select distinct on (m.workspace_id) m.workspace_id, m.role
        from account p join workspace_member m on m.user_id = p.id join workspace w on w.id = m.workspace_id
        where p.person_id = a.person_id and w.deleted_at_ms is null and w.suspended_at_ms is null
        order by m.workspace_id, array_position(array['owner', 'admin', 'member'], m.role)
      ) s
    ), '{}') as workspaces,
    coalesce((
      select json_agg(given) from (
        select ${grantColumns(sql)}
        from (
          select e.id, e.workspace_id from account p join external_user e on e.email = lower(p.email) where p.person_id = a.person_id
          union select e.id, e.workspace_id from account p join external_user e on e.account_id = p.id where p.person_id = a.person_id
        ) e join ${grantsOfExternals(sql)}
        order by g.created_at_ms, g.id limit ${LIMITS.grantsPerPersonMax}
      ) given
    ), '[]') as grants`;
}

/** Of account `a`: what applies to one account applies to all that are linked with it. */
export function isPersonSuspended(sql: Queries) {
  return sql`exists (select from account p where p.person_id = a.person_id and p.suspended_at_ms is not null)`;
}

/** Grants `g` of external `e`, by name or through a sharee, with the workspace `w` that gives them. */
function grantsOfExternals(sql: Queries) {
  return sql`
    lateral (
      select g.* from access_grant g where g.external_id = e.id
      union all select g.* from sharee_member m join access_grant g on g.sharee_id = m.sharee_id where m.external_id = e.id
    ) g on true join workspace w on w.id = g.workspace_id and w.deleted_at_ms is null
      left join workspace_feature f on f.workspace_id = w.id and f.name = 'collab.external_sharing'`;
}

function grantColumns(sql: Queries) {
  return sql`
    g.id, g.workspace_id as "workspaceId", coalesce(g.artifact_id, g.folder_id, g.deliverable_id) as "resourceId", g.capability, e.id as "externalId",
    g.sharee_id as "shareeId", g.expires_at_ms as "expiresAtMs", w.plan_tier, w.plan_status, w.suspended_at_ms,
    case when f.name is not null then json_build_object('enabled', f.enabled, 'source', f.source) end as flag`;
}

/** What an address gets as soon as an account proves it, of one workspace. */
export async function readGrantsOfAddress(sql: Queries, workspaceId: WorkspaceId, email: string): Promise<Grants> {
  const rows = await sql<GrantRow[]>`
    select ${grantColumns(sql)} from external_user e join ${grantsOfExternals(sql)}
    where e.workspace_id = ${workspaceId} and e.email = ${email}
    order by g.created_at_ms, g.id limit ${LIMITS.grantsPerPersonMax}`;
  return countingGrants(rows);
}

/**
 * Those of workspaces that may share outside, by plan and features, and are not suspended. The others stay among those that share, so that what is
 * kept of the person is read again once they count.
 */
function countingGrants(rows: readonly GrantRow[]): Grants {
  const counting = rows.filter(
    ({ flag, ...workspace }) =>
      workspace.suspended_at_ms === null &&
      isEnabled({ ...workspace, flags: flag === null ? {} : { 'collab.external_sharing': flag } }, 'collab.external_sharing'),
  );
  const grants = counting.map(({ id, workspaceId, resourceId, capability, externalId, shareeId, expiresAtMs }) => ({
    ...{ id, workspaceId, resourceId, capability, externalId, shareeId, expiresAtMs },
  }));
  return grantsOf(
    grants,
    rows.map(({ workspaceId }) => workspaceId),
  );
}

export function standingOf(row: StandingRow): Standing {
  const workspaces = new Map(Object.entries(row.workspaces) as [WorkspaceId, WorkspaceRole][]);
  return {
    person: {
      ...{ id: row.person_id, accounts: new Set(row.accounts), workspaces, grants: countingGrants(row.grants) },
      ...(row.suspended_workspaces.length > 0 && { suspendedWorkspaces: new Set(row.suspended_workspaces) }),
    },
    isAdmin: row.is_admin,
    isStaff: row.is_staff,
  };
}

/** Accounts that are gone are left out, and grants that have ended. */
export async function readStandings(sql: Queries, userIds: readonly UserId[], nowMs: number): Promise<Map<UserId, Standing>> {
  const rows = await sql<(StandingRow & { readonly id: UserId })[]>`
    select a.id, ${standingColumns(sql)} from account a where a.id = any(${[...userIds]})`;
  return new Map(
    rows.map((row) => {
      const { person, ...roles } = standingOf(row);
      return [row.id, { person: personAt(person, nowMs), ...roles }];
    }),
  );
}

/** The same without those who are suspended: whom a credential may still act for. */
export async function readUsableStandings(sql: Queries, userIds: readonly UserId[], nowMs: number): Promise<Map<UserId, Standing>> {
  const suspended = await sql<{ id: UserId }[]>`
    select a.id from account a where a.id = any(${[...userIds]}) and ${isPersonSuspended(sql)}`;
  const refused = new Set(suspended.map(({ id }) => id));
  return readStandings(
    sql,
    userIds.filter((id) => !refused.has(id)),
    nowMs,
  );
}

/** Whether the person of this account is suspended. False where there is no such account. */
export async function isSuspendedPerson(sql: Queries, userId: UserId): Promise<boolean> {
  const rows = await sql`select 1 from account a where a.id = ${userId} and ${isPersonSuspended(sql)}`;
  return rows.length > 0;
}

/** Every account of the persons that these accounts belong to: whom a `person.changed` has to name. */
export async function readLinked(sql: Queries, userIds: readonly UserId[]): Promise<UserId[]> {
  const rows = await sql<{ id: UserId }[]>`
    select p.id from account p where p.person_id in (select a.person_id from account a where a.id = any(${[...userIds]}))`;
  return rows.map(({ id }) => id);
}

/** Makes changes of what a person has wait for each other until the transaction ends. */
export async function lockPerson(tx: Queries, userId: UserId): Promise<void> {
  await tx`
    select 1 from account p where p.person_id = (select a.person_id from account a where a.id = ${userId}) order by p.id for update of p`;
}

/** The proved addresses of a person in lowercase, each with the account that it belongs to. */
export async function readProvedEmails(sql: Queries, accounts: readonly UserId[]): Promise<ReadonlyMap<string, UserId>> {
  const rows = await sql<{ id: UserId; email: string }[]>`
    select id, lower(email) as email from account where id = any(${accounts as UserId[]}) and email is not null`;
  return new Map(rows.map(({ id, email }) => [email, id]));
}

/** The account that has proved this address; the one of the longest standing where linked ones share it. */
export async function findByProvedEmail(sql: Queries, email: string): Promise<UserId | null> {
  const [row] = await sql<{ id: UserId }[]>`
    select id from account where lower(email) = ${email} order by created_at_ms, id limit 1`;
  return row?.id ?? null;
}

/** The language that the account with this proved address asks for. */
export async function readLocale(sql: Queries, email: string): Promise<unknown> {
  const [row] = await sql<{ locale: unknown }[]>`
    select metadata -> 'locale' as locale from account where lower(email) = ${email} order by created_at_ms, id limit 1`;
  return row?.locale;
}
