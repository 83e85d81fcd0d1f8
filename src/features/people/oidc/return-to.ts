/** Where a browser goes after it has signed in: never to another origin. */
import { ownPath } from '../../../edge/return-to.ts';

/** The path of this host that is meant, with its query and fragment; `/` for anything else. `baseUrl`: the API's address. */
export function returnPath(wanted: string | undefined, baseUrl: string): string {
  const { origin } = new URL(baseUrl);
  return ownPath(wanted?.startsWith(`${origin}/`) ? wanted.slice(origin.length) : wanted, '/');
}
