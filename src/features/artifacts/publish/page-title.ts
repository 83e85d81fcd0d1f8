/** The title of an HTML page, as a name for an artifact whose publisher gives none. */
import { LIMITS } from '../../../../protocol/core/limits.ts';

/** A title is near the top: the rest of the page is not searched. */
const SEARCHED_BYTES = 64 * 1024;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** One line without markup, at most as long as a name may be; null when there is none. */
export function pageTitle(bytes: Uint8Array): string | null {
  const html = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SEARCHED_BYTES)).toString('utf8');
  const raw = /<title(?:\s[^>]*)?>([^<]*)</i.exec(html)?.[1];
  if (raw === undefined) return null;
  const text = raw
    .replace(/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]+);/gi, (whole, entity: string) => decodeEntity(entity) ?? whole)
    .replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')
    .trim();
  const name = [...text].slice(0, LIMITS.nameCharsMax).join('').trim();
  return name === '' ? null : name;
}

function decodeEntity(entity: string): string | undefined {
  if (!entity.startsWith('#')) return ENTITIES[entity.toLowerCase()];
  const point = /^#x/i.test(entity) ? Number.parseInt(entity.slice(2), 16) : Number.parseInt(entity.slice(1), 10);
  return point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}
