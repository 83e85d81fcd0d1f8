/** The stored log of one document: its snapshot and the updates since. */
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { joined } from './slices.ts';
import type { Queries, Sql } from './sql.ts';
import { readStored } from './stored-document.ts';

export interface DocumentLog {
  readonly artifactId: ArtifactId;
  readonly name: string;
  /** The seq of the document's first update; tells it apart from a later document of the same name. */
  readonly createdSeq: number;
  /** 0 if there is no snapshot. */
  readonly snapshotSeq: number;
  readonly snapshot: Uint8Array | null;
  /** The seq of the last update in this log. */
  readonly seq: number;
  readonly rows: number;
  readonly updates: number;
  /** All updates since the snapshot one after the other, each with its length before it. */
  readonly data: Uint8Array;
}

/** Reads the log up to `untilSeq` as it is at one moment; undefined if there is no such document or its snapshot is later. */
export async function readLog(
  sql: Sql,
  artifactId: ArtifactId,
  name: string,
  untilSeq = Number.MAX_SAFE_INTEGER,
): Promise<DocumentLog | undefined> {
  const inSnapshot = <T>(read: (tx: Queries) => Promise<T>) => sql.begin('isolation level repeatable read read only', read) as Promise<T>;
  const stored = await readStored<undefined>(sql, inSnapshot, artifactId, name, untilSeq);
  if (stored === undefined) return undefined;
  const { head, rows } = stored;
  if (head.snapshot_seq > untilSeq || head.created_seq > untilSeq) return undefined;
  return {
    artifactId,
    name,
    createdSeq: head.created_seq,
    snapshotSeq: head.snapshot_seq,
    snapshot: head.snapshot,
    seq: rows.at(-1)?.seq ?? head.snapshot_seq,
    rows: rows.length,
    updates: rows.reduce((sum, { updates }) => sum + updates, 0),
    data: await joined(rows.map(({ data }) => data)),
  };
}
