/** Reads the headers of a request for a file: encodings, range and conditions. */
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import parseRange from 'range-parser';
import type { Encoding } from './encodings.ts';

/** Encodings that the client accepts, best first. `identity` is left out where the client prefers another. */
export type Preference = readonly (Encoding | 'identity')[];

const OFFERED = ['br', 'gzip', 'identity'];
const IDENTITY_ONLY: Preference = ['identity'];

interface PreferringNegotiator {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): string[];
}

export class EncodingPreferences {
  // Browsers send only a few different headers, so parsed ones are cached.
  readonly #parsed = new LRUCache<string, Preference>({ max: 200 });

  of(acceptEncoding: string): Preference {
    if (acceptEncoding === '') return IDENTITY_ONLY;
    let preference = this.#parsed.get(acceptEncoding);
    if (preference === undefined) {
      const negotiator: PreferringNegotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } });
      preference = negotiator.encodings(OFFERED, { preferred: OFFERED }) as Preference;
      this.#parsed.set(acceptEncoding, preference);
    }
    return preference;
  }
}

export type Part = { readonly start: number; readonly end: number } | 'whole' | 'unsatisfiable';

/** One byte range, `end` included. Several ranges and other units get the whole file, as RFC 9110 allows. */
export function partOf(rangeHeader: string, sizeBytes: number): Part {
  const ranges = parseRange(sizeBytes, rangeHeader);
  if (ranges === -2) return 'whole';
  if (ranges === -1) {
    // A suffix longer than the file means the whole file, but the parser reports it as unsatisfiable.
    const isLongSuffix = sizeBytes > 0 && /^bytes=-0*[1-9]\d*$/.test(rangeHeader);
    return isLongSuffix ? { start: 0, end: sizeBytes - 1 } : 'unsatisfiable';
  }
  const [range] = ranges;
  if (ranges.type !== 'bytes' || ranges.length !== 1 || range === undefined) return 'whole';
  return { start: range.start, end: range.end };
}

/** Whether If-None-Match has one of these ETags. The comparison is weak, because proxies that compress add `W/`. */
export function matchingEtag(ifNoneMatch: string, etags: readonly string[]): string | undefined {
  if (ifNoneMatch.trim() === '*') return etags[0];
  return etags.find((etag) => {
    for (let at = ifNoneMatch.indexOf(etag); at !== -1; at = ifNoneMatch.indexOf(etag, at + 1)) {
      const before = ifNoneMatch.slice(0, at).trimEnd();
      if (before === '' || before.endsWith(',') || before.endsWith('W/')) return true;
    }
    return false;
  });
}
