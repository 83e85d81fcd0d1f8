/** The endpoints of linked accounts, and of linking an address with a code by mail. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import type { Handlers } from '../../../edge/call.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { spreadTrial } from '../../business/billing/trial-rows.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { type Claimed, tellClaimed } from '../../sharing/collaborators/claims.ts';
import { accountsOf } from '../accounts/rules.ts';
import { readLinked } from '../persons/rows.ts';
import { emailProof } from '../sign-in/arrival.ts';
import type { Attempts } from '../sign-in/attempts.ts';
import { mailCode } from '../sign-in/code-mail.ts';
import { useCode } from '../sign-in/codes.ts';
import type { People } from '../sign-in/people.ts';
import { EMAIL, findSignIn, insertSignIn } from '../sign-in/rows.ts';
import { requireSession } from '../sign-in/rules.ts';
import { joinPeople, leavePerson, listLinked, lockPeople } from './rows.ts';
import { requireRoomToLink, requireUnlinkable } from './rules.ts';

type Ids = 'linkedAccounts.list' | 'linkedAccounts.unlink' | 'linkedAccounts.emailStart' | 'linkedAccounts.emailVerify';

export interface LinkedAccountDeps extends Pick<ServiceDeps, 'sql' | 'config' | 'bus' | 'log'> {
  readonly people: People;
  readonly attempts: Attempts;
  /** Woken after mail is queued. */
  readonly mail: { wake(): void };
}

export function linkedAccountHandlers(deps: LinkedAccountDeps): Handlers<Ids> {
  const { sql, attempts } = deps;
  return {
    'linkedAccounts.list': async ({ principal, user }) => {
      const rows = await listLinked(sql, accountsOf(principal));
      const accounts = rows.map(({ id, provider, email, linked_at_ms }) => ({
        ...{ id, provider, email },
        ...{ linked_at: dateTime(linked_at_ms), primary: id === user },
      }));
      return { reply: 'ok', body: { accounts } };
    },
    'linkedAccounts.unlink': async ({ principal, user, params }) => {
      requireSession(principal);
      await unlink(deps, user, params.userId);
      return { reply: 'ok', body: { success: true } };
    },
    'linkedAccounts.emailStart': async ({ principal, user, body: { email }, address, acceptLanguage, nowMs }) => {
      // An account that only has tokens has nothing better to show than one of them.
      if (await maySignIn(sql, accountsOf(principal))) requireSession(principal);
      await attempts.mail({ email, address });
      await sql.begin((tx) => mailCode(tx, deps.config, { what: linkCodeOf(email, user), languages: acceptLanguage, nowMs }));
      deps.mail.wake();
      return { reply: 'ok', body: { ok: true } };
    },
    'linkedAccounts.emailVerify': async ({ principal, user, body: { email, code }, address, nowMs }) => {
      if (await maySignIn(sql, accountsOf(principal))) requireSession(principal);
      await attempts.code({ email, address });
      const changed = await sql.begin(async (tx) => {
        const found = await useCode(tx, linkCodeOf(email, user), code, nowMs);
        return found === null ? null : await linkEmail(deps, tx, user, email, nowMs);
      });
      // Thrown after the transaction: a rollback would give the spent attempt back.
      if (changed === null) throw new Failure('CODE_INVALID', { param: 'code' });
      tellLinked(deps, user, changed);
      return { reply: 'ok', body: { success: true, email } };
    },
  };
}

function linkCodeOf(email: string, accountId: UserId) {
  return { email, purpose: 'link', accountId } as const;
}

async function maySignIn(sql: Queries, accounts: readonly UserId[]): Promise<boolean> {
  return (await listLinked(sql, accounts)).some(({ provider }) => provider !== null);
}

/** An account without a sign-in gets the address as its own, unless another account has it: then both are one person. */
async function linkEmail({ people }: LinkedAccountDeps, tx: Queries, user: UserId, email: string, nowMs: number): Promise<Linked> {
  const isFree = (await findSignIn(tx, '', email)) === null;
  const [own] = await listLinked(tx, [user]);
  if (isFree && own?.provider === null) {
    await insertSignIn(tx, { accountId: user, provider: EMAIL, issuer: '', subject: email, email, isProved: true, nowMs });
  }
  return linkArrived(tx, user, await people.arrive(tx, emailProof(email, EMAIL)));
}

/** What a link has changed, to be told after the commit. */
export interface Linked {
  /** All accounts of the person. */
  readonly accounts: readonly UserId[];
  readonly claimed: readonly Claimed[];
}

/** Makes one person of the caller and of whoever has just proved something. Throws what `linkPeople` throws. */
export async function linkArrived(
  tx: Queries,
  user: UserId,
  { userId, claimed }: { readonly userId: UserId; readonly claimed: readonly Claimed[] },
): Promise<Linked> {
  const accounts = await linkPeople(tx, user, userId);
  await spreadTrial(tx, user);
  return { accounts, claimed };
}

/** Makes one person of two. Answers all accounts of that person. Throws INVALID_REQUEST where they would be too many. */
async function linkPeople(tx: Queries, user: UserId, other: UserId): Promise<readonly UserId[]> {
  await lockPeople(tx);
  const mine = await readLinked(tx, [user]);
  if (mine.includes(other)) return mine;
  requireRoomToLink(mine.length + (await readLinked(tx, [other])).length);
  return joinPeople(tx, user, other);
}

/** Call it after the commit. */
export function tellLinked({ bus, log }: Pick<LinkedAccountDeps, 'bus' | 'log'>, user: UserId, { accounts, claimed }: Linked): void {
  for (const userId of accounts) bus.tell({ kind: 'account.changed', userId });
  bus.tell({ kind: 'person.changed', userIds: accounts });
  tellClaimed(bus, claimed);
  log.info({ userId: user, accounts }, 'linked a sign-in');
}

async function unlink({ sql, bus, log }: LinkedAccountDeps, user: UserId, leaving: UserId): Promise<void> {
  const accounts = await sql.begin(async (tx) => {
    await lockPeople(tx);
    const all = await readLinked(tx, [user]);
    requireUnlinkable(await listLinked(tx, all), leaving);
    await leavePerson(tx, leaving);
    return all;
  });
  bus.tell({ kind: 'person.changed', userIds: accounts });
  log.info({ userId: user, unlinked: leaving }, 'unlinked an account');
}
