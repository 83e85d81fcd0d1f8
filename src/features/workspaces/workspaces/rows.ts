/** The SQL of `workspace`. */
import type { WorkspaceRole } from '../../../../protocol/core/endpoint.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ArtifactId, newId, type TokenId, type UserId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { Feature } from '../../../../protocol/workspaces/features.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';

export interface FeatureFlag {
  readonly enabled: boolean;
  readonly source: 'workspace' | 'instance';
}

export interface WorkspaceRow {
  readonly id: WorkspaceId;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly locale: 'en' | 'es';
  readonly accent_color: string | null;
  readonly hide_footer: boolean;
  readonly logo: string | null;
  readonly plan_tier: Tier;
  readonly plan_status: 'trialing' | 'active' | 'past_due' | 'canceled' | 'incomplete';
  readonly allowed_domains: readonly string[];
  readonly allowed_emails: readonly string[];
  readonly auto_join: boolean;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly flags: Readonly<Partial<Record<Feature, FeatureFlag>>>;
}

/** The columns of a `WorkspaceRow`, from workspace `w`. */
function workspaceColumns(sql: Queries) {
  return sql`
    w.id, w.slug, w.name, w.description, w.locale, w.accent_color, w.hide_footer, w.logo, w.plan_tier, w.plan_status,
    w.allowed_domains, w.allowed_emails, w.auto_join, w.created_at_ms, w.updated_at_ms,
    coalesce((
      select json_object_agg(f.name, json_build_object('enabled', f.enabled, 'source', f.source))
      from workspace_feature f where f.workspace_id = w.id
    ), '{}') as flags`;
}

/** One workspace that is not deleted, by its id or slug. */
export async function readWorkspaceByRef(sql: Queries, ref: string): Promise<WorkspaceRow | null> {
  const [row] = await sql<WorkspaceRow[]>`
    select ${workspaceColumns(sql)} from workspace w where (w.id = ${ref} or w.slug = ${ref}) and w.deleted_at_ms is null`;
  return row ?? null;
}

/** Makes changes of a workspace and its members wait for each other until the transaction ends. Throws WORKSPACE_NOT_FOUND where it is deleted. */
export async function lockWorkspace(tx: Queries, id: WorkspaceId): Promise<WorkspaceRow> {
  await tx`select 1 from workspace where id = ${id} for update`;
  // In a statement of its own, which sees what the last writer left.
  const row = await readWorkspaceByRef(tx, id);
  if (row === null) throw new Failure('WORKSPACE_NOT_FOUND');
  return row;
}

export interface NewWorkspace {
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly locale: 'en' | 'es';
  readonly tier: Tier;
  readonly createdBy: UserId;
  readonly nowMs: number;
}

/** Null where the slug is taken. */
export async function insertWorkspace(tx: Queries, spec: NewWorkspace): Promise<WorkspaceId | null> {
  const id = newId('workspace');
  const rows = await tx`
    insert into workspace (id, slug, name, description, locale, plan_tier, created_by, created_at_ms, updated_at_ms)
    values (${id}, ${spec.slug}, ${spec.name}, ${spec.description}, ${spec.locale}, ${spec.tier}, ${spec.createdBy}, ${spec.nowMs},
      ${spec.nowMs})
    on conflict (slug) where deleted_at_ms is null do nothing
    returning id`;
  return rows.length === 0 ? null : id;
}

export async function isSlugTaken(sql: Queries, slug: string): Promise<boolean> {
  const [row] = await sql`select 1 from workspace where slug = ${slug} and deleted_at_ms is null`;
  return row !== undefined;
}

export type WorkspaceFields = Pick<WorkspaceRow, 'name' | 'slug' | 'description' | 'locale' | 'accent_color' | 'hide_footer' | 'logo'>;

export async function writeWorkspace(tx: Queries, id: WorkspaceId, next: WorkspaceFields, atMs: number): Promise<void> {
  await tx`
    update workspace set name = ${next.name}, slug = ${next.slug}, description = ${next.description}, locale = ${next.locale},
      accent_color = ${next.accent_color}, hide_footer = ${next.hide_footer}, logo = ${next.logo}, updated_at_ms = ${atMs}
    where id = ${id}`;
}

export interface ShownWorkspace extends WorkspaceRow {
  /** The best role of the caller's accounts; null where none is a member. */
  readonly role: WorkspaceRole | null;
  readonly owner_id: UserId | null;
  readonly member_count: number;
  /** When the first of the caller's accounts joined. */
  readonly joined_at_ms: number;
}

function shownColumns(sql: Queries, accounts: Accounts) {
  return sql`
    ${workspaceColumns(sql)}, mine.role, coalesce(mine.joined_at_ms, 0) as joined_at_ms,
    (select o.user_id from workspace_member o where o.workspace_id = w.id and o.role = 'owner' order by o.joined_at_ms, o.user_id limit 1)
      as owner_id,
    (select count(*)::int from workspace_member c where c.workspace_id = w.id) as member_count
    from workspace w left join lateral (
      select (array_agg(m.role order by array_position(array['owner', 'admin', 'member'], m.role)))[1] as role,
        min(m.joined_at_ms) as joined_at_ms
      from workspace_member m where m.workspace_id = w.id and m.user_id = any(${accounts as UserId[]})
    ) mine on true`;
}

