/** The one kind of error that the SDK throws. */
import type * as api from './api.ts';

export class EaselError extends Error implements api.EaselError {
  override readonly name = 'EaselError';
  readonly code: api.Problem['code'];
  readonly status: number;
  readonly hint: string | undefined;
  readonly param: string | undefined;
  readonly retryAfterS: number | undefined;
  readonly requestId: string | undefined;

  constructor(problem: api.Problem, cause?: unknown) {
    super(problem.message, cause === undefined ? undefined : { cause });
    this.code = problem.code;
    this.status = problem.status;
    this.hint = problem.hint;
    this.param = problem.param;
    this.retryAfterS = problem.retryAfterS;
    this.requestId = problem.requestId;
  }
}

/** Makes an error from a failed response. `text` is its body, which may come from a proxy and not from Easel. */
export function errorOf(status: number, text: string, retryAfter: string | null): EaselError {
  const retryAfterS = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  const body = parse(text);
  if (typeof body?.code !== 'string') {
    return new EaselError({
      code: 'UNREADABLE_REPLY',
      status,
      message: `The answer (status ${status}) is not from Easel.`,
      retryAfterS,
    });
  }
  const { code, error, hint, param, request_id: requestId } = body as Record<string, string>;
  return new EaselError({ code: code as api.Problem['code'], status, message: error ?? String(code), hint, param, retryAfterS, requestId });
}

export function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isCode(error: unknown, ...codes: api.Problem['code'][]): error is EaselError {
  return error instanceof EaselError && codes.includes(error.code);
}

/** True if a repetition cannot succeed: access is denied, or the thing does not exist. */
export function isFinalError({ status }: EaselError): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
