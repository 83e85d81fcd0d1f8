/** Reads of an actor that return null if another owner has taken over in the meantime. */
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { Queries, Sql } from '../sql.ts';

/** Reads one snapshot if `epoch` still owns the artifact; otherwise null. */
export function owned<T>(sql: Sql, artifactId: ArtifactId, epoch: number, read: (tx: Queries) => Promise<T>): Promise<T | null> {
  return sql.begin('isolation level repeatable read read only', async (tx): Promise<T | null> => {
    const [owner] = await tx<{ is_ours: boolean }[]>`select owner_epoch = ${epoch} as is_ours from artifact where id = ${artifactId}`;
    return owner?.is_ours ? read(tx) : null;
  }) as Promise<T | null>;
}
