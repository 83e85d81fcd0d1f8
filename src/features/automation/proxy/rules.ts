/** What a page may read through its proxy, and what of an answer it gets, decided without I/O. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { EgressFailure } from '../../../egress/failure.ts';
import type { ProxySettings } from './rows.ts';

/** Until somebody names hosts. */
export const NO_HOSTS: ProxySettings = { hosts: [], cacheS: 0 };

/** Throws HOST_NOT_ALLOWED. Asked for the first address and for each to which it leads. */
export function requireHost({ hosts }: ProxySettings, { hostname }: URL): void {
  const name = hostname.replace(/\.$/, '');
  if (hosts === null || hosts.some((one) => (one.startsWith('*.') ? name.endsWith(one.slice(1)) : name === one))) return;
  throw new Failure('HOST_NOT_ALLOWED', { param: 'url', message: `The page may not read ${name}.` });
}

/** Headers that a page needs of an answer. All others stay behind: some would act on the page's own origin. */
const PASSED_ON = new Set([
  'content-type',
  'content-language',
  'etag',
  'last-modified',
  'link',
  'retry-after',
  'x-total-count',
  'x-next-page',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
]);

/** Without its type and ETag, which an answer carries by itself. */
export function headersFor(headers: Readonly<Record<string, string>>, cached: string, freshS: number): Record<string, string> {
  const passed = Object.entries(headers).filter(([name]) => PASSED_ON.has(name) && name !== 'content-type' && name !== 'etag');
  return {
    ...Object.fromEntries(passed),
    'x-proxy-cache': cached,
    'cache-control': freshS > 0 ? `private, max-age=${freshS}` : 'private, no-cache',
    // Opened as a page of its own it would have the rights of the page that may read it.
    'content-security-policy': "default-src 'none'; sandbox",
  };
}

/**
 * The type of an answer. What a browser would run or apply is plain text: under the service's address it would count as the page's own, or as
 * the service's, wherever a policy admits `'self'`.
 */
export function typeFor({ 'content-type': type = 'application/octet-stream' }: Readonly<Record<string, string>>): string {
  return /script|css|wasm|xslt/i.test(type.split(';', 1)[0] ?? '') ? 'text/plain; charset=utf-8' : type;
}

/** Undefined where it is none that HTTP knows. */
export function etagIn(headers: Readonly<Record<string, string>>): string | undefined {
  const { etag } = headers;
  return etag !== undefined && /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]{0,200}"$/.test(etag) ? etag : undefined;
}

/** A status line of ours can hold these. */
export function isPassableStatus(status: number): boolean {
  return status >= 200 && status <= 599 && status !== 205 && status !== 304;
}

export function refusalOf(failure: EgressFailure): Failure {
  switch (failure.reason) {
    case 'invalid':
      return new Failure('INVALID_REQUEST', { param: 'url', message: `url: ${failure.message}` });
    case 'blocked':
      return new Failure('BLOCKED_DESTINATION', {
        param: 'url',
        message: failure.message,
        ...(failure.hint !== undefined && { hint: failure.hint }),
      });
    case 'busy':
      return new Failure('UNAVAILABLE', { message: failure.message, retryAfterS: 1 });
    case 'dns':
    case 'connect':
    case 'timeout':
    case 'too_large':
    case 'bad_answer':
      return new Failure('PROXY_ERROR', { message: failure.message });
    default:
      return failure.reason satisfies never;
  }
}
