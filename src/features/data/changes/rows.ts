/** SQL of tombstones, the records of deletions. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

export interface TombstoneBounds {
  /** Unix ms. */
  readonly deletedBeforeMs: number;
  readonly perArtifactMax: number;
}

/** The artifacts that have tombstones beyond either bound. */
export async function findTrimmable(sql: Queries, { deletedBeforeMs, perArtifactMax }: TombstoneBounds): Promise<readonly ArtifactId[]> {
  const found = await sql<{ id: ArtifactId }[]>`
    select artifact_id as id from tombstone group by artifact_id
    having min(at_ms) <= ${deletedBeforeMs} or count(*) > ${perArtifactMax}`;
  return found.map(({ id }) => id);
}

/**
 * Deletes the artifact's tombstones beyond either bound and returns how many. One statement also raises `tombstones_trimmed_seq`, so that
 * no follower reads the tombstones as gone without seeing that it must reset.
 */
export async function trimArtifact(sql: Queries, id: ArtifactId, { deletedBeforeMs, perArtifactMax }: TombstoneBounds): Promise<number> {
  const [row] = await sql<{ trimmed: number }[]>`
    with forgotten as (
      delete from tombstone
      where artifact_id = ${id} and seq <= greatest(
        (select max(seq) from tombstone where artifact_id = ${id} and at_ms <= ${deletedBeforeMs}),
        (select seq from tombstone where artifact_id = ${id} order by seq desc offset ${perArtifactMax} limit 1)
      )
      returning seq
    ), known as (
      update artifact set tombstones_trimmed_seq = greatest(tombstones_trimmed_seq, (select max(seq) from forgotten))
      where id = ${id} and exists (select from forgotten)
    )
    select count(*)::int as trimmed from forgotten`;
  return row?.trimmed ?? 0;
}
