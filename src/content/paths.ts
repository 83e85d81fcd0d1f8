/**
 * Resolves the path of a request to a file of a version. In this order:
 * `/` is the entrypoint, through a redirect where it lies in a folder; a file of exactly this name; for `/a/` its `a/index.html`;
 * for `/a` a redirect to `/a/` where that is a folder with an index; `a.html`.
 * Else, for a navigation to a path without an extension, the site's `200.html` with 200; else its `404.html` with 404; else our own page.
 */
import type { SiteFile, SiteVersion } from './sites.ts';

export type Resolution =
  | { readonly kind: 'file'; readonly file: SiteFile }
  /** `location` is a percent-encoded path of the same origin. `permanent`: the redirect follows from the path alone, whatever the version. */
  | { readonly kind: 'redirect'; readonly location: string; readonly permanent: boolean }
  /** The site's own page for missing paths: `200.html` with status 200 (single-page applications), `404.html` with 404. */
  | { readonly kind: 'fallback'; readonly file: SiteFile; readonly found: boolean }
  | { readonly kind: 'missing' }
  /** No file can have this path. */
  | { readonly kind: 'refused' };

const FALLBACK_FOUND = '200.html';
const FALLBACK_MISSING = '404.html';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused.
const FORBIDDEN = /[\u0000-\u001f\u007f\\]/;
/** Sequences that a second decoding would turn into a dot, slash, backslash or NUL. Publishing refuses such names too. */
const ENCODED_TWICE = /%(?:2e|2f|5c|00)/i;

/**
 * The segments of a raw path, percent-decoded once and in NFC; null where it is malformed or leaves the site. An encoded slash is refused,
 * because a proxy that decodes early would see another path.
 */
export function decodePath(rawPath: string): string[] | null {
  if (!rawPath.startsWith('/')) return null;
  const segments: string[] = [];
  for (const raw of rawPath.slice(1).split('/')) {
    const segment = decodeSegment(raw);
    if (segment === null) return null;
    segments.push(segment);
  }
  return segments;
}

function decodeSegment(raw: string): string | null {
  let text: string;
  try {
    text = decodeURIComponent(raw);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
  if (text === '.' || text === '..' || text.includes('/') || FORBIDDEN.test(text) || ENCODED_TWICE.test(text)) return null;
  return text.normalize('NFC');
}

/** `navigates`: the request comes from the address bar or a link (it accepts HTML), so it may be answered with a page. */
export function resolvePath(version: SiteVersion, rawPath: string, query: string, navigates: () => boolean): Resolution {
  if (rawPath === '/') return resolveRoot(version, query);
  // Names of files are valid paths, so an exact match needs no checks, unless a `%` must be decoded first.
  const exact = version.files.get(rawPath.slice(1));
  if (exact && !rawPath.includes('%')) return { kind: 'file', file: exact };
  const segments = decodePath(rawPath);
  if (segments === null) return { kind: 'refused' };
  return resolveSegments(version, segments, query) ?? fallback(version, segments, navigates);
}

function resolveRoot(version: SiteVersion, query: string): Resolution {
  const entry = version.files.get(version.entrypoint);
  if (!entry) return { kind: 'missing' };
  const folderEnd = version.entrypoint.lastIndexOf('/');
  if (folderEnd === -1) return { kind: 'file', file: entry };
  // Relative links of the page resolve against its folder, so the URL must contain that folder.
  const isIndex = version.entrypoint.endsWith('/index.html');
  const segments = (isIndex ? version.entrypoint.slice(0, folderEnd + 1) : version.entrypoint).split('/');
  return { kind: 'redirect', location: locationOf(segments, query), permanent: false };
}

function resolveSegments(version: SiteVersion, segments: readonly string[], query: string): Resolution | null {
  const path = segments.join('/');
  const exact = version.files.get(path);
  if (exact) return { kind: 'file', file: exact };
  if (path.endsWith('/')) {
    const index = version.files.get(`${path}index.html`);
    return index ? { kind: 'file', file: index } : null;
  }
  if (version.files.has(`${path}/index.html`)) {
    return { kind: 'redirect', location: locationOf([...segments, ''], query), permanent: true };
  }
  const page = version.files.get(`${path}.html`);
  return page ? { kind: 'file', file: page } : null;
}

function fallback(version: SiteVersion, segments: readonly string[], navigates: () => boolean): Resolution {
  // A missing script or image must fail, not be answered with a page.
  const looksLikeFile = segments.at(-1)?.includes('.') ?? false;
  const application = version.files.get(FALLBACK_FOUND);
  if (application && !looksLikeFile && navigates()) return { kind: 'fallback', file: application, found: true };
  const notFound = version.files.get(FALLBACK_MISSING);
  return notFound ? { kind: 'fallback', file: notFound, found: false } : { kind: 'missing' };
}

/** The location is encoded from the decoded segments; only the query reaches the header as it was sent. */
function locationOf(segments: readonly string[], query: string): string {
  const path = `/${segments.map(encodeURIComponent).join('/')}`;
  return query === '' ? path : `${path}?${query}`;
}
