/** Where a cited passage is read. */
import type { Citation } from '../../api/client.ts';
import { visitAddress } from '../artifact/rights.ts';

/** So many words at either end of a passage find it; more of them are more likely to lie in two paragraphs, where none is found. */
const EDGE_WORDS = 3;
const WHOLE_WORDS_MAX = 8;

/**
 * The page, opened as the signed-in person, at the passage: browsers scroll to the text that the fragment names, and open the top of the page where
 * they do not know such fragments or do not find it.
 */
export function passageAddress({ url, quote }: Citation, isPublic: boolean): string {
  const { hostname, pathname } = new URL(url);
  const fragment = `#${fragmentOf(quote)}`;
  if (isPublic) return `${url}${fragment}`;
  const [slug = ''] = hostname.split('.');
  return `${visitAddress({ visibility: 'private', slug, url })}&${new URLSearchParams({ return: `${pathname}${fragment}` })}`;
}

function fragmentOf(quote: string): string {
  const words = quote.split(/\s+/).filter((word) => word !== '');
  const ends = words.length <= WHOLE_WORDS_MAX ? [words] : [words.slice(0, EDGE_WORDS), words.slice(-EDGE_WORDS)];
  return `:~:text=${ends.map((some) => encodeURIComponent(some.join(' ')).replaceAll('-', '%2D')).join(',')}`;
}
