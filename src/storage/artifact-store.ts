/** Loads the state of actors from Postgres, at their start and later. */
import type { ArtifactStore } from '../../actors/runtime/store.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { kindReads, loadKinds } from './live/kinds.ts';
import type { Sql, Transaction } from './sql.ts';

export function postgresArtifactStore(sql: Sql): ArtifactStore {
  return {
    ...kindReads(sql),
    load: (artifactId) =>
      sql.begin(async (tx) => {
        // Sent together and this one first, or others would not see the commits that its row lock has waited for. A query that is only
        // made is sent when it is first awaited.
        const owning = takeOwnership(tx, artifactId).execute();
        const [[owner], images] = await Promise.all([owning, loadKinds(tx, artifactId)]);
        return owner ? { ...owner, ...images } : null;
      }),
  };
}

/** Returns no row for an artifact in the trash, which cannot be used and therefore has no owner. */
function takeOwnership(tx: Transaction, artifactId: ArtifactId) {
  return tx<{ epoch: number; seq: number }[]>`
    update artifact set owner_epoch = owner_epoch + 1
    where id = ${artifactId} and deleted_at_ms is null
    returning owner_epoch as epoch, seq`;
}
