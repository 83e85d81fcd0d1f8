/**
 * What each plan allows: the one table. `src/features/business/tiers/rules.ts` is the only code that decides by it, `/v1/account`, the plan of a
 * workspace, `/limits` and the README show it. An account has the allowance of the best of its linked accounts, a workspace that of its plan while
 * the plan runs.
 */
import { LIMITS } from '../core/limits.ts';
import type { Tier } from '../people/accounts.ts';
import { FEATURES, type Feature } from '../workspaces/features.ts';

const GB = 1024 ** 3;

export interface TierAllowance {
  /** Whether artifacts may be shown to everybody. Without it `public` is held: VISIBILITY_HELD. Source: spec.md, "Artifact", visibility. */
  readonly publicArtifacts: boolean;
  /** What a workspace may use: PLAN_REQUIRED, and for external sharing EXTERNAL_SHARING_NOT_ENTITLED. Source: contract.md §14. */
  readonly features: readonly Feature[];
  /** Bytes of published files, drafts, blobs, datasets, assets and unfinished uploads together. Source: contract.md §1: ACCOUNT_STORAGE_FULL. */
  readonly bytesMax: number;
  /** Artifacts owned, the trash included: ACCOUNT_STORAGE_FULL. */
  readonly artifactsMax: number;
  /** Versions of one artifact, drafts included: ACCOUNT_STORAGE_FULL. */
  readonly versionsMax: number;
  /** Drafts of one artifact: ACCOUNT_STORAGE_FULL. */
  readonly draftsMax: number;
  /** Workspaces that one person owns: WORKSPACE_LIMIT_EXCEEDED. */
  readonly workspacesOwnedMax: number;
  /** Seats, the members of one workspace: WORKSPACE_LIMIT_EXCEEDED. */
  readonly membersMax: number;
  /** Jobs of one artifact: JOB_LIMIT_EXCEEDED. */
  readonly jobsPerArtifactMax: number;
  /** Jobs that one person has made: JOB_LIMIT_EXCEEDED. */
  readonly jobsMax: number;
  /** Recipients of mails of pages in any 24 hours, of one person: RATE_LIMITED. Source: spec.md, "Limits". */
  readonly mailsPerDay: number;
  /** Publishes in any hour, of one person: RATE_LIMITED. Source: spec.md, "Limits". */
  readonly publishesPerHour: number;
}

/** The same for every plan: spec.md names these without a plan, or nothing has asked for less yet. */
const EVERY_PLAN = {
  workspacesOwnedMax: 50,
  membersMax: 5000,
  jobsPerArtifactMax: 50,
  jobsMax: 500,
  mailsPerDay: LIMITS.mailsPerDay,
  publishesPerHour: LIMITS.publishPerHour,
} as const;

const FREE: readonly Feature[] = ['collab.guest_comments', 'knowledge', 'agents'];
const PRO: readonly Feature[] = [...FREE, 'catalog', 'file_imports', 'custom_branding'];

export const TIERS: Readonly<Record<Tier, TierAllowance>> = {
  free: { ...EVERY_PLAN, publicArtifacts: false, features: FREE, bytesMax: GB, artifactsMax: 100, versionsMax: 1000, draftsMax: 100 },
  pro: { ...EVERY_PLAN, publicArtifacts: true, features: PRO, bytesMax: 20 * GB, artifactsMax: 1000, versionsMax: 5000, draftsMax: 500 },
  team: {
    ...EVERY_PLAN,
    publicArtifacts: true,
    features: FEATURES,
    bytesMax: 200 * GB,
    artifactsMax: 10_000,
    versionsMax: 10_000,
    draftsMax: 1000,
  },
};

/** From the smallest plan to the largest. */
export const TIER_ORDER = ['free', 'pro', 'team'] as const satisfies readonly Tier[];

/** The numbers of a plan, by the names that answers use. */
export const ALLOWANCE_NUMBERS = {
  bytes: 'bytesMax',
  artifacts: 'artifactsMax',
  versions_per_artifact: 'versionsMax',
  drafts_per_artifact: 'draftsMax',
  workspaces_owned: 'workspacesOwnedMax',
  members: 'membersMax',
  jobs_per_artifact: 'jobsPerArtifactMax',
  jobs: 'jobsMax',
  mails_per_day: 'mailsPerDay',
  publishes_per_hour: 'publishesPerHour',
} as const satisfies Readonly<Record<string, keyof TierAllowance>>;

export type AllowanceName = keyof typeof ALLOWANCE_NUMBERS;

/** The smallest plan that has a feature. */
export function smallestWith(what: Feature | 'public_artifacts'): Tier {
  const has = (tier: Tier) => (what === 'public_artifacts' ? TIERS[tier].publicArtifacts : TIERS[tier].features.includes(what));
  const found = TIER_ORDER.find(has);
  if (found === undefined) throw new Error(`no plan has ${what}`);
  return found;
}
