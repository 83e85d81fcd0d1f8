/** The endpoint that leads a browser to a page as the person who is signed in. */
import type { Handlers } from '../../../edge/call.ts';
import { pagePath } from '../../../edge/page-entry.ts';
import type { ServiceDeps } from '../../deps.ts';
import { isOwnSession } from './page-sign-ins.ts';
import { openAddress } from './rules.ts';
import type { Viewing } from './viewing.ts';

interface Deps extends Pick<ServiceDeps, 'config'> {
  readonly viewing: Viewing;
}

export function viewingHandlers({ config, viewing }: Deps): Handlers<'artifacts.view'> {
  return {
    'artifacts.view': async ({ head, principal, query }) => {
      const wanted = { to: pagePath(query.return), challenge: query.challenge };
      // A program with a token gets the address at which its person signs in, and no ticket that would sign any browser in as them.
      const open = openAddress(config, head.slug, wanted.to, wanted.challenge);
      if (principal.kind !== 'user' || !isOwnSession(principal)) return redirect(open);
      const next = await viewing.next(head, principal, wanted, false);
      return redirect(next.kind === 'go' ? next.url : open);
    },
  };
}

function redirect(location: string) {
  const headers = { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };
  return { reply: 'found', body: 'Go on at the address in Location.\n', headers } as const;
}
