/** Pages of any origin may call `/v1/data`; only an artifact's own page may send its credentials. Source: contract.md §0. */
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import type { Hosts } from './hosts.ts';

const EXPOSED = 'ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, Idempotent-Replayed, X-Next-Cursor';
const PREFLIGHT_AGE_S = 7200;
const ANY_ORIGIN = '\r\nAccess-Control-Allow-Origin: *';
const PREFLIGHT =
  '\r\nAccess-Control-Allow-Methods: GET, HEAD, POST, PUT, PATCH, DELETE' +
  '\r\nAccess-Control-Allow-Headers: Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID, X-Request-Id' +
  `\r\nAccess-Control-Max-Age: ${PREFLIGHT_AGE_S}`;

/** For every answer under `/v1/data`, errors too: a page must be able to read why it was refused. */
export const ANY_ORIGIN_LINES = `${ANY_ORIGIN}\r\nVary: Origin\r\nAccess-Control-Expose-Headers: ${EXPOSED}`;
/** Without an Origin nobody reads the rest, but a cache must know that the answer depends on it. */
export const NO_ORIGIN_LINES = '\r\nVary: Origin';

/** Lines for a call by the artifact's own page; undefined for every other origin. */
export function ownPageLines(hosts: Hosts, exchange: Exchange, slug: string): string | undefined {
  const origin = exchange.headers.get('origin');
  if (origin === '' || hosts.slugOfOrigin(origin) !== slug) return undefined;
  return `${ownOrigin(origin)}\r\nAccess-Control-Expose-Headers: ${EXPOSED}`;
}

/** A preflight asks nothing of the artifact and spends nothing. `ownSlug`: of a public artifact, whose page may send credentials. */
export function preflightAnswer(hosts: Hosts, exchange: Exchange, ownSlug: string | undefined): Answer {
  const origin = exchange.headers.get('origin');
  const own = ownSlug !== undefined && hosts.slugOfOrigin(origin) === ownSlug;
  return {
    status: 204,
    type: undefined,
    payload: null,
    etag: undefined,
    lines: (own ? ownOrigin(origin) : `${ANY_ORIGIN}\r\nVary: Origin`) + PREFLIGHT,
  };
}

// The origin has been recognised as a host of ours: it cannot hold anything that ends a header.
function ownOrigin(origin: string): string {
  return `\r\nAccess-Control-Allow-Origin: ${origin}\r\nAccess-Control-Allow-Credentials: true\r\nVary: Origin`;
}
