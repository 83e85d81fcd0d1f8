/** What an actor reads of documents and comments when they are first needed. Nothing where another owner has taken over in the meantime. */
import { createDecoder, hasContent, readVarUint8Array } from 'lib0/decoding';
import type { StoredComment, StoredComments, StoredDocument, StoredDocumentContent } from '../../actors/ports.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import type { Queries, Sql } from './sql.ts';

export async function readDocuments(sql: Sql, artifactId: ArtifactId, epoch: number): Promise<readonly StoredDocument[] | null> {
  return owned(
    sql,
    artifactId,
    epoch,
    (tx) => tx<StoredDocument[]>`
    select name, seq, stored_bytes as "storedBytes", created_at_ms as "createdAtMs", updated_at_ms as "updatedAtMs"
    from document where artifact_id = ${artifactId} order by name`,
  );
}

export async function readDocument(sql: Sql, artifactId: ArtifactId, epoch: number, name: string): Promise<StoredDocumentContent | null> {
  return owned(sql, artifactId, epoch, async (tx) => {
    const [[document], rows] = await Promise.all([
      tx<{ snapshot: Buffer | null; seq: number }[]>`
        select s.data as snapshot, d.seq
        from document d left join document_snapshot s on s.artifact_id = d.artifact_id and s.name = d.name and s.seq = d.snapshot_seq
        where d.artifact_id = ${artifactId} and d.name = ${name} and (s.seq is not null or d.snapshot_seq = 0)`,
      tx<{ data: Buffer }[]>`select data from document_update where artifact_id = ${artifactId} and name = ${name} order by seq`,
    ]);
    if (document === undefined) return { snapshot: null, updates: [], seq: 0 };
    return { snapshot: document.snapshot, updates: rows.flatMap(({ data }) => unframed(data)), seq: document.seq };
  });
}

/** The updates of one row of `document_update`. */
export function unframed(data: Uint8Array): Uint8Array[] {
  const decoder = createDecoder(data);
  const updates: Uint8Array[] = [];
  while (hasContent(decoder)) updates.push(readVarUint8Array(decoder));
  return updates;
}

export async function readComments(sql: Sql, artifactId: ArtifactId, epoch: number): Promise<StoredComments | null> {
  return owned(sql, artifactId, epoch, async (tx) => {
    const [config] = await tx<{ config: string }[]>`select config::text as config from comment_config where artifact_id = ${artifactId}`;
    const comments = await tx<StoredComment[]>`
      select id, data::text as data, seq, created_at_ms as "createdAtMs", updated_at_ms as "updatedAtMs"
      from comment where artifact_id = ${artifactId} order by created_at_ms, id`;
    return { config: config?.config ?? null, comments };
  });
}

/** One snapshot in which `epoch` is the artifact's owner; null where it is not. */
function owned<T>(sql: Sql, artifactId: ArtifactId, epoch: number, read: (tx: Queries) => Promise<T>): Promise<T | null> {
  return sql.begin('isolation level repeatable read read only', async (tx): Promise<T | null> => {
    const [owner] = await tx<{ is_ours: boolean }[]>`select owner_epoch = ${epoch} as is_ours from artifact where id = ${artifactId}`;
    return owner?.is_ours ? read(tx) : null;
  }) as Promise<T | null>;
}
