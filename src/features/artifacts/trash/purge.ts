/** The end of an artifact: what its recovery window leaves is removed for good. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import type { PurgeArtifact } from '../../module.ts';
import { addUsage, artifactBytes, type Holder, lockUsage } from '../../people/usage/rows.ts';
import { RETENTION_MS } from '../artifacts/rows.ts';

const ROWS_AT_ONCE = 100;

type Deps = Pick<ServiceDeps, 'sql' | 'clock' | 'bus'> & { readonly purges: readonly PurgeArtifact[] };

/** Answers how many artifacts it has removed. */
export async function purgeExpired({ sql, clock, bus, purges }: Deps, signal: AbortSignal): Promise<number> {
  const deletedBeforeMs = clock.nowMs() - RETENTION_MS;
  let purged = 0;
  let doomed = await findExpired(sql, deletedBeforeMs);
  while (doomed.length > 0) {
    for (const { id } of doomed) {
      for (const purge of purges) if (!(await purge(id, signal))) return purged;
      // Another process may have been quicker.
      if (!(await deleteArtifact(sql, id, deletedBeforeMs))) continue;
      purged += 1;
      bus.tell({ kind: 'artifact.gone', artifactId: id, slugs: [] });
    }
    doomed = await findExpired(sql, deletedBeforeMs);
  }
  return purged;
}

function findExpired(sql: Queries, deletedBeforeMs: number): Promise<{ id: ArtifactId }[]> {
  return sql<{ id: ArtifactId }[]>`
    select id from artifact where deleted_at_ms <= ${deletedBeforeMs} order by deleted_at_ms limit ${ROWS_AT_ONCE}`;
}

/** What it counted for its owner or its workspace is free with it. */
async function deleteArtifact(sql: ServiceDeps['sql'], id: ArtifactId, deletedBeforeMs: number): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [row] = await tx<{ holder: Holder }[]>`
      select coalesce(owner_id, workspace_id) as holder from artifact where id = ${id} and deleted_at_ms <= ${deletedBeforeMs} for update`;
    if (row === undefined) return false;
    const bytes = await artifactBytes(tx, id);
    await tx`delete from artifact where id = ${id}`;
    await lockUsage(tx, row.holder);
    await addUsage(tx, row.holder, -bytes, -1);
    return true;
  });
}
