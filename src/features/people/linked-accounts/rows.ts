/** The SQL of linked accounts: those with the same `person_id`. */
import { newId, type UserId } from '../../../../protocol/core/ids.ts';
import { spreadTrial } from '../../business/billing/trial-rows.ts';
import type { Queries } from '../../deps.ts';
import { readLinked } from '../persons/rows.ts';
import { lockName } from '../sign-in/rows.ts';

/** Links and unlinks happen one after the other, so that two at once cannot leave somebody without a sign-in or half linked. */
export async function lockPeople(tx: Queries): Promise<void> {
  await lockName(tx, 'people');
}

/** Gives the person of `joining` all accounts of the person of `into`. Answers the accounts of the one person that they are now. */
export async function joinPeople(tx: Queries, into: UserId, joining: UserId): Promise<readonly UserId[]> {
  await tx`
    update account set person_id = (select person_id from account where id = ${into})
    where person_id = (select person_id from account where id = ${joining})`;
  return readLinked(tx, [into]);
}

/** The account becomes a person of its own. */
export async function leavePerson(tx: Queries, userId: UserId): Promise<void> {
  await spreadTrial(tx, userId);
  await tx`update account set person_id = ${newId('person')} where id = ${userId}`;
}

export interface LinkedRow {
  readonly id: UserId;
  /** Null for an account that only has tokens. */
  readonly provider: string | null;
  readonly email: string | null;
  readonly linked_at_ms: number;
}

/** These accounts with their sign-ins, the oldest first. */
export function listLinked(sql: Queries, accounts: readonly UserId[]) {
  return sql<LinkedRow[]>`
    select a.id, s.provider, s.email, coalesce(s.linked_at_ms, a.created_at_ms) as linked_at_ms
    from account a left join sign_in s on s.account_id = a.id
    where a.id = any(${[...accounts]}::text[]) order by a.created_at_ms, a.id`;
}
