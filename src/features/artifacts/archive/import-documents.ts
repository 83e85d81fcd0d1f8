/** The documents of an imported zip: each is one update of Yjs, checked like one that a client sends. */
import { checkUpdate } from '../../../../actors/documents/update-check.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { DocumentThread } from '../../../storage/document-thread.ts';
import type { Queries } from '../../deps.ts';
import { documentEntry, MANIFEST_ENTRY, type Manifest } from './manifest.ts';
import { type ImportedDocument, insertDocument } from './rows.ts';
import { archiveFailure, type ZipReader } from './zip-reader.ts';

const NO_UPDATES = new Uint8Array();

/** Throws INVALID_REQUEST or the code of a limit, naming the entry. */
export async function readDocuments(
  zip: ZipReader,
  thread: Pick<DocumentThread, 'merge'>,
  { documents }: Manifest,
): Promise<readonly ImportedDocument[]> {
  if (documents.length > LIMITS.documentsMax) throw new Failure('DOCUMENT_LIMIT_EXCEEDED', { param: MANIFEST_ENTRY });
  if (new Set(documents.map(({ name }) => name)).size < documents.length) throw archiveFailure(MANIFEST_ENTRY, 'names a document twice');
  const read: ImportedDocument[] = [];
  let totalBytes = 0;
  for (const { name, created_at_ms, updated_at_ms } of documents) {
    const entry = documentEntry(name);
    const bytes = await zip.read(entry, LIMITS.documentBytesMax, () => new Failure('DOCUMENT_TOO_LARGE', { param: entry }));
    totalBytes += bytes.length;
    if (totalBytes > LIMITS.importDataBytesMax) throw archiveFailure(entry, `is past ${LIMITS.importDataBytesMax} bytes of data`);
    read.push({ name, state: await readState(thread, entry, bytes), createdAtMs: created_at_ms, updatedAtMs: updated_at_ms });
  }
  return read;
}

/** The document's state as compaction stores it. */
async function readState(thread: Pick<DocumentThread, 'merge'>, entry: string, bytes: Uint8Array): Promise<Uint8Array> {
  const shape = checkUpdate(bytes);
  if (shape === undefined) throw archiveFailure(entry, 'is no update of a Yjs document');
  if (
    shape.structs > LIMITS.documentStructsMax ||
    shape.clients > LIMITS.documentClientsMax ||
    shape.subdocuments > LIMITS.subdocumentsMax
  ) {
    throw new Failure('DOCUMENT_TOO_LARGE', { param: entry });
  }
  try {
    return await thread.merge(bytes, NO_UPDATES);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw archiveFailure(entry, 'cannot be applied as an update of a Yjs document');
  }
}

/** Each document is one change. Answers the `seq` of the last. */
export async function importDocuments(
  tx: Queries,
  { id, seqBefore }: { readonly id: ArtifactId; readonly seqBefore: number },
  documents: readonly ImportedDocument[],
): Promise<number> {
  let seq = seqBefore;
  for (const document of documents) {
    seq += 1;
    await insertDocument(tx, id, document, seq);
  }
  return seq;
}
