/** What an actor starts from, out of Postgres. */
import { type ArtifactStore, COLD_VALUE_BYTES, type StoredKey } from '../../actors/ports.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import type { Sql, Transaction } from './sql.ts';

export function postgresArtifactStore(sql: Sql): ArtifactStore {
  return {
    load: (artifactId) =>
      sql.begin(async (tx) => {
        // Two statements, sent together: the second sees every commit that the row lock of the first has waited for.
        const [[owner], keys] = await Promise.all([takeOwnership(tx, artifactId), readKeys(tx, artifactId)]);
        return owner ? { ...owner, keys } : null;
      }),

    async readValue(artifactId, key, seq) {
      const [row] = await sql<{ value: string }[]>`
        select value from json_key where artifact_id = ${artifactId} and key = ${key} and seq = ${seq}`;
      return row?.value ?? null;
    },
  };
}

/** No row for an artifact in the trash: nobody may use it, so nobody owns it. */
function takeOwnership(tx: Transaction, artifactId: ArtifactId) {
  return tx<{ epoch: number; seq: number }[]>`
    update artifact set owner_epoch = owner_epoch + 1
    where id = ${artifactId} and deleted_at_ms is null
    returning owner_epoch as epoch, seq`;
}

function readKeys(tx: Transaction, artifactId: ArtifactId) {
  return tx<StoredKey[]>`
    select key,
      case when octet_length(value) <= ${COLD_VALUE_BYTES} then value end as value,
      octet_length(value) as "sizeBytes",
      seq,
      created_at_ms as "createdAtMs",
      updated_at_ms as "updatedAtMs",
      expires_at_ms as "expiresAtMs"
    from json_key where artifact_id = ${artifactId} order by key`;
}
