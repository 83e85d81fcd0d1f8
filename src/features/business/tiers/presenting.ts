/** What answers say of a plan: what it allows, what is used of it, and what is over it since it has become smaller. */
import type { UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { Feature } from '../../../../protocol/workspaces/features.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';
import { requireUsage } from '../../people/usage/storage.ts';
import type { WorkspaceRow } from '../../workspaces/workspaces/rows.ts';
import { readAccountUses, readWorkspaceUses, type WorkspaceUses } from './rows.ts';
import { allowanceOf, featuresOf, overOf, PUBLIC_TIERS, presentAllowance, tierInForce } from './rules.ts';

/** `GET /v1/account`. Throws UNAUTHORIZED where the account is gone. */
export async function describeAccount(sql: Queries, user: UserId, accounts: Accounts, nowMs: number) {
  const { tier, bytes, artifacts } = await requireUsage(sql, user, nowMs);
  const uses = await readAccountUses(sql, accounts, PUBLIC_TIERS);
  const { bytesMax, artifactsMax, workspacesOwnedMax, jobsMax, publicArtifacts } = allowanceOf(tier);
  return {
    tier,
    features: accountFeatures(tier),
    usage: { bytes, bytes_max: bytesMax, artifacts, artifacts_max: artifactsMax, ...uses },
    allowances: presentAllowance(tier),
    over: overOf([
      { name: 'bytes', used: bytes, max: bytesMax },
      { name: 'artifacts', used: artifacts, max: artifactsMax },
      { name: 'public_artifacts', used: publicArtifacts ? 0 : uses.public_artifacts, max: 0 },
      { name: 'workspaces_owned', used: uses.workspaces_owned, max: workspacesOwnedMax },
      { name: 'jobs', used: uses.jobs, max: jobsMax },
    ]),
  };
}

/** `GET /v1/workspaces/{workspaceId}/plan`. */
export async function describePlan(sql: Queries, row: WorkspaceRow, nowMs: number) {
  const tier = tierInForce(row);
  const { bytes, artifacts } = await requireUsage(sql, row.id, nowMs);
  const uses = await readWorkspaceUses(sql, row.id, PUBLIC_TIERS);
  const { bytesMax, artifactsMax, membersMax, publicArtifacts } = allowanceOf(tier);
  const features = featuresOf(row);
  const unused: readonly Feature[] = (['catalog', 'file_imports', 'custom_branding', 'collab.external_sharing'] as const).filter(
    (feature) => !features[feature].enabled,
  );
  return {
    tier: row.plan_tier,
    status: row.plan_status,
    in_force: tier,
    features,
    allowances: presentAllowance(tier),
    usage: { bytes, artifacts, members: uses.members },
    over: overOf([
      { name: 'bytes', used: bytes, max: bytesMax },
      { name: 'artifacts', used: artifacts, max: artifactsMax },
      { name: 'members', used: uses.members, max: membersMax },
      { name: 'public_artifacts', used: publicArtifacts ? 0 : uses.public_artifacts, max: 0 },
      ...unused.map((name) => ({ name, used: usesOf(name, uses, row), max: 0 })),
    ]),
  };
}

/** How much there is of what a feature makes. */
function usesOf(feature: Feature, uses: WorkspaceUses, row: WorkspaceRow): number {
  switch (feature) {
    case 'catalog':
      return uses.catalogs;
    case 'file_imports':
      return uses.import_sources;
    case 'collab.external_sharing':
      return uses.grants;
    case 'custom_branding':
      return row.hide_footer || row.logo !== null ? 1 : 0;
    default:
      return 0;
  }
}

/** As `GET /v1/account` has named them before there were allowances. */
export function accountFeatures(tier: Tier) {
  const { publicArtifacts, publishesPerHour, versionsMax, draftsMax } = allowanceOf(tier);
  return {
    public_artifacts: publicArtifacts,
    publishes_per_hour: publishesPerHour,
    version_bytes_max: LIMITS.versionBytesMax,
    version_files_max: LIMITS.versionFilesMax,
    versions_per_artifact_max: versionsMax,
    drafts_per_artifact_max: draftsMax,
  };
}
