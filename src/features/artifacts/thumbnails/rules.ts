/** What a picture may be, and when a failed attempt is repeated. */

export const PICTURE_TYPE = 'image/webp';
export const PICTURE_BYTES_MAX = 100 * 1024;
const ATTEMPTS_MAX = 2;
const RETRY_MS = 60_000;

/** When the next attempt is due after this many; null when there is none until the page has another version. */
export function retryAtMs(attempts: number, nowMs: number): number | null {
  return attempts >= ATTEMPTS_MAX ? null : nowMs + RETRY_MS * attempts;
}

/**
 * Whether these bytes are a WebP picture of the size that a list needs. They come from a browser that has run a stranger's page, and are served
 * from our own host.
 */
export function isPicture(bytes: Buffer): boolean {
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp && bytes.length <= PICTURE_BYTES_MAX;
}

/** Quotes included. */
export function thumbnailEtag(sha256: string): string {
  return `"${sha256.slice(0, 32)}"`;
}
