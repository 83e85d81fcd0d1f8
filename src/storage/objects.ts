/** Where contents live: by SHA-256, written once, never changed. Every implementation passes test/storage/objects.test.ts. */
import { createHash } from 'node:crypto';

/** Digests are lowercase hex. */
export interface ObjectStore {
  /** Durable when it returns. Putting what is there already changes nothing. Throws when `bytes` have another digest. */
  put(sha256: string, bytes: Uint8Array): Promise<void>;
  has(sha256: string): Promise<boolean>;
  /** Throws `ObjectMissing`, or `ObjectCorrupt` when what is stored is no longer what was put. */
  read(sha256: string): Promise<Buffer>;
  /** Deleting what is not there is no error. */
  delete(sha256: string): Promise<void>;
  /** Prepares the place (folder, bucket) and throws when it cannot be used. */
  ready(): Promise<void>;
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
