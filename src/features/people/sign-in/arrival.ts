/** Somebody has proved who they are: finds their account, or makes one and joins it to the person who has proved the same address. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type UserId } from '../../../../protocol/core/ids.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import { maySignUp } from '../../business/instance/settings-rows.ts';
import type { Queries } from '../../deps.ts';
import { type Claimed, claimCollaborations } from '../../sharing/collaborators/claims.ts';
import { insertAccount } from '../accounts/rows.ts';
import { findByProvedEmail, findSignIn, forgetPendingPasswords, insertSignIn, lockName, updateSignIn, writeEmail } from './rows.ts';

export interface Proof {
  /** `EMAIL`, or the id of an identity provider. */
  readonly provider: string;
  /** Empty for an e-mail address. */
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  /** By a code of ours, or verified as the provider says. An address that is not proved never links anything. */
  readonly isProved: boolean;
  readonly name: string | null;
}

export interface Arrival {
  readonly userId: UserId;
  readonly isNew: boolean;
  /** The account of the same person that has proved the address before; the person has changed then. */
  readonly joins: UserId | null;
  /** What had waited for the proved address. */
  readonly claimed: readonly Claimed[];
}

export async function arrive(
  tx: Queries,
  proof: Proof,
  { tier, nowMs }: { readonly tier: Tier; readonly nowMs: number },
): Promise<Arrival> {
  const proved = proof.isProved ? proof.email : null;
  const names = [`${proof.issuer} ${proof.subject}`, ...(proved === null ? [] : [proved])];
  for (const name of names.sort()) await lockName(tx, name);
  if (proved !== null) await forgetPendingPasswords(tx, proved);
  const known = await findSignIn(tx, proof.issuer, proof.subject);
  const userId = known ?? newId('user');
  if (known === null) {
    if (!(await maySignUp(tx, proved, nowMs))) throw new Failure('SWITCHED_OFF');
    await insertAccount(tx, { id: userId, personId: newId('person'), tier, isAdmin: false, nowMs, name: proof.name });
    await insertSignIn(tx, { ...proof, accountId: userId, nowMs });
  } else await updateSignIn(tx, { ...proof, accountId: userId, nowMs });
  if (proved !== null) await writeEmail(tx, userId, proved);
  const joins = known === null && proved !== null ? await findByProvedEmail(tx, proved, userId) : null;
  const claimed = proved === null ? [] : await claimCollaborations(tx, userId, proved.toLowerCase(), nowMs);
  return { userId, isNew: known === null, joins, claimed };
}

export function emailProof(email: string, provider: string, name: string | null = null): Proof {
  return { provider, issuer: '', subject: email, email, isProved: true, name };
}
