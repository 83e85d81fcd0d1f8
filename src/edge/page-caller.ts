/** Who calls on a page's own host, where the cookies are the page's and never those of the API. */
import { ANONYMOUS, letIn, type Pass, type Principal, type UserPrincipal } from '../../actors/access/access.ts';

/** What the cookies say: the person who is signed in on this page, and the pass. */
export interface PageCaller {
  readonly viewer: UserPrincipal | null;
  readonly pass: Pass | null;
}

/** A stranger. */
export const NO_CALLER: PageCaller = { viewer: null, pass: null };

/** As whom the calls of a page count. */
export function callerOf({ viewer, pass }: PageCaller): Principal {
  const principal = viewer ?? ANONYMOUS;
  return pass === null ? principal : letIn(principal, pass);
}

interface HeaderSource {
  /** `name` is lowercase. Empty when the header is absent. */
  get(name: string): string;
}

/**
 * Whether a read counts as made by the person who is signed in there. Pages on sibling hosts are of the same site, so browsers send the cookie
 * with what they embed: a script or an image of a private page could be read there, and a frame of it clicked. `ofPage`: the Origin is the
 * page's own.
 */
export function mayReadAsViewer(headers: HeaderSource, ofPage: boolean): boolean {
  if (headers.get('origin') !== '') return ofPage;
  const site = headers.get('sec-fetch-site');
  if (site === '' || site === 'same-origin' || site === 'none') return true;
  return headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document';
}
