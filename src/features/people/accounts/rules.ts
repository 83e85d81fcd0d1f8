/** What an account is and may do, decided without I/O. */
import type { Principal } from '../../../../actors/access/access.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import { TIERS } from '../../../../protocol/people/tiers.ts';

/** The linked accounts of one person; none for callers without an account. */
export type Accounts = readonly UserId[];

/** What belongs to any of these is the caller's own. */
export function accountsOf(principal: Principal): Accounts {
  return principal.kind === 'user' ? [...principal.person.accounts] : [];
}

/** The caller's account; null for anonymous callers, guests and agents. */
export function userOrNull(principal: Principal): UserId | null {
  return principal.kind === 'user' ? principal.userId : null;
}

/** Whether a tier may show artifacts to everybody. Source: spec.md, "Artifact", visibility. */
export function mayPublishPublicly(tier: Tier): boolean {
  return tier !== 'free';
}

export function featuresOf(tier: Tier) {
  return {
    public_artifacts: mayPublishPublicly(tier),
    publishes_per_hour: LIMITS.publishPerHour,
    version_bytes_max: LIMITS.versionBytesMax,
    version_files_max: LIMITS.versionFilesMax,
    versions_per_artifact_max: TIERS[tier].versionsMax,
    drafts_per_artifact_max: TIERS[tier].draftsMax,
  };
}
