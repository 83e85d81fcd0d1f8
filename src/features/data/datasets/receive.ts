/** Takes the rows of a file that a caller sends: to the disk first, however slow the sender, then parsed when it is the file's turn. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { DATASET_TYPES } from '../../../../protocol/data/datasets.ts';
import type { ShareQueue } from '../../../platform/share-queue.ts';
import { type ReadHolders, readHolders } from '../tables/reads.ts';
import { encodeRows } from './encode.ts';
import { datasetEtag, datasetRecord } from './rules.ts';
import { type DatasetType, fileRows } from './sources.ts';
import { type DatasetWrite, storeDataset, type WriteDeps, type WrittenDataset } from './write.ts';

export interface ReceiveDeps extends WriteDeps {
  readonly parsing: ShareQueue;
}

/** Who sends it, and as what. */
export type Sender = Parameters<typeof readHolders>[1];

export interface SentFile {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly type: DatasetType;
  /** Of the cells of a CSV file where it is no comma. */
  readonly delimiter?: string;
}

/** Throws as `storeDataset` does, and what `chunks` throws. */
export async function receiveDataset(deps: ReceiveDeps, sender: Sender, write: DatasetWrite, sent: SentFile): Promise<WrittenDataset> {
  const file = await deps.spool.receive(bounded(sent.chunks));
  try {
    const holders = readHolders(write.artifactId, sender);
    const encoded = await deps.parsing.run(holders, () =>
      encodeRows(deps.spool, fileRows(file.path, sent.type, laneOf(holders), sent.delimiter), laneOf(holders)),
    );
    await file.dispose();
    return await storeDataset(deps, write, encoded);
  } finally {
    await file.dispose();
  }
}

export function laneOf({ network }: ReadHolders): string {
  return network ?? '';
}

/** An upload to the object store may have any size. */
async function* bounded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > LIMITS.datasetBytesMax)
      throw new Failure('FILE_TOO_LARGE', { message: `The file has more than ${LIMITS.datasetBytesMax} bytes.` });
    yield chunk;
  }
}

/** The type of a body, whose parameters are gone already. Throws INVALID_MIME_TYPE. */
export function datasetType(mediaType: string | undefined): DatasetType {
  const found = Object.values(DATASET_TYPES).find((type) => type === mediaType);
  if (found !== undefined) return found;
  throw new Failure('INVALID_MIME_TYPE', { message: `Rows cannot have the type ${mediaType ?? ''}.`, param: 'mimeType' });
}

export function writtenReply({ stored, isNew }: WrittenDataset) {
  const body = { success: true as const, data: datasetRecord(stored) };
  return { reply: isNew ? 'created' : 'ok', body, etag: datasetEtag(stored) } as const;
}
