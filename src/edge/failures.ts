/** Turns what was thrown into an answer: the body of spec.md, RFC 9457 members on demand, never anything internal. */
import { ERRORS, type ErrorCode, type Failure } from '../../protocol/errors.ts';
import { type Answer, NOSNIFF, safeValue } from './answer.ts';
import { rateLines } from './limits.ts';

/** Sent with a 503 that names no time of its own. Seconds. */
const RETRY_AFTER_DEFAULT_S = 1;
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
}

/** Header lines and members that only some failures have; `allow` on a wrong method, `types` on a media type not taken. */
export interface FailureExtras {
  readonly allow?: string;
  readonly types?: readonly string[];
}

export function failureAnswer(failure: Failure, request: FailedRequest, extras: FailureExtras = {}): Answer {
  const { details } = failure;
  const entry: { status: number; message: string; hint?: string } = ERRORS[failure.code];
  const problem = request.accept.includes(PROBLEM_JSON);
  const body = {
    ...(problem && {
      type: `urn:easel:error:${failure.code}`,
      title: entry.message,
      status: entry.status,
      detail: failure.message,
      instance: request.path,
    }),
    success: false,
    error: failure.message,
    code: failure.code,
    request_id: request.requestId,
    reason: details.reason,
    hint: details.hint ?? entry.hint,
    param: details.param ?? details.issues?.[0]?.path,
    issues: details.issues,
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
