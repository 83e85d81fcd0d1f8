/** What a change of an artifact comes to, decided without I/O. */
import type { Visibility } from '../../../../protocol/artifacts/artifacts.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import { mayPublishPublicly } from '../../business/tiers/rules.ts';

/** The time to store with a change: now, or one millisecond after the last change where the clock has not moved on. */
export function changeTimeMs(row: { readonly updated_at_ms: number }, nowMs: number): number {
  return Math.max(nowMs, row.updated_at_ms + 1);
}

export interface VisibilityChange {
  readonly visibility: Visibility;
  /** A hash to store, null to remove the stored one, undefined to keep it. */
  readonly passwordHash: string | null | undefined;
  readonly held: boolean;
  /** A choice, which takes the place of one that was held. */
  readonly chosen: boolean;
}

interface VisibilityWish {
  readonly requested: Visibility | undefined;
  /** The hash of the password in the same request. */
  readonly newPasswordHash: string | undefined;
  readonly current: Visibility;
  readonly hasPassword: boolean;
  /** The best of the caller's tier and that of the artifact's workspace. */
  readonly tier: Tier;
  /** Whether the artifact belongs to a workspace. */
  readonly inWorkspace: boolean;
}

/** Throws INVALID_REQUEST for a combination that cannot be. `public` without a paid tier is held: the visibility stays as it is. */
export function decideVisibility(wish: VisibilityWish): VisibilityChange {
  const { current, requested = current } = wish;
  if (requested === 'workspace' && !wish.inWorkspace) {
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
    return { visibility: current, passwordHash: undefined, held: true, chosen: true };
  }
  const chosen = wish.requested !== undefined;
  if (requested === 'password') return { visibility: requested, passwordHash: wish.newPasswordHash, held: false, chosen };
  return { visibility: requested, passwordHash: null, held: false, chosen };
}

/** The fields that a reply has in addition when `public` was held. */
export function heldNotice(inForce: Visibility) {
  return {
    code: 'VISIBILITY_HELD' as const,
    notice: `Public artifacts need a paid plan. Everything else was applied; the visibility stays "${inForce}" and becomes public once a plan allows it.`,
    visibility: inForce,
    requested_visibility: 'public' as const,
  };
}
