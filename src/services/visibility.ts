/** Who may see an artifact: what a requested change comes to. */
import { hash } from '@node-rs/argon2';
import { Failure } from '../../protocol/errors.ts';
import type { Tier } from '../../protocol/schemas/account.ts';
import type { Visibility } from '../../protocol/schemas/artifact.ts';
import { mayPublishPublicly } from './accounts.ts';

export interface VisibilityChange {
  readonly visibility: Visibility;
  /** A hash to store, null to forget the one there is, undefined to leave it. */
  readonly passwordHash: string | null | undefined;
  readonly held: boolean;
}

interface VisibilityWish {
  readonly requested: Visibility | undefined;
  /** The hash of the password sent with it. */
  readonly newPasswordHash: string | undefined;
  readonly current: Visibility;
  readonly hasPassword: boolean;
  /** Of the caller. */
  readonly tier: Tier;
}

/** Argon2id with the library's defaults. Slow on purpose: keep it out of transactions. */
export async function hashPassword(password: string | undefined): Promise<string | undefined> {
  return password === undefined ? undefined : hash(password);
}

/** Throws INVALID_REQUEST for a wish that cannot be. `public` without a paid tier is held: the visibility stays as it is. */
export function decideVisibility(wish: VisibilityWish): VisibilityChange {
  const { current, requested = current } = wish;
  if (requested === 'workspace') {
    throw new Failure('INVALID_REQUEST', {
      param: 'workspace_id',
      message: 'workspace_id: visibility "workspace" needs an artifact of a workspace.',
      hint: 'Use "private", or move the artifact to a workspace first.',
    });
  }
  if (requested !== 'password' && wish.newPasswordHash !== undefined) {
    throw new Failure('INVALID_REQUEST', { param: 'password', message: 'password: goes with visibility "password" only.' });
  }
  if (requested === 'password' && wish.newPasswordHash === undefined && !wish.hasPassword) {
    throw new Failure('INVALID_REQUEST', {
      param: 'password',
      message: 'password: is needed with visibility "password".',
      hint: 'Send a password of 8 to 200 characters.',
    });
  }
  if (requested === 'public' && current !== 'public' && !mayPublishPublicly(wish.tier)) {
    return { visibility: current, passwordHash: undefined, held: true };
  }
  if (requested === 'password') return { visibility: requested, passwordHash: wish.newPasswordHash, held: false };
  return { visibility: requested, passwordHash: null, held: false };
}

/** What a reply says beside everything else when `public` was held. */
export function heldNotice(inForce: Visibility) {
  return {
    code: 'VISIBILITY_HELD' as const,
    notice: `Public artifacts need a paid plan. Everything else was applied; the visibility stays "${inForce}".`,
    visibility: inForce,
    requested_visibility: 'public' as const,
  };
}
