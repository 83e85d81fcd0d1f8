/** The documents of an artifact in its zip: each as one update of Yjs; its times are in the manifest. */
import { createEncoder, toUint8Array, writeVarUint8Array } from 'lib0/encoding';
import type { SpoolWriter } from '../../../storage/spool.ts';
import type { DocumentPartRow, ExportedDocument } from './rows.ts';

export type SnapshotDocument = ExportedDocument & {
  /** Where the snapshot's file has its updates: one after the other, each with its length before it. */
  readonly section: { readonly start: number; readonly end: number };
};

/** `pieces` come document by document, as `DOCUMENT_PARTS` orders them. */
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
