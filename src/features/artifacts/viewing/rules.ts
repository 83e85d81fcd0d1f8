/** Who may be signed in on a page's origin, and the addresses on the way there. */
import { type ArtifactHead, decide, roleOf, type UserPrincipal } from '../../../../actors/access/access.ts';
import { BEGIN_PATH, ENTER_PATH, OPEN_PATH } from '../../../edge/page-entry.ts';
import { type Config, pageUrl } from '../../../platform/config.ts';

type Hosts = Pick<Config, 'baseUrl' | 'contentHost'>;

/**
 * `asked`: only once they have agreed. A page of strangers would otherwise learn the name of everybody who follows a link to it while they are
 * signed in to the app.
 */
export type Welcome = 'welcome' | 'asked' | 'refused';

export function welcomeOf(head: ArtifactHead | null, principal: UserPrincipal): Welcome {
  const decision = decide(head, principal, 'data:read', null);
  // Of a page that is suspended those who might see it are told so there.
  if (head === null || (decision !== 'allowed' && decision !== 'suspended')) return 'refused';
  return roleOf(head, principal) === 'none' ? 'asked' : 'welcome';
}

/** On the app's host: shows who is signed in, and goes on. */
export function openAddress({ baseUrl }: Hosts, slug: string, to: string, challenge: string | undefined): string {
  const query = new URLSearchParams({ slug, ...(challenge !== undefined && { challenge }), return: to });
  return `${baseUrl}${OPEN_PATH}?${query}`;
}

/** On the page's origin: marks the browser and comes back with the challenge. */
export function beginAddress(hosts: Hosts, slug: string, to: string): string {
  return `${pageUrl(hosts, slug)}${BEGIN_PATH}?${new URLSearchParams({ to })}`;
}

/** On the page's origin: takes the ticket. */
export function enterAddress(hosts: Hosts, slug: string, to: string, ticket: string): string {
  return `${pageUrl(hosts, slug)}${ENTER_PATH}?${new URLSearchParams({ ticket, to })}`;
}
