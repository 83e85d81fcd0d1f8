/** What can go wrong with a call, as the screens tell it. */

export interface Facts {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly param?: string | undefined;
  /** A text with both sides of a conflict marked. */
  readonly conflict?: string | undefined;
  readonly requestId?: string | undefined;
  /** A page of ours where a person can do something about it. */
  readonly redirectUrl?: string | undefined;
  /** After so many seconds the call may succeed. */
  readonly retryAfterS?: number | undefined;
}

/** An answer that refuses, or no answer: then the status is 0 and the code OFFLINE. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly param: string | undefined;
  readonly conflict: string | undefined;
  readonly requestId: string | undefined;
  readonly redirectUrl: string | undefined;
  readonly retryAfterS: number | undefined;

  constructor({ status, code, message, hint, param, conflict, requestId, redirectUrl, retryAfterS }: Facts) {
    super(message);
    this.name = 'Problem';
    this.status = status;
    this.code = code;
    this.hint = hint;
    this.param = param;
    this.conflict = conflict;
    this.requestId = requestId;
    this.redirectUrl = redirectUrl;
    this.retryAfterS = retryAfterS;
  }

  get isOffline(): boolean {
    return this.code === 'OFFLINE';
  }

  get isForbidden(): boolean {
    return this.status === 403;
  }

  get isMissing(): boolean {
    return this.status === 404;
  }

  /** The request that failed for a reason that only whoever runs the service can see; undefined of what people can mend themselves. */
  get faultOf(): string | undefined {
    return this.status >= 500 ? this.requestId : undefined;
  }
}

/** Anything thrown, as a problem: what is not one is a mistake of the app itself. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  console.error(error);
  return new Problem({ status: 0, code: 'APP_ERROR', message: error instanceof Error ? error.message : String(error) });
}
