/** Blobs as the journal takes their changes and as the store gives them back. */

export type BlobChange =
  | {
      readonly kind: 'blob.put';
      readonly blobId: string;
      readonly filename: string;
      readonly mimeType: string;
      readonly sizeBytes: number;
      /** Lowercase hex. */
      readonly sha256: string;
      readonly createdBy: string | null;
      readonly createdAtMs: number;
    }
  | { readonly kind: 'blob.delete'; readonly blobId: string; readonly atMs: number };

export interface StoredBlob {
  readonly id: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly createdAtMs: number;
}

export interface BlobsImage {
  readonly blobs: readonly StoredBlob[];
}
