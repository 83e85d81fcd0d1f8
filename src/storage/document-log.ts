/** What is stored of one document: its snapshot and the updates since. */
import type { ArtifactId } from '../../protocol/ids.ts';
import type { Queries, Sql } from './sql.ts';

export interface DocumentLog {
  readonly artifactId: ArtifactId;
  readonly name: string;
  /** Of the document's first update: another document of the same name has another. */
  readonly createdSeq: number;
  /** 0 where there is no snapshot. */
  readonly snapshotSeq: number;
  readonly snapshot: Uint8Array | null;
  /** Of the last update that is here. */
  readonly seq: number;
  readonly rows: number;
  readonly updates: number;
  /** All updates since the snapshot one after the other, each with its length before it. */
  readonly data: Uint8Array;
}

interface Head {
  readonly created_seq: number;
  readonly snapshot_seq: number;
  readonly snapshot: Buffer | null;
}

/** At one moment, up to `untilSeq`; undefined where there is no such document, or its snapshot is later. */
export function readLog(
  sql: Sql,
  artifactId: ArtifactId,
  name: string,
  untilSeq = Number.MAX_SAFE_INTEGER,
): Promise<DocumentLog | undefined> {
  return sql.begin('isolation level repeatable read read only', async (tx): Promise<DocumentLog | undefined> => {
    const [[head], rows] = await Promise.all([
      readHead(tx, artifactId, name),
      tx<{ seq: number; data: Buffer; updates: number }[]>`
        select seq, data, updates from document_update
        where artifact_id = ${artifactId} and name = ${name} and seq <= ${untilSeq} order by seq`,
    ]);
    if (head === undefined || head.snapshot_seq > untilSeq || head.created_seq > untilSeq) return undefined;
    return {
      artifactId,
      name,
      createdSeq: head.created_seq,
      snapshotSeq: head.snapshot_seq,
      snapshot: head.snapshot,
      seq: rows.at(-1)?.seq ?? head.snapshot_seq,
      rows: rows.length,
      updates: rows.reduce((sum, { updates }) => sum + updates, 0),
      data: Buffer.concat(rows.map(({ data }) => data)),
    };
  }) as Promise<DocumentLog | undefined>;
}

function readHead(tx: Queries, artifactId: ArtifactId, name: string) {
  return tx<Head[]>`
    select d.created_seq, d.snapshot_seq, s.data as snapshot
    from document d left join document_snapshot s on s.artifact_id = d.artifact_id and s.name = d.name and s.seq = d.snapshot_seq
    where d.artifact_id = ${artifactId} and d.name = ${name} and (s.seq is not null or d.snapshot_seq = 0)`;
}
