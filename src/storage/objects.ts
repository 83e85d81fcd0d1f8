/** Where contents live: by SHA-256, written once, never changed. Every implementation passes test/storage/objects.test.ts. */
import { createHash } from 'node:crypto';

/** Digests are lowercase hex. */
export interface ObjectStore {
  /** Durable when it returns. Putting what is there already changes nothing. Throws when `bytes` have another digest. */
  put(sha256: string, bytes: Uint8Array): Promise<void>;
  /**
   * The same for bytes that are in a file, which has this digest and is durable; may take the file away.
   * Throws when it has another size than `sizeBytes`.
   */
  putFile(sha256: string, path: string, sizeBytes: number): Promise<void>;
  has(sha256: string): Promise<boolean>;
  /** Throws `ObjectMissing`, or `ObjectCorrupt` when what is stored is no longer what was put. */
  read(sha256: string): Promise<Buffer>;
  /**
   * The bytes from `start` to `end`, both included, as they come; a chunk is valid until the next is asked for. They are not checked
   * against the digest. Throws `ObjectMissing` at the first chunk.
   */
  readRange(sha256: string, start: number, end: number): AsyncIterable<Uint8Array>;
  /** Deleting a missing object is not an error. */
  delete(sha256: string): Promise<void>;
  /** Rejects where the store cannot be used now. Cheap: it is called every second. */
  probe(): Promise<void>;
  /** Prepares the place (folder, bucket) and throws when it cannot be used. */
  ready(): Promise<void>;
  /** Direct access of callers to the store; undefined if they cannot reach it. */
  readonly direct?: DirectObjects;
}

/** Direct uploads to and downloads from the store by signed URLs. `id` is 1 to 64 of `[a-z0-9_]`. */
export interface DirectObjects {
  /** A URL for uploading with PUT. The upload is not used until `claim` takes it. */
  uploadUrl(id: string, expiresInS: number): Promise<string>;
  /** Moves the upload to where the uploader cannot change it. Returns its size, or null if nothing was uploaded. */
  claim(id: string): Promise<number | null>;
  /** The bytes of a claimed upload. */
  read(id: string): AsyncIterable<Uint8Array>;
  /** A claimed upload becomes the object of this digest, which the caller has worked out. */
  keep(id: string, sha256: string): Promise<void>;
  /** Removes an upload, claimed or not; a missing one is not an error. */
  discard(id: string): Promise<void>;
  /** An address to GET an object from, answered with this type and disposition. */
  downloadUrl(sha256: string, expiresInS: number, headers: { readonly type: string; readonly disposition: string }): Promise<string>;
}

export class ObjectMissing extends Error {
  override readonly name = 'ObjectMissing';

  constructor(sha256: string) {
    super(`there is no object ${sha256}`);
  }
}

export class ObjectCorrupt extends Error {
  override readonly name = 'ObjectCorrupt';

  constructor(sha256: string) {
    super(`the bytes of object ${sha256} have another digest`);
  }
}

/** Throws `ObjectCorrupt`. */
export function checkDigest(sha256: string, bytes: Uint8Array): void {
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) throw new ObjectCorrupt(sha256);
}

/** The digest becomes a path: nothing else may. */
export function assertDigest(sha256: string): void {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new TypeError(`not a SHA-256 in lowercase hex: ${JSON.stringify(sha256)}`);
}