/** As a person sees it. Throws WORKSPACE_NOT_FOUND where it is deleted. */
export async function showWorkspace(sql: Queries, id: WorkspaceId, accounts: Accounts): Promise<ShownWorkspace> {
  const [row] = await sql<ShownWorkspace[]>`select ${shownColumns(sql, accounts)} where w.id = ${id} and w.deleted_at_ms is null`;
  if (row === undefined) throw new Failure('WORKSPACE_NOT_FOUND');
  return row;
}

/** The newest membership first. */
export function listWorkspaces(sql: Queries, accounts: Accounts, after: PageKey, rowsMax: number): Promise<ShownWorkspace[]> {
  return sql<ShownWorkspace[]>`
    select ${shownColumns(sql, accounts)}
    where w.deleted_at_ms is null and w.id in (select workspace_id from workspace_member where user_id = any(${accounts as UserId[]}))
      and (mine.joined_at_ms < ${after.number} or (mine.joined_at_ms = ${after.number} and w.id > ${after.id}))
    order by mine.joined_at_ms desc, w.id limit ${rowsMax}`;
}

/** How many workspaces a person belongs to, and how many of these they own. */
export async function countWorkspaces(sql: Queries, accounts: Accounts): Promise<{ readonly all: number; readonly owned: number }> {
  const [row] = await sql<{ all: number; owned: number }[]>`
    select count(distinct w.id)::int as all, count(distinct w.id) filter (where m.role = 'owner')::int as owned
    from workspace_member m join workspace w on w.id = m.workspace_id
    where m.user_id = any(${accounts as UserId[]}) and w.deleted_at_ms is null`;
  return row ?? { all: 0, owned: 0 };
}

export interface OwnWorkspace {
  readonly id: WorkspaceId;
  readonly name: string;
  readonly slug: string;
  readonly role: WorkspaceRole;
  readonly billing_manager: boolean;
}

/** The workspaces of a person, with the best role of the linked accounts and whether any of them manages what is paid, by name. */
export function listOwnWorkspaces(sql: Queries, accounts: Accounts): Promise<OwnWorkspace[]> {
  return sql<OwnWorkspace[]>`
    select w.id, w.name, w.slug, m.role, m.billing_manager
    from (
      select workspace_id, (array_agg(role order by array_position(array['owner', 'admin', 'member'], role)))[1] as role,
        bool_or(billing_manager) as billing_manager
      from workspace_member where user_id = any(${accounts as UserId[]}) group by workspace_id
    ) m join workspace w on w.id = m.workspace_id
    where w.deleted_at_ms is null
    order by w.name, w.id`;
}

export interface TrashedArtifact {
  readonly id: ArtifactId;
  readonly slug: string;
}

/**
 * Takes every artifact out of a workspace that ends, and trashes those that are live: they stay with their owners, and what the workspace owned
 * becomes `heir`'s. What only its members saw is private then.
 */
export async function releaseArtifacts(tx: Queries, id: WorkspaceId, heir: UserId, nowMs: number): Promise<TrashedArtifact[]> {
  const rows = await tx<(TrashedArtifact & { was_live: boolean })[]>`
    with before as (select id, deleted_at_ms is null as was_live from artifact where workspace_id = ${id} order by id for update)
    update artifact a set
      workspace_id = null, folder_id = null, owner_id = coalesce(a.owner_id, ${heir}),
      visibility = case when a.visibility = 'workspace' then 'private' else a.visibility end,
      deleted_at_ms = coalesce(a.deleted_at_ms, ${nowMs}), updated_at_ms = greatest(${nowMs}, a.updated_at_ms + 1)
    from before where a.id = before.id
    returning a.id, a.slug, before.was_live`;
  return rows.filter(({ was_live }) => was_live);
}

export async function deleteWorkspace(tx: Queries, id: WorkspaceId, nowMs: number): Promise<void> {
  await tx`delete from workspace_member where workspace_id = ${id}`;
  await tx`
    update workspace_invite set revoked_at_ms = ${nowMs} where workspace_id = ${id} and accepted_at_ms is null and revoked_at_ms is null`;
  await tx`update workspace set deleted_at_ms = ${nowMs}, updated_at_ms = ${nowMs} where id = ${id}`;
}

/** Answers what the tokens that it has revoked are known by. */
export async function revokeAgentTokens(
  tx: Queries,
  id: WorkspaceId,
  nowMs: number,
): Promise<{ readonly id: TokenId; readonly token_sha256: Buffer }[]> {
  return tx<{ id: TokenId; token_sha256: Buffer }[]>`
    update agent_token t set revoked_at_ms = ${nowMs} from service_principal p
    where p.id = t.principal_id and p.workspace_id = ${id} and t.revoked_at_ms is null
    returning t.id, t.token_sha256`;
}
