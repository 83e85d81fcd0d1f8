/** The SQL of `notice`. */
import type { ArtifactId, NoticeId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Statement } from '../../../storage/sql.ts';
import { isSeen, type Viewer } from '../../artifacts/artifacts/lists.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';

export interface NoticeRow {
  readonly id: NoticeId;
  readonly kind: string;
  readonly title: string;
  readonly body: string;
  readonly artifact_id: ArtifactId | null;
  readonly url: string | null;
  readonly created_at_ms: number;
  readonly read_at_ms: number | null;
}

/** Whose notices, and from when on. */
export interface Bell {
  readonly viewer: Viewer;
  readonly sinceMs: number;
  readonly unread: boolean;
}

/** Whether notice `n` is shown: not where its artifact is in the trash, or is not seen any more. */
function isShown(sql: Queries, { viewer, sinceMs, unread }: Bell): Statement {
  return sql`
    n.user_id = any(${viewer.accounts as UserId[]}) and n.created_at_ms > ${sinceMs} ${unread ? sql`and n.read_at_ms is null` : sql``}
    and (n.artifact_id is null or exists (
      select from artifact a where a.id = n.artifact_id and a.deleted_at_ms is null and ${isSeen(sql, viewer)}))`;
}

/** Newest first. */
export function listNotices(sql: Queries, bell: Bell, after: PageKey, rowsMax: number): Promise<NoticeRow[]> {
  return sql<NoticeRow[]>`
    select n.id, n.kind, n.title, n.body, n.artifact_id, n.url, n.created_at_ms, n.read_at_ms from notice n
    where ${isShown(sql, bell)} and n.created_at_ms <= ${after.number} and (n.created_at_ms < ${after.number} or n.id > ${after.id})
    order by n.created_at_ms desc, n.id limit ${rowsMax}`;
}

export async function countNotices(sql: Queries, bell: Bell): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from notice n where ${isShown(sql, bell)}`;
  return row?.total ?? 0;
}

/** Answers how many were unread. `ids`: null for all. */
export async function markRead(tx: Queries, accounts: Accounts, ids: readonly NoticeId[] | null, nowMs: number): Promise<number> {
  const isMeant = ids === null ? tx`true` : tx`id = any(${[...ids]})`;
  const marked = await tx`
    update notice set read_at_ms = ${nowMs} where user_id = any(${accounts as UserId[]}) and read_at_ms is null and ${isMeant}`;
  return marked.count;
}

/** What differs as soon as an account gets a notice or reads one. */
export async function readMarks(sql: Queries, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
  const rows = await sql<{ user_id: UserId; mark: string }[]>`
    select u.id as user_id, concat(count(n.id), ' ', max(n.created_at_ms)) as mark
    from unnest(${userIds as UserId[]}::text[]) as u (id) left join notice n on n.user_id = u.id and n.read_at_ms is null
    group by u.id`;
  return new Map(rows.map(({ user_id, mark }) => [user_id, mark]));
}

/** Answers how many it has removed. */
export async function deleteOldNotices(sql: Queries, createdBeforeMs: number): Promise<number> {
  return (await sql`delete from notice where created_at_ms <= ${createdBeforeMs}`).count;
}

interface Addressed {
  readonly email: string;
  readonly own_locale: unknown;
  readonly workspace_id: WorkspaceId | null;
  readonly workspace_locale: string | null;
}

/** Where the account gets mail about the artifact; none where it has no proved address. */
export function listAddressed(sql: Queries, userId: UserId, artifactId: ArtifactId | null) {
  return sql<Addressed[]>`
    select a.email, a.metadata -> 'locale' as own_locale, w.id as workspace_id, w.locale as workspace_locale
    from account a left join artifact r on r.id = ${artifactId} left join workspace w on w.id = r.workspace_id
    where a.id = ${userId} and a.email is not null`;
}
