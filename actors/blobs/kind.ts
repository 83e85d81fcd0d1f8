import type { RestoredKind } from '../runtime/live-kind.ts';
import { type BlobsDeps, BlobsPart } from './blobs-part.ts';
import type { BlobChange, BlobsImage } from './changes.ts';

export const blobsKind: RestoredKind<BlobChange, BlobsImage, BlobsDeps, BlobsPart> = {
  changes: { 'blob.put': 'put', 'blob.delete': 'deletion' },
  valueBytes: () => 0,
  restore(deps, { blobs }) {
    const part = new BlobsPart(deps);
    part.restore(blobs);
    return part;
  },
};
