/** What request headers ask of a file: which encoding, which part, and whether the client has it already. */
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import parseRange from 'range-parser';
import type { Encoding } from './encodings.ts';

/** Encodings the client takes, best first. `identity` is left out where the client would rather not have it. */
export type Preference = readonly (Encoding | 'identity')[];

const OFFERED = ['br', 'gzip', 'identity'];
const IDENTITY_ONLY: Preference = ['identity'];

interface PreferringNegotiator {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): string[];
}

export class EncodingPreferences {
  // Browsers send a handful of different headers.
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

/** One byte range, `end` included. Several ranges and other units are answered with the whole, as RFC 9110 allows. */
export function partOf(rangeHeader: string, sizeBytes: number): Part {
  const ranges = parseRange(sizeBytes, rangeHeader);
  if (ranges === -2) return 'whole';
  if (ranges === -1) {
    // A suffix longer than the file asks for all of it; the parser takes it for unsatisfiable.
    const isLongSuffix = sizeBytes > 0 && /^bytes=-0*[1-9]\d*$/.test(rangeHeader);
    return isLongSuffix ? { start: 0, end: sizeBytes - 1 } : 'unsatisfiable';
  }
  const [range] = ranges;
  if (ranges.type !== 'bytes' || ranges.length !== 1 || range === undefined) return 'whole';
  return { start: range.start, end: range.end };
}

/** Whether If-None-Match holds one of these ETags. The comparison is weak: a proxy that compressed on its way has added `W/`. */
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
