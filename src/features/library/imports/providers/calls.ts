/** Calls to a provider through the guarded egress: with deadlines, bounds and a patience, because providers limit how often they are called. */
import type { z } from 'zod';
import type { Clock } from '../../../../../actors/runtime/ports.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { Egress, EgressReply, EgressRequest } from '../../../../egress/egress.ts';
import { EgressFailure } from '../../../../egress/failure.ts';

const CALL_MS = 20_000;
const DOWNLOAD_MS = 120_000;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const FIRST_PAUSE_MS = 1000;

export type DriveFailureKind =
  /** It wants to be called less often. */
  | 'rate'
  /** It does not answer, or not as it should. */
  | 'unavailable'
  /** The account may not. */
  | 'denied'
  | 'gone'
  /** The access was withdrawn. */
  | 'revoked'
  /** The provider does not know the cursor any more. */
  | 'stale_cursor'
  | 'too_large';

export class DriveFailure extends Error {
  override readonly name = 'DriveFailure';
  readonly kind: DriveFailureKind;

  constructor(kind: DriveFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** How often a call is tried, and how long its caller waits for the next try. */
export interface Patience {
  readonly tries: number;
  readonly waitMsMax: number;
  /** How often it waits where this service itself is busy, which is no try. */
  readonly busyWaits: number;
}

/** Between them, calls of the same workspace end. */
const BUSY_PAUSE_MS = 2000;

/** For a person who looks at it. */
export const IMPATIENT: Patience = { tries: 1, waitMsMax: 0, busyWaits: 0 };
export const PATIENT: Patience = { tries: LIMITS.importCallTries, waitMsMax: LIMITS.importWaitMsMax, busyWaits: 150 };

export interface CallsDeps {
  readonly egress: Pick<Egress, 'fetch'>;
  readonly clock: Pick<Clock, 'after' | 'nowMs'>;
}

/** Whose access the calls go by. */
export interface Bearer {
  token(): Promise<string>;
  /** The provider has refused this one. Throws revoked where there is no other. */
  refused(token: string): Promise<void>;
}

export interface CallsOptions {
  readonly share: string;
  readonly patience: Patience;
  readonly signal?: AbortSignal;
  /** After it, nothing is called any more. */
  readonly endsAtMs?: number;
}

type Tried = { readonly reply: EgressReply } | { readonly failure: DriveFailure; readonly waitMs: number | undefined };
type Bounds = Pick<EgressRequest, 'bytesMax' | 'timeoutMs' | 'redirectsMax'>;

export class DriveCalls {
  readonly #deps: CallsDeps;
  readonly #bearer: Bearer;
  readonly #options: CallsOptions;

  constructor(deps: CallsDeps, bearer: Bearer, options: CallsOptions) {
    this.#deps = deps;
    this.#bearer = bearer;
    this.#options = options;
  }

  /** The answer of a GET, checked. What the schema does not name is left out. */
  async json<S extends z.ZodType>(url: string, schema: S): Promise<z.output<S>> {
    const reply = await this.#get(url, { bytesMax: ANSWER_BYTES_MAX, timeoutMs: CALL_MS });
    const parsed = schema.safeParse(jsonOf(reply.body));
    if (!parsed.success) throw new DriveFailure('unavailable', 'The provider answers in a form that is not known.');
    return parsed.data;
  }

  /** Redirects lead to where the contents are, to which the token does not go. */
  async content(url: string, bytesMax: number): Promise<Buffer> {
    return (await this.#get(url, { bytesMax, timeoutMs: DOWNLOAD_MS, redirectsMax: 3 })).body;
  }

  async #get(url: string, bounds: Bounds): Promise<EgressReply> {
    const { patience } = this.#options;
    let isRenewed = false;
    let waits = 0;
    for (let tries = 1; ; tries += 1) {
      const token = await this.#bearer.token();
      const outcome = await this.#try(url, token, bounds);
      if ('reply' in outcome) return outcome.reply;
      const { failure, waitMs } = outcome;
      if (isBusy(failure)) {
        if (waits >= patience.busyWaits) throw failure;
        waits += 1;
        tries -= 1;
        await pause(this.#deps.clock, BUSY_PAUSE_MS, this.#options.signal);
        continue;
      }
      if (failure.kind === 'revoked') {
        if (isRenewed) throw failure;
        isRenewed = true;
        await this.#bearer.refused(token);
        continue;
      }
      const pauseMs = waitMs ?? FIRST_PAUSE_MS * 2 ** (tries - 1);
      const isPassing = failure.kind === 'rate' || failure.kind === 'unavailable';
      if (!isPassing || tries >= patience.tries || pauseMs > patience.waitMsMax) throw failure;
      await pause(this.#deps.clock, pauseMs, this.#options.signal);
    }
  }

  async #try(url: string, token: string, bounds: Bounds): Promise<Tried> {
    const { share, signal, endsAtMs = Number.POSITIVE_INFINITY } = this.#options;
    const leftMs = endsAtMs - this.#deps.clock.nowMs();
    if (leftMs <= 0) return { failure: new DriveFailure('unavailable', 'The provider takes too long.'), waitMs: undefined };
    const timeoutMs = Math.min(bounds.timeoutMs, leftMs);
    try {
      const headers = { authorization: `Bearer ${token}`, accept: 'application/json, */*' };
      const reply = await this.#deps.egress.fetch({ method: 'GET', url, headers, share, ...bounds, timeoutMs, ...(signal && { signal }) });
      const failure = failureOf(reply);
      return failure === undefined ? { reply } : { failure, waitMs: retryAfterMs(reply, this.#deps.clock.nowMs()) };
    } catch (error) {
      return { failure: ofEgress(error), waitMs: undefined };
    }
  }
}

/** Throws what is no failure of the call. */
export function ofEgress(error: unknown): DriveFailure {
  if (!(error instanceof EgressFailure)) throw error;
  if (error.reason === 'too_large') return new DriveFailure('too_large', error.message, { cause: error });
  // The provider is not to blame.
  if (error.reason === 'busy') return new DriveFailure('unavailable', error.message, { cause: error });
  return new DriveFailure('unavailable', `The provider cannot be reached: ${error.message}`, { cause: error });
}

/** Not of the provider: this service has too many calls under way, or reads too much at once. */
function isBusy({ cause }: DriveFailure): boolean {
  return cause instanceof EgressFailure && cause.reason === 'busy';
}

function failureOf({ status, body }: EgressReply): DriveFailure | undefined {
  if (status >= 200 && status < 300) return undefined;
  switch (status) {
    case 401:
      return new DriveFailure('revoked', 'The provider does not accept the access any more.');
    case 404:
      return new DriveFailure('gone', 'It is not there any more, or the account does not see it.');
    case 410:
      return new DriveFailure('stale_cursor', 'The provider does not know any more what has changed since.');
    case 429:
      return rateFailure();
    case 403:
      // Google says so with this status, too. https://developers.google.com/workspace/drive/api/guides/handle-errors
      return /"(?:userRateLimitExceeded|rateLimitExceeded|dailyLimitExceeded)"/.test(body.toString('utf8', 0, 8192))
        ? rateFailure()
        : new DriveFailure('denied', 'The account may not read it.');
    default:
      return new DriveFailure(status >= 500 ? 'unavailable' : 'denied', `The provider answers with the status ${status}.`);
  }
}

function rateFailure(): DriveFailure {
  return new DriveFailure('rate', 'The provider wants to be called less often.');
}

/** Seconds, or a date. Undefined where it says neither. */
function retryAfterMs({ headers }: EgressReply, nowMs: number): number | undefined {
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new DriveFailure('unavailable', 'The provider does not answer in JSON.', { cause });
  }
}

function pause(clock: Pick<Clock, 'after'>, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    });
    if (signal?.aborted) giveUp();
    else signal?.addEventListener('abort', giveUp, { once: true });
  });
}
