/** Blobs as callers see them, the cursors of their lists, and the headers of their bytes. */
import type { BlobPage, BlobPosition } from '../../../../actors/blobs/blobs-part.ts';
import type { StoredBlob } from '../../../../actors/blobs/changes.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Config } from '../../../platform/config.ts';

type Addresses = Pick<Config, 'baseUrl' | 'contentHost'>;

/** Types that a browser displays without running code. */
const INLINE = /^(?:image\/(?!svg\+xml$)|audio\/|video\/|application\/pdf$|text\/plain$)/;

/** The origin for URLs in the answer. A page gets its own origin, the only one where its credentials are valid. */
export function originOf(config: Addresses, host: string): string {
  const lower = host.toLowerCase();
  if (!lower.endsWith(`.${config.contentHost.toLowerCase()}`)) return config.baseUrl;
  return `${config.baseUrl.startsWith('https:') ? 'https' : 'http'}://${lower}`;
}

export function blobUrl(origin: string, artifactId: ArtifactId, blobId: string): string {
  return `${origin}/v1/data/${artifactId}/blobs/${blobId}/content`;
}

export function blobRecord(origin: string, artifactId: ArtifactId, blob: StoredBlob) {
  return {
    id: blob.id,
    filename: blob.filename,
    mimeType: blob.mimeType,
    sizeBytes: blob.sizeBytes,
    contentUrl: blobUrl(origin, artifactId, blob.id),
    createdAt: new Date(blob.createdAtMs).toISOString(),
  };
}

export function blobList(origin: string, artifactId: ArtifactId, { blobs, count, hasMore }: BlobPage) {
  const last = blobs.at(-1);
  const nextCursor = hasMore && last !== undefined ? Buffer.from(`${last.createdAtMs}.${last.id}`).toString('base64url') : null;
  return { blobs: blobs.map((blob) => blobRecord(origin, artifactId, blob)), count, hasMore, nextCursor };
}

/** Throws INVALID_REQUEST when the cursor does not come from `nextCursor`. */
export function positionOf(cursor: string | undefined): BlobPosition | undefined {
  if (cursor === undefined) return undefined;
  const parts = /^(\d{1,16})\.(blob_[a-z0-9]{24})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (parts?.[2] === undefined) {
    throw new Failure('INVALID_REQUEST', { message: 'cursor: must be the nextCursor of the previous page.', param: 'cursor' });
  }
  return { createdAtMs: Number(parts[1]), id: parts[2] };
}

/** Content-Type. Text is served as UTF-8; browsers let a byte order mark override that. */
export function contentTypeOf({ mimeType }: Pick<StoredBlob, 'mimeType'>): string {
  return mimeType.startsWith('text/') ? `${mimeType}; charset=utf-8` : mimeType;
}

/** Content-Disposition with both forms of the name from RFC 6266: an ASCII fallback, and percent-encoded UTF-8. */
export function dispositionOf({ mimeType, filename }: Pick<StoredBlob, 'mimeType' | 'filename'>): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const exact = encodeURIComponent(filename).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${INLINE.test(mimeType) ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${exact}`;
}
