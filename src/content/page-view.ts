/** Which answers count as a view of a page. */
import type { ContentRequest } from './types.ts';

const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/i;

/**
 * Whether a browser opens an HTML page to show it: also one that it has kept and only revalidates. Not what it fetches ahead in case somebody
 * opens it, what a script reads, and what a page embeds of itself.
 */
export function isPageView(mime: string, request: ContentRequest, status: number): boolean {
  if (request.method !== 'GET' || (status !== 200 && status !== 304) || !HTML.test(mime)) return false;
  if (isAhead(request.header('sec-purpose')) || isAhead(request.header('purpose')) || isAhead(request.header('x-moz'))) return false;
  switch (request.header('sec-fetch-dest')) {
    case 'document':
      return true;
    case 'iframe':
    case 'frame':
    case 'embed':
    case 'object':
      return request.header('sec-fetch-site') !== 'same-origin';
    case '':
      // Browsers that send no metadata ask for HTML where somebody opens a page.
      return request.header('accept').includes('text/html');
    default:
      return false;
  }
}

function isAhead(purpose: string): boolean {
  return purpose !== '' && /prefetch|prerender|preview/i.test(purpose);
}
