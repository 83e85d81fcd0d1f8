/** Deletes old tombstones. A follower that has not read since before them must read everything again. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Queries } from '../../deps.ts';
import { findTrimmable, trimArtifact } from './rows.ts';

const DAY_MS = 24 * 3600 * 1000;

/** Returns how many it deleted. `signal` stops it between two artifacts. */
export async function trimTombstones(sql: Queries, nowMs: number, signal: AbortSignal): Promise<number> {
  const bounds = {
    deletedBeforeMs: nowMs - LIMITS.tombstoneRetentionDays * DAY_MS,
    perArtifactMax: LIMITS.tombstonesPerArtifactMax,
  };
  let trimmed = 0;
  for (const id of await findTrimmable(sql, bounds)) {
    if (signal.aborted) break;
    trimmed += await trimArtifact(sql, id, bounds);
  }
  return trimmed;
}
