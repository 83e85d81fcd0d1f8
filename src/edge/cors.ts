/** Pages of any origin may call `/v1/data`; only an artifact's own page may send its credentials. Source: contract.md §0. */
import type { ArtifactHead } from '../../actors/access/access.ts';
import type { Answer } from './answer.ts';
import type { Hosts } from './hosts.ts';

const EXPOSED = 'ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, Idempotent-Replayed, X-Next-Cursor, X-Proxy-Cache';
const PREFLIGHT_AGE_S = 7200;
/** Without an Origin the other headers mean nothing, but a cache must know that the answer depends on it. */
const NO_ORIGIN_LINES = '\r\nVary: Origin';
const ANY_ORIGIN_LINES = `\r\nAccess-Control-Allow-Origin: *\r\nVary: Origin\r\nAccess-Control-Expose-Headers: ${EXPOSED}`;

/** A preflight reads nothing of the artifact and spends no limit. Its exchange has the lines that name the allowed origin. */
export const PREFLIGHT_ANSWER: Answer = {
  status: 204,
  type: undefined,
  payload: null,
  etag: undefined,
  lines:
    '\r\nAccess-Control-Allow-Methods: GET, HEAD, POST, PUT, PATCH, DELETE' +
    '\r\nAccess-Control-Allow-Headers: Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID, X-Request-Id' +
    `\r\nAccess-Control-Max-Age: ${PREFLIGHT_AGE_S}`,
};

/**
 * Header lines of every answer under `/v1/data`, including preflights and errors. The answer must allow what its preflight allowed; else
 * the browser hides the answer to a change that was made. `head`: the live artifact of the path, null where there is none or it is unknown.
 */
export function corsLines(hosts: Hosts, origin: string, head: ArtifactHead | null): string {
  if (origin === '') return NO_ORIGIN_LINES;
  // A preflight carries no credential, so this header would reveal the page of a private artifact to anybody.
  if (head?.visibility !== 'public' || hosts.slugOfOrigin(origin) !== head.slug) return ANY_ORIGIN_LINES;
  // The origin is one of our own hosts, so it has no character that could end the header.
  return `\r\nAccess-Control-Allow-Origin: ${origin}\r\nAccess-Control-Allow-Credentials: true\r\nVary: Origin\r\nAccess-Control-Expose-Headers: ${EXPOSED}`;
}

export function isPreflight({ method, headers }: { readonly method: string; readonly headers: { get(name: string): string } }): boolean {
  return method === 'OPTIONS' && headers.get('access-control-request-method') !== '';
}
