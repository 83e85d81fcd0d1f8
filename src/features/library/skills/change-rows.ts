/** The SQL of `skill_change`. */
import { newId, type SkillChangeId, type SkillId, type UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';

export type ChangeStatus = 'open' | 'merged' | 'rejected' | 'withdrawn';

export interface ListedChangeRow {
  readonly id: SkillChangeId;
  readonly skill_id: SkillId;
  readonly title: string;
  readonly note: string;
  readonly base_version_no: number;
  readonly status: ChangeStatus;
  readonly author_id: UserId | null;
  readonly author_name: string | null;
  readonly created_at_ms: number;
  readonly decided_at_ms: number | null;
  readonly version_no: number | null;
}

export interface ChangeRow extends ListedChangeRow {
  readonly markdown: string;
  readonly base_markdown: string;
}

/** From change `c` and its author `u`. */
function changeColumns(sql: Queries) {
  return sql`
    c.id, c.skill_id, c.title, c.note, c.base_version_no, c.status, c.author_id,
    coalesce(nullif(u.name, ''), u.username, u.email) as author_name, c.created_at_ms, c.decided_at_ms, c.version_no`;
}

/** Newest first. `status`: undefined for any. */
export function listChanges(sql: Queries, skillId: SkillId, status: ChangeStatus | undefined, after: PageKey, rowsMax: number) {
  return sql<ListedChangeRow[]>`
    select ${changeColumns(sql)} from skill_change c left join account u on u.id = c.author_id
    where c.skill_id = ${skillId} ${status === undefined ? sql`` : sql`and c.status = ${status}`}
      and (c.created_at_ms, c.id) < (${after.number}, ${after.id})
    order by c.created_at_ms desc, c.id desc limit ${rowsMax}`;
}

export async function countChanges(sql: Queries, skillId: SkillId, status: ChangeStatus | undefined): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from skill_change c
    where c.skill_id = ${skillId} ${status === undefined ? sql`` : sql`and c.status = ${status}`}`;
  return row?.total ?? 0;
}

export async function readChange(sql: Queries, skillId: SkillId, id: SkillChangeId): Promise<ChangeRow | null> {
  const [row] = await sql<ChangeRow[]>`
    select ${changeColumns(sql)}, c.markdown, c.base_markdown from skill_change c left join account u on u.id = c.author_id
    where c.id = ${id} and c.skill_id = ${skillId}`;
  return row ?? null;
}

/** Proposals to one skill, and decisions on one, wait for each other until the transaction ends. */
export async function lockSkill(tx: Queries, id: SkillId): Promise<void> {
  await tx`select 1 from skill where id = ${id} for update`;
}

/** Open ones: of all, and of a person with these accounts. */
export async function countOpen(tx: Queries, skillId: SkillId, accounts: Accounts) {
  const [row] = await tx<{ total: number; own: number }[]>`
    select count(*)::int as total, (count(*) filter (where author_id = any(${accounts as UserId[]})))::int as own
    from skill_change where skill_id = ${skillId} and status = 'open'`;
  return row ?? { total: 0, own: 0 };
}

export interface NewChange {
  readonly skillId: SkillId;
  readonly title: string;
  readonly note: string;
  readonly markdown: string;
  readonly baseVersionNo: number;
  readonly baseMarkdown: string;
  readonly authorId: UserId;
  readonly nowMs: number;
}

export async function insertChange(tx: Queries, change: NewChange): Promise<SkillChangeId> {
  const id = newId('skillChange');
  await tx`
    insert into skill_change (id, skill_id, title, note, markdown, base_version_no, base_markdown, status, author_id, created_at_ms)
    values (${id}, ${change.skillId}, ${change.title}, ${change.note}, ${change.markdown}, ${change.baseVersionNo}, ${change.baseMarkdown},
      'open', ${change.authorId}, ${change.nowMs})`;
  return id;
}

export interface Decision {
  readonly status: Exclude<ChangeStatus, 'open'>;
  /** That a merge has published. */
  readonly versionNo: number | null;
  readonly nowMs: number;
}

export async function decideChange(tx: Queries, id: SkillChangeId, { status, versionNo, nowMs }: Decision): Promise<void> {
  await tx`update skill_change set status = ${status}, version_no = ${versionNo}, decided_at_ms = ${nowMs} where id = ${id}`;
}

/** Of the decided ones, those beyond the newest. */
export async function forgetOldChanges(tx: Queries, skillId: SkillId): Promise<void> {
  await tx`
    delete from skill_change where id in (
      select id from skill_change where skill_id = ${skillId} and status <> 'open'
      order by decided_at_ms desc, id desc offset ${LIMITS.skillChangesKeptMax}::int)`;
}
