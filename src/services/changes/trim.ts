/** Forgets old deletions: whoever has followed since before them is told to read everything again. */
import type { ArtifactId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Queries } from '../deps.ts';

const DAY_MS = 24 * 3600 * 1000;

/** Answers how many it forgot. `signal` ends it between two artifacts. */
export async function trimTombstones(sql: Queries, nowMs: number, signal: AbortSignal): Promise<number> {
  const deletedBeforeMs = nowMs - LIMITS.tombstoneRetentionDays * DAY_MS;
  let trimmed = 0;
  for (const { artifact_id } of await findTrimmable(sql, deletedBeforeMs)) {
    if (signal.aborted) break;
    trimmed += await trimArtifact(sql, artifact_id, deletedBeforeMs);
  }
  return trimmed;
}

function findTrimmable(sql: Queries, deletedBeforeMs: number) {
  return sql<{ artifact_id: ArtifactId }[]>`
    select artifact_id from tombstone group by artifact_id
    having min(at_ms) <= ${deletedBeforeMs} or count(*) > ${LIMITS.tombstonesPerArtifactMax}`;
}

/** In one statement, so that no follower sees them gone without being told from where on they are known. */
async function trimArtifact(sql: Queries, id: ArtifactId, deletedBeforeMs: number): Promise<number> {
  const [row] = await sql<{ trimmed: number }[]>`
    with forgotten as (
      delete from tombstone
      where artifact_id = ${id} and seq <= greatest(
        (select max(seq) from tombstone where artifact_id = ${id} and at_ms <= ${deletedBeforeMs}),
        (select seq from tombstone where artifact_id = ${id} order by seq desc offset ${LIMITS.tombstonesPerArtifactMax} limit 1)
      )
      returning seq
    ), known as (
      update artifact set tombstones_trimmed_seq = greatest(tombstones_trimmed_seq, (select max(seq) from forgotten))
      where id = ${id} and exists (select from forgotten)
    )
    select count(*)::int as trimmed from forgotten`;
  return row?.trimmed ?? 0;
}
