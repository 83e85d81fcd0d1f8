/** That administrators stay administrators while they change something, and that one remains. */
import type { Principal, UserPrincipal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import { isPersonSuspended } from '../../people/persons/rows.ts';

/** Throws ADMIN_REQUIRED. The access rule admits only people, which the type of a call does not say. */
export function adminOf(principal: Principal): UserPrincipal {
  if (principal.kind !== 'user') throw new Failure('ADMIN_REQUIRED');
  return principal;
}

/**
 * Changes of who administers, and deletions of people, wait for each other until the transaction ends, so that two of them cannot remove the
 * last two administrators.
 */
export async function lockAdministration(tx: Queries): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('administrators', 0))`;
}

/** The same for a call. Throws ADMIN_REQUIRED where the caller was removed or suspended since the call was admitted. */
export async function lockAdmins(tx: Queries, caller: UserId): Promise<void> {
  await lockAdministration(tx);
  const [row] = await tx<{ isAdmin: boolean }[]>`
    select exists (select from account p where p.person_id = a.person_id and p.is_admin) and not ${isPersonSuspended(tx)} as "isAdmin"
    from account a where a.id = ${caller}`;
  if (row?.isAdmin !== true) throw new Failure('ADMIN_REQUIRED');
}

/** Throws LAST_ADMIN where nobody who can sign in would administer the installation any more. Ask after the change, in its transaction. */
export async function requireAnAdmin(tx: Queries, without: readonly UserId[] = []): Promise<void> {
  const rows = await tx`
    select 1 from account a
    where a.is_admin and not ${isPersonSuspended(tx)} and a.id <> all(${without as UserId[]}::text[]) limit 1`;
  if (rows.length === 0) throw new Failure('LAST_ADMIN');
}
