/** Signing in at an identity provider (OpenID Connect). Source: contract.md §13. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { LIMITS } from '../core/limits.ts';
import { boundedText } from '../core/text.ts';

const params = z.object({ provider: z.string().max(64) });
const text = boundedText(LIMITS.returnToCharsMax).optional();
const redirect = { status: 302, media: 'text/plain' } as const;

export const oidc = {
  'oidc.start': endpoint({
    method: 'GET',
    path: '/v1/auth/oidc/{provider}/start',
    group: 'signIn',
    summary: 'Sends a browser to the identity provider to sign in.',
    access: { who: 'anyone', browser: true },
    limit: 'signInStarts',
    params,
    query: z.object({
      return_to: text.meta({ description: 'where to go afterwards: a path of this host; anything else becomes /' }),
      login_hint: boundedText(LIMITS.emailCharsMax).optional().meta({ description: 'the address to sign in with' }),
      link: z
        .enum(['1'])
        .optional()
        .meta({ description: 'link the sign-in to the person who is signed in; from a page of this host only' }),
    }),
    replies: { found: redirect },
    errors: ['PROVIDER_NOT_FOUND', 'PROVIDER_UNAVAILABLE', 'UNAUTHORIZED', 'ORIGIN_REFUSED'],
  }),
  'oidc.callback': endpoint({
    method: 'GET',
    path: '/v1/auth/oidc/{provider}/callback',
    group: 'signIn',
    summary: 'Where the identity provider sends the browser back to; signs in or links, and goes on to return_to.',
    access: { who: 'anyone', browser: true },
    limit: 'none',
    params,
    // What is read of the provider's answer. RFC 6749 (4.1.2) lets it add others, and most do: session_state, scope, authuser, hd, prompt.
    query: z.object({
      code: boundedText(4096).optional(),
      state: boundedText(256).optional(),
      iss: boundedText(2048).optional(),
      error: boundedText(256).optional(),
      error_description: boundedText(2048).optional(),
      error_uri: boundedText(2048).optional(),
    }),
    foreignQuery: true,
    replies: { found: redirect },
    errors: ['ACCOUNT_SUSPENDED', 'SWITCHED_OFF', 'PROVIDER_NOT_FOUND', 'PROVIDER_UNAVAILABLE', 'SIGN_IN_FAILED', 'UNAUTHORIZED'],
  }),
} as const;
