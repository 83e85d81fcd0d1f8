/** Calls the API, repeats a call where that is safe, and returns its data or throws an EaselError. */
import type { EaselOptions } from './api.ts';
import { EaselError, errorOf, parse } from './errors.ts';

/** Injected functions, so that tests control time and randomness. */
export interface Surroundings {
  readonly fetch: typeof fetch;
  /** Resolves after `ms`; rejects when the signal fires. */
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** 0 up to 1. */
  readonly random: () => number;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below `/v1/data/{artifactId}`; free text in it is encoded by `segment`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: unknown;
  readonly mediaType?: string | undefined;
  readonly accept?: string | undefined;
  readonly ifMatch?: string | undefined;
  readonly ifAbsent?: boolean | undefined;
  /** A POST that changes nothing. */
  readonly reads?: boolean;
  /** Default: the token of the SDK instance. */
  readonly token?: string | undefined;
  /** The answer is the data itself, without an envelope. */
  readonly bare?: boolean;
  /** No repetition: the caller repeats the call itself. */
  readonly once?: boolean;
  readonly signal?: AbortSignal | undefined;
}

const RETRIES_MAX = 4;
/** Fewer attempts if no answer arrives at all: the network is probably down, and the page should show it soon. */
const NETWORK_RETRIES_MAX = 2;
const WAIT_MS_FIRST = 250;
/** With a longer Retry-After the error is thrown instead. */
const WAIT_MS_MAX = 30_000;
/** Jitter, so that clients refused together do not all return at once. */
const SPREAD_MS_MAX = 1000;

export class Transport {
  readonly #site: EaselOptions;
  readonly #around: Surroundings;
  readonly #onRetry: (waitMs: number, error: EaselError) => void;

  constructor(site: EaselOptions, around: Surroundings, onRetry: (waitMs: number, error: EaselError) => void) {
    this.#site = site;
    this.#around = around;
    this.#onRetry = onRetry;
  }

  /** The address of a path below the artifact's data, with its query. */
  url(path: string, query: Request['query'] = {}): string {
    const { artifactId, baseUrl = '' } = this.#site;
    if (!artifactId) {
      const hint = 'Load /sdk.js from the page’s own address, give its script element data-artifact, or call easel.connect.';
      throw new EaselError({ code: 'NO_ARTIFACT', status: 0, message: 'The page does not say which artifact it uses.', hint });
    }
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, String(value));
    return `${baseUrl}/v1/data/${artifactId}${path}${search.size > 0 ? `?${search}` : ''}`;
  }

  /** Resolves with `data` of the response envelope. */
  call<T>(request: Request): Promise<T> {
    const url = this.url(request.path, request.query);
    return this.#repeated(request, async (init) => (await this.#send(url, init, request.bare === true)) as T);
  }

  /** Resolves with an answer as it is, of any status, where it is one. Other answers are errors of the service, and thrown. */
  pass(request: Request, isAnswer: (response: Response) => boolean): Promise<Response> {
    const url = this.url(request.path, request.query);
    return this.#repeated({ accept: '*/*', ...request }, async (init) => {
      const response = await this.#fetch(url, init);
      if (isAnswer(response)) return response;
      throw errorOf(response.status, await response.text(), response.headers.get('retry-after'));
    });
  }

  async #repeated<T>(request: Request, send: (init: RequestInit) => Promise<T>): Promise<T> {
    const init = this.#init(request);
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await send(init);
      } catch (error) {
        const waitMs = error instanceof EaselError && !request.once ? this.#waitMs(error, attempt, isRepeatable(request)) : undefined;
        if (waitMs === undefined) throw error;
        this.#onRetry(waitMs, error as EaselError);
        await this.#around.wait(waitMs, request.signal);
      }
    }
  }

  #init(request: Request): RequestInit {
    const headers = new Headers({ Accept: request.accept ?? 'application/json' });
    const { token = this.#site.token } = request;
    if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
    if (request.ifMatch !== undefined) headers.set('If-Match', request.ifMatch);
    if (request.ifAbsent) headers.set('If-None-Match', '*');
    if (request.method === 'POST' && !request.reads) headers.set('Idempotency-Key', freshKey());
    const init: RequestInit = { method: request.method, headers };
    if (request.body !== undefined) {
      headers.set('Content-Type', request.mediaType ?? 'application/json');
      init.body = JSON.stringify(request.body);
    }
    if (request.signal) init.signal = request.signal;
    return init;
  }

  async #send(url: string, init: RequestInit, isBare: boolean): Promise<unknown> {
    const response = await this.#fetch(url, init);
    const text = await this.#arrived(init, () => response.text());
    const body = response.ok ? parse(text) : undefined;
    if (isBare && Array.isArray(body)) return body;
    if (body?.success !== true) throw errorOf(response.status, text, response.headers.get('retry-after'));
    return body.data;
  }

  #fetch(url: string, init: RequestInit): Promise<Response> {
    return this.#arrived(init, () => this.#around.fetch(url, init));
  }

  async #arrived<T>({ signal }: RequestInit, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw new EaselError(
        { code: 'NETWORK_ERROR', status: 0, message: 'The server did not answer.', hint: 'Check the connection.' },
        error,
      );
    }
  }

  /** The wait before the next attempt; undefined if a repetition is useless or unsafe. */
  #waitMs(error: EaselError, attempt: number, repeatable: boolean): number | undefined {
    const isNetwork = error.code === 'NETWORK_ERROR';
    // These were refused before any effect; after other failures the outcome is unknown.
    const refused = error.status === 429 || error.code === 'OWNER_MOVED' || error.code === 'IDEMPOTENCY_IN_PROGRESS';
    if (attempt >= (isNetwork ? NETWORK_RETRIES_MAX : RETRIES_MAX)) return undefined;
    if (!refused && !(repeatable && (isNetwork || error.status === 503))) return undefined;
    const random = this.#around.random();
    const waitMs =
      error.retryAfterS === undefined
        ? WAIT_MS_FIRST * 2 ** attempt * (0.5 + random / 2)
        : error.retryAfterS * 1000 + random * SPREAD_MS_MAX;
    return waitMs > WAIT_MS_MAX ? undefined : waitMs;
  }
}

/** One segment of a path. */
export function segment(text: string): string {
  // The URL parser resolves "." and ".." even when percent-encoded, so the call would reach another path.
  if (text === '' || text === '.' || text === '..') {
    throw new EaselError({ code: 'INVALID_REQUEST', status: 0, message: `"${text}" is not a valid name.` });
  }
  return encodeURIComponent(text);
}

/** True if a repetition after an unknown outcome is safe. A POST carries an Idempotency-Key, so the server recognises the repetition. */
function isRepeatable({ method, ifMatch, ifAbsent }: Request): boolean {
  if (method === 'PUT') return ifMatch === undefined && !ifAbsent;
  return method === 'GET' || method === 'POST';
}

function freshKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
