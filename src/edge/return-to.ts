/** Where a browser goes after a sign-in: the one place that decides it, because an open redirect lends our name to anybody. */
import { LIMITS } from '../../protocol/core/limits.ts';

/** Parsed against this origin, an address that leaves it shows. */
const SELF = 'http://self.invalid';
/** Printable ASCII without backslashes, which browsers read as slashes; one slash first, and no second one in any spelling. */
const LOCAL = /^\/(?![/\\]|%2f|%5c)[\x21-\x5b\x5d-\x7e]*$/i;

/** The path of this host that `wanted` names, or `otherwise` where it names anything else. */
export function ownPath(wanted: string | undefined, otherwise = '/account'): string {
  if (wanted === undefined || wanted.length > LIMITS.returnToCharsMax || !LOCAL.test(wanted) || !URL.canParse(wanted, SELF))
    return otherwise;
  const url = new URL(wanted, SELF);
  // Dot segments are resolved, so that what was checked is what the browser opens.
  const path = `${url.pathname}${url.search}${url.hash}`;
  return url.origin === SELF && LOCAL.test(path) ? path : otherwise;
}
