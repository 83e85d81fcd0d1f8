/** The SQL of trials: a workspace has one, and so has a person, whatever accounts and addresses they come with. */
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Statement } from '../../../storage/sql.ts';
import type { Queries } from '../../deps.ts';

/** What these persons are recognised by, as digests. */
function holdersOf(sql: Queries, personIds: Statement) {
  return sql`
    select sha256(convert_to(h.name, 'UTF8')) as holder from account a left join sign_in s on s.account_id = a.id
    cross join lateral (values
      ('account ' || a.id),
      ('address ' || lower(a.email)),
      ('sign-in ' || s.issuer || ' ' || s.subject)
    ) as h (name)
    where a.person_id in (${personIds}) and h.name is not null`;
}

/**
 * Whether the trial is had with this operation: neither the workspace nor whoever asks, nor the member who has made it, has had one. A repetition
 * has it again. It counts as the trial of both, so that nobody begins trials in the workspaces of one person under other names.
 */
export async function takeTrial(tx: Queries, workspaceId: WorkspaceId, userId: UserId, operationId: string): Promise<boolean> {
  const persons = () => tx`
    select p.person_id from account p
    where p.id = ${userId} or p.id = (
      -- Not an administrator of the instance, who makes workspaces for others.
      select w.created_by from workspace w join workspace_member m on m.workspace_id = w.id and m.user_id = w.created_by
      where w.id = ${workspaceId})`;
  await tx`insert into billing_trial (workspace_id, operation_id) values (${workspaceId}, ${operationId}) on conflict do nothing`;
  // In one order, so that two at once wait for each other instead of locking each other out.
  await tx`
    insert into billing_trial_holder (holder, operation_id)
    select distinct h.holder, ${operationId}::text from (${holdersOf(tx, persons())}) h order by h.holder on conflict do nothing`;
  const [had] = await tx`
    select 1 from billing_trial_holder t where t.operation_id <> ${operationId} and t.holder in (${holdersOf(tx, persons())})
    union all select 1 from billing_trial where workspace_id = ${workspaceId} and operation_id <> ${operationId} limit 1`;
  if (had === undefined) return true;
  await giveTrialBack(tx, operationId);
  return false;
}

/** Where the provider has refused the subscription. */
export async function giveTrialBack(tx: Queries, operationId: string): Promise<void> {
  await tx`delete from billing_trial where operation_id = ${operationId}`;
  await tx`delete from billing_trial_holder where operation_id = ${operationId}`;
}

/** After an account was linked, and before one leaves its person: all have had the trial that the person has had. */
export async function spreadTrial(tx: Queries, userId: UserId): Promise<void> {
  const person = tx`select p.person_id from account p where p.id = ${userId}`;
  await tx`
    with holder as (select distinct h.holder from (${holdersOf(tx, person)}) h),
      had as (select min(t.operation_id) as operation_id from billing_trial_holder t join holder using (holder))
    insert into billing_trial_holder (holder, operation_id)
    select holder.holder, had.operation_id from holder, had where had.operation_id is not null order by 1 on conflict do nothing`;
}
