/** Turns a failure into an answer: the body of spec.md, RFC 9457 members on request, and no internals. */
import { ERRORS, type ErrorCode, type Failure, wireCodeOf } from '../../protocol/core/errors.ts';
import { type Answer, headerLines, NOSNIFF, safeValue } from './answer.ts';
import { rateLines } from './limits.ts';
import { failurePage, PAGE_SECURITY, PAGE_TYPE } from './page-frame.ts';

/** Retry-After in seconds of a 503 that names no time of its own. */
const RETRY_AFTER_DEFAULT_S = 1;
/** What pages and programs read and write; a browser is not sent there by a link. */
const DATA_PREFIX = '/v1/data/';
const PROBLEM_JSON = 'application/problem+json';
const SUPPORT = {
  how: 'Open a support ticket and quote the request id.',
  include: ['request_id', 'the time of the call', 'what you tried'],
};

export interface FailedRequest {
  readonly requestId: string;
  readonly path: string;
  /** The Accept header. */
  readonly accept: string;
  /** It is for the API's host, so that its failures can be pages of ours. */
  readonly isForApi?: boolean;
  /** The address of the API, before the paths of pages of ours; programs without a browser pass the whole address on to people. */
  readonly baseUrl?: string;
}

/** Header lines and members that only some failures have: `allow` for a wrong method, `types` for an unsupported media type. */
export interface FailureExtras {
  readonly allow?: string;
  readonly types?: readonly string[];
}

export function failureAnswer(failure: Failure, request: FailedRequest, extras: FailureExtras = {}): Answer {
  const { details } = failure;
  const entry = ERRORS[failure.code];
  const code = wireCodeOf(failure.code);
  if (isForPeople(request)) return pageAnswer(failure, request, extras);
  const problem = request.accept.includes(PROBLEM_JSON);
  const body = {
    ...(problem && {
      type: `urn:easel:error:${code}`,
      title: entry.message,
      status: entry.status,
      detail: failure.message,
      instance: request.path,
    }),
    success: false,
    error: failure.message,
    code,
    request_id: request.requestId,
    reason: details.reason,
    hint: details.hint ?? entry.hint,
    param: details.param ?? details.issues?.[0]?.path,
    issues: details.issues,
    conflict: details.conflict,
    redirect_url: addressOf(failure, request),
    support: entry.status >= 500 ? SUPPORT : undefined,
  };
  return {
    status: entry.status,
    type: problem ? PROBLEM_JSON : 'application/json',
    payload: JSON.stringify(body),
    etag: details.etag,
    lines: failureLines(failure.code, details, entry.status, extras),
  };
}

function addressOf({ details: { redirectPath } }: Failure, { baseUrl }: FailedRequest): string | undefined {
  if (redirectPath === undefined || baseUrl === undefined) return redirectPath;
  return new URL(redirectPath, baseUrl).href;
}

/** A browser that opens an address or sends a form, and no script. */
function isForPeople({ accept, isForApi, path }: FailedRequest): boolean {
  return isForApi === true && accept.includes('text/html') && !accept.includes('json') && !path.startsWith(DATA_PREFIX);
}

function pageAnswer(failure: Failure, { requestId }: FailedRequest, extras: FailureExtras): Answer {
  const { details } = failure;
  const { status, hint } = ERRORS[failure.code];
  const payload = failurePage({
    message: failure.message,
    hint: details.hint ?? hint,
    requestId,
    signIn: status === 401,
    goTo: details.redirectPath,
  });
  const lines = failureLines(failure.code, details, status, extras) + headerLines(PAGE_SECURITY);
  return { status, type: PAGE_TYPE, payload, etag: undefined, lines };
}

function failureLines(code: ErrorCode, details: Failure['details'], status: number, extras: FailureExtras): string {
  let lines = `${NOSNIFF}\r\nCache-Control: no-store`;
  const retryAfterS = details.retryAfterS ?? (status === 503 ? RETRY_AFTER_DEFAULT_S : undefined);
  if (retryAfterS !== undefined) lines += `\r\nRetry-After: ${Math.max(1, Math.ceil(retryAfterS))}`;
  if (details.rate !== undefined) lines += rateLines(details.rate.name, details.rate.windowS, details.rate);
  if (code === 'UNAUTHORIZED') {
    lines += `\r\nWWW-Authenticate: Bearer realm="easel"${details.reason === 'missing' ? '' : ', error="invalid_token"'}`;
  }
  if (code === 'UPGRADE_REQUIRED') lines += '\r\nUpgrade: websocket\r\nConnection: Upgrade';
  if (extras.allow !== undefined) lines += `\r\nAllow: ${extras.allow}`;
  if (extras.types !== undefined) lines += `\r\nAccept: ${safeValue(extras.types.join(', '))}`;
  return lines;
}
