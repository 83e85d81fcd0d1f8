/** Settings of identity providers: a few for each id in OIDC_PROVIDERS, because secrets are handed to a process one by one. */
import { z } from 'zod';
import type { Issue } from '../../protocol/core/errors.ts';
import { readInput } from '../../protocol/core/issues.ts';

/** Without TLS anybody between could sign in as anybody. */
const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$)/;

export function isLoopback(url: string): boolean {
  return LOOPBACK.test(url);
}

const provider = z.object({
  issuer: z.url({ protocol: /^https?$/ }).refine((url) => url.startsWith('https:') || isLoopback(url), 'must use https'),
  client_id: z.string().min(1),
  client_secret: z.string().min(1).optional(),
  name: z.string().min(1).max(60).optional(),
  scope: z
    .string()
    .regex(/(?:^| )openid(?: |$)/, 'must contain openid')
    .default('openid email profile'),
});

export interface OidcSettings {
  /** In addresses and records: it must stay the same. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client, which PKCE alone protects. */
  readonly clientSecret: string | undefined;
  readonly scope: string;
}

/** Names of providers that would be taken for another way to sign in. */
const RESERVED = new Set(['email', 'password', 'passkey']);

/** The providers of a list of ids, and what is wrong with their settings. */
export function readProviders(
  ids: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly providers: readonly OidcSettings[]; readonly issues: readonly Issue[] } {
  const providers: OidcSettings[] = [];
  const issues: Issue[] = [];
  const listed = ids?.split(',') ?? [];
  for (const [at, id] of listed.entries()) {
    if (RESERVED.has(id) || listed.indexOf(id) !== at) {
      issues.push({ path: 'OIDC_PROVIDERS', message: RESERVED.has(id) ? `must not have the id ${id}` : `has ${id} twice` });
      continue;
    }
    const prefix = `OIDC_${id.toUpperCase()}_`;
    const given = Object.fromEntries(
      Object.keys(provider.shape).flatMap((field) => {
        const value = environment[prefix + field.toUpperCase()];
        return value === undefined ? [] : [[field, value]];
      }),
    );
    const read = readInput(provider, given);
    if (read.issues !== undefined) {
      issues.push(...read.issues.map(({ path, message }) => ({ path: prefix + path.toUpperCase(), message })));
      continue;
    }
    const { issuer, client_id, client_secret, name = id, scope } = read.value;
    providers.push({ id, name, issuer, clientId: client_id, clientSecret: client_secret, scope });
  }
  return { providers, issues };
}
