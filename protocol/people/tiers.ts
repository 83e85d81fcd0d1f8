/** What an account may store, by its tier. Beyond any of these: 507 STORAGE_LIMIT_EXCEEDED. Source: contract.md §1. */
import type { Tier } from './accounts.ts';

const GB = 1024 ** 3;

export interface TierAllowance {
  /** Bytes that the account's artifacts and unfinished uploads may have together; `src/features/people/usage` says what counts. */
  readonly bytesMax: number;
  /** Artifacts that the account may own, the trash included. */
  readonly artifactsMax: number;
  /** Versions of one artifact, drafts included. */
  readonly versionsMax: number;
  /** Drafts of one artifact. */
  readonly draftsMax: number;
}

export const TIERS: Readonly<Record<Tier, TierAllowance>> = {
  free: { bytesMax: GB, artifactsMax: 100, versionsMax: 1000, draftsMax: 100 },
  pro: { bytesMax: 20 * GB, artifactsMax: 1000, versionsMax: 5000, draftsMax: 500 },
  team: { bytesMax: 200 * GB, artifactsMax: 10_000, versionsMax: 10_000, draftsMax: 1000 },
};
