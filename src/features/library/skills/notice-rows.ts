/** The SQL of who is told about proposed changes. */
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Queries } from '../../deps.ts';
import type { SkillRow } from './rows.ts';

/** An account, and the languages of its notices. */
export interface Told {
  readonly user_id: UserId;
  readonly own_locale: unknown;
  readonly workspace_locale: string | null;
}

/**
 * One account of each person who may approve, the owner of the skill first, then those who run the workspace, the oldest members first. The
 * owner is none of them where the publish policy lets only those who run the workspace put versions live. `author`: told nothing.
 */
export function listApprovers(
  tx: Queries,
  { workspace_id, owner_id }: Pick<SkillRow, 'workspace_id' | 'owner_id'>,
  author: UserId | null,
): Promise<Told[]> {
  return tx<Told[]>`
    select one.user_id, one.own_locale, one.workspace_locale from (
      select distinct on (a.person_id) a.id as user_id, a.metadata -> 'locale' as own_locale, w.locale as workspace_locale,
        o.person_id is not null as is_owner, m.joined_at_ms
      from workspace_member m join account a on a.id = m.user_id join workspace w on w.id = m.workspace_id
        left join account o on o.id = ${owner_id} and o.person_id = a.person_id
        left join publish_policy p on p.workspace_id = m.workspace_id
      where m.workspace_id = ${workspace_id}
        and (m.role in ('owner', 'admin') or (o.id is not null and coalesce(p.policy, 'allow') = 'allow'))
        and a.person_id is distinct from (select b.person_id from account b where b.id = ${author})
      order by a.person_id, m.joined_at_ms, a.id
    ) one order by one.is_owner desc, one.joined_at_ms, one.user_id limit ${LIMITS.skillApproversToldMax}::int`;
}

/** The account, or nobody where it is gone. */
export function toldAccount(tx: Queries, userId: UserId, workspaceId: WorkspaceId | null): Promise<Told[]> {
  return tx<Told[]>`
    select a.id as user_id, a.metadata -> 'locale' as own_locale, w.locale as workspace_locale
    from account a left join workspace w on w.id = ${workspaceId} where a.id = ${userId}`;
}
