/** Of what there are pictures, and when a failed attempt is repeated. */

/** What the library reads safely within its bounds. SVG is left out, because it is drawn by its own instructions. */
const PICTURED = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif', 'application/pdf']);
/** What Chromium plays, by the type under which it takes the bytes. */
const PLAYED: Readonly<Record<string, string>> = {
  'video/webm': 'video/webm',
  'video/matroska': 'video/webm',
  'video/x-matroska': 'video/webm',
  'video/mp4': 'video/mp4',
  'video/m4v': 'video/mp4',
  'video/x-m4v': 'video/mp4',
  'video/quicktime': 'video/mp4',
};
export const VIDEO_TYPES = Object.keys(PLAYED);
export const PICTURE_BYTES_MAX = 256 * 1024;
const ATTEMPTS_MAX = 2;
/** Also attempts whose end nobody has recorded, because the service ended with them. */
export const BEGUN_MAX = 5;
const RETRY_MS = 60_000;

export function isPictured(mimeType: string): boolean {
  return PICTURED.has(mimeType) || isVideo(mimeType);
}

export function isVideo(mimeType: string): boolean {
  return playedAs(mimeType) !== undefined;
}

export function playedAs(mimeType: string): string | undefined {
  return PLAYED[mimeType];
}

/** When the next attempt is due after this many; null where there is none. */
export function retryAtMs(attempts: number, nowMs: number): number | null {
  return attempts >= ATTEMPTS_MAX ? null : nowMs + RETRY_MS * attempts;
}

/** The bytes come from a process that has read a stranger's file, and are served from our own host. */
export function isPicture(bytes: Buffer): boolean {
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp && bytes.length <= PICTURE_BYTES_MAX;
}
