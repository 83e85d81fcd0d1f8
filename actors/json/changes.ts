/** Changes of JSON keys as the journal writes them, and keys as the store returns them. */
import type { ArtifactId } from '../../protocol/core/ids.ts';

export type JsonChange =
  /** `value` is the JSON text; times are Unix ms. */
  | {
      readonly kind: 'json.put';
      readonly key: string;
      readonly value: string;
      readonly createdAtMs: number;
      readonly updatedAtMs: number;
      readonly expiresAtMs: number | null;
    }
  | { readonly kind: 'json.delete'; readonly key: string; readonly atMs: number };

/** Larger values are left out of an image and read on demand, so that loading stays fast whatever is stored. */
export const COLD_VALUE_BYTES = 4096;

export interface StoredKey {
  readonly key: string;
  /** The JSON text; null when it has more than `COLD_VALUE_BYTES` and must be read by `readValue`. */
  readonly value: string | null;
  readonly sizeBytes: number;
  readonly seq: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly expiresAtMs: number | null;
}

export interface JsonImage {
  readonly keys: readonly StoredKey[];
}

export interface JsonReads {
  /** The JSON text that change `seq` committed for a key; null if the key was deleted or changed since. */
  readValue(artifactId: ArtifactId, key: string, seq: number): Promise<string | null>;
}
