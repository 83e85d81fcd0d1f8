/** Whether an account has room, decided without I/O. */
import { ERRORS, Failure } from '../../../../protocol/core/errors.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import { allowanceOf, roomierHint } from '../../business/tiers/rules.ts';

export interface Usage {
  readonly tier: Tier;
  /** Stored and reserved. */
  readonly bytes: number;
  /** Removed, but in the object store until the sweep. */
  readonly removedBytes: number;
  readonly artifacts: number;
}

export interface Growth {
  readonly bytes: number;
  readonly artifacts: number;
}

/** Throws ACCOUNT_STORAGE_FULL where the account has no room for what would be added. What adds nothing always fits. */
export function requireRoom(usage: Usage, added: Growth): void {
  const { bytesMax, artifactsMax } = allowanceOf(usage.tier);
  if (added.artifacts > 0 && usage.artifacts + added.artifacts > artifactsMax) {
    throw new Failure('ACCOUNT_STORAGE_FULL', {
      message: `An account of tier ${usage.tier} may have ${artifactsMax} artifacts and has ${usage.artifacts}, the trash included.`,
      hint: `Publish to one of your artifacts with artifact_id. Deleted artifacts count until they are purged, 30 days after the deletion.${roomierHint(usage.tier, 'artifacts', usage.artifacts + added.artifacts)}`,
    });
  }
  if (added.bytes <= 0) return;
  if (usage.bytes + added.bytes > bytesMax) {
    throw new Failure('ACCOUNT_STORAGE_FULL', {
      message: `An account of tier ${usage.tier} may store ${bytesMax} bytes and has ${usage.bytes}; ${added.bytes} more do not fit.`,
      hint: `${ERRORS.ACCOUNT_STORAGE_FULL.hint}${roomierHint(usage.tier, 'bytes', usage.bytes + added.bytes)}`,
    });
  }
  // Otherwise storing and deleting in turn would fill the object store, which keeps removed contents until the sweep.
  if (usage.bytes + usage.removedBytes + added.bytes > 2 * bytesMax) {
    throw new Failure('ACCOUNT_STORAGE_FULL', {
      message: `The account has removed ${usage.removedBytes} bytes within the last day, whose room becomes free again with the daily sweep.`,
      hint: 'Try again tomorrow.',
    });
  }
}

/** Bytes that still fit. */
export function roomOf(usage: Usage): number {
  const { bytesMax } = allowanceOf(usage.tier);
  return Math.max(0, Math.min(bytesMax - usage.bytes, 2 * bytesMax - usage.bytes - usage.removedBytes));
}

/** Throws ACCOUNT_STORAGE_FULL where an artifact has as many versions or drafts as the tier of its owner allows. */
export function requireVersionRoom(tier: Tier, has: { readonly versions: number; readonly drafts: number }, draft: boolean): void {
  const { versionsMax, draftsMax } = allowanceOf(tier);
  if (has.versions >= versionsMax) throw tooMany(tier, versionsMax, 'versions', has.versions);
  if (draft && has.drafts >= draftsMax) throw tooMany(tier, draftsMax, 'drafts', has.drafts);
}

function tooMany(tier: Tier, most: number, things: 'versions' | 'drafts', has: number): Failure {
  return new Failure('ACCOUNT_STORAGE_FULL', {
    message: `An artifact of an account of tier ${tier} may have ${most} ${things}, and this one has ${has}.`,
    hint: `Delete those that are no longer needed with DELETE /v1/artifacts/{id}/versions/{version}.${roomierHint(tier, `${things}_per_artifact`, has + 1)}`,
  });
}
