/** The documents of an artifact as an export has them: each the whole of it as one update of Yjs, its times in the manifest. */
import { createEncoder, toUint8Array, writeVarUint8Array } from 'lib0/encoding';
import type { ArtifactId } from '../../../protocol/ids.ts';
import type { SpoolWriter } from '../../storage/spool.ts';
import type { Queries } from '../deps.ts';
import type { Manifest } from './manifest.ts';

/** The snapshot of each document, then its updates, in order. `framed`: each update in `data` has its length before it. */
export const DOCUMENT_PARTS = `
  select name, seq, data, framed from (
    select d.name, s.seq, s.data, false as framed
    from document d join document_snapshot s on s.artifact_id = d.artifact_id and s.name = d.name and s.seq = d.snapshot_seq
    where d.artifact_id = $1
    union all
    select u.name, u.seq, u.data, true from document_update u where u.artifact_id = $1
  ) as part order by name, seq`;

export interface DocumentPartRow {
  readonly name: string;
  readonly data: Buffer;
  readonly framed: boolean;
}

export type ExportedDocument = Manifest['documents'][number];

export type SnapshotDocument = ExportedDocument & {
  /** Where the snapshot's file has what is stored of it: updates one after the other, each with its length before it. */
  readonly section: { readonly start: number; readonly end: number };
};

/** In the transaction of the snapshot. */
export function readDocuments(sql: Queries, id: ArtifactId): Promise<ExportedDocument[]> {
  return sql<ExportedDocument[]>`
    select name, created_at_ms, updated_at_ms from document where artifact_id = ${id} order by name`;
}

/** The parts come document by document. */
export async function writeDocuments(
  writer: SpoolWriter,
  documents: readonly ExportedDocument[],
  pieces: AsyncIterable<readonly DocumentPartRow[]>,
): Promise<SnapshotDocument[]> {
  const sections = new Map<string, { start: number; end: number }>();
  for await (const piece of pieces) {
    for (const { name, data, framed } of piece) {
      const section = sections.get(name) ?? { start: writer.sizeBytes, end: 0 };
      await writer.write(framed ? data : withLength(data));
      section.end = writer.sizeBytes;
      sections.set(name, section);
    }
  }
  return documents.map((document) => ({ ...document, section: sections.get(document.name) ?? { start: 0, end: 0 } }));
}

function withLength(update: Uint8Array): Buffer {
  const encoder = createEncoder();
  writeVarUint8Array(encoder, update);
  return Buffer.from(toUint8Array(encoder));
}
