/** The calls of a script: at most some are under way at once, the others wait here, in the memory of the script. */

import type { Answer, Bounds, CallKind, DataHead, FetchHead, Natives } from '../../features/automation/scripts/bridge.ts';
import type { Problem } from '../page/api.ts';
import { EaselError } from '../page/errors.ts';
import type { Request } from '../page/transport.ts';
import type { FetchReply } from './api.ts';

interface Waiting {
  readonly kind: CallKind;
  readonly head: string;
  readonly body: string;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** What a script's own methods may fail with beside the codes of the API. */
type OwnCode = 'TOO_MANY_CALLS' | 'CALL_TOO_LARGE' | 'UNREADABLE_REPLY';

// Kept, because a script may replace them.
const { parse, stringify } = JSON;
const { keys, create } = Object;

export class Calls {
  readonly #natives: Natives;
  readonly #bounds: Bounds;
  /** Without a prototype, so that the script has no part in what is read from them. */
  readonly #waiting: Record<number, Waiting> = create(null);
  readonly #sent: Record<number, Waiting> = create(null);
  #asked = 0;
  #next = 1;
  #inFlight = 0;
  #whenSettled: (() => void) | undefined;
  #onLateFailure: ((failure: string) => void) | undefined;

  constructor(natives: Natives, bounds: Bounds) {
    this.#natives = natives;
    this.#bounds = bounds;
  }

  /** Resolves with `data` of the answer. */
  async data<T>({ method, path, query = {}, body, mediaType, ifMatch, ifAbsent }: Request): Promise<T> {
    const headers: Record<string, string> = {};
    if (mediaType !== undefined) headers['content-type'] = mediaType;
    if (ifMatch !== undefined) headers['if-match'] = String(ifMatch);
    if (ifAbsent) headers['if-none-match'] = '*';
    // JSON has no undefined, which the API would take for a body that is missing.
    const sent = method === 'GET' || method === 'DELETE' ? '' : (stringify(body) ?? 'null');
    const answer = await this.#ask('data', { method, path: path + queryText(query), headers }, sent);
    if (!('body' in answer)) throw problem('UNREADABLE_REPLY', 'The answer could not be read.');
    const reply = answer.body as { success?: boolean; data?: unknown } | null | undefined;
    if (answer.status < 300 && reply?.success === true) return reply.data as T;
    throw refusal(answer.status, reply as Record<string, unknown> | null | undefined);
  }

  async fetch(url: unknown, init: { method?: unknown; headers?: unknown; body?: unknown } = {}): Promise<FetchReply> {
    const { method = 'GET', headers = {}, body } = init;
    const lines: Record<string, string> = {};
    for (const name of keys(headers as object)) lines[name] = String((headers as Record<string, unknown>)[name]);
    const hasBody = body !== undefined && body !== null;
    const text = typeof body === 'string' ? body : hasBody ? (stringify(body) ?? '') : '';
    const answer = await this.#ask('fetch', { method: String(method).toUpperCase(), url: String(url), headers: lines, hasBody }, text);
    if (!('text' in answer)) throw problem('UNREADABLE_REPLY', 'The answer could not be read.');
    const { status, text: content } = answer;
    return {
      status,
      ok: status >= 200 && status < 300,
      url: answer.url,
      headers: answer.headers,
      text: async () => content,
      json: async <T>() => parse(content) as T,
    };
  }

  answered(id: number, text: string): void {
    const call = this.#sent[id];
    if (call === undefined) return;
    delete this.#sent[id];
    this.#inFlight -= 1;
    try {
      this.#settle(call, parse(text) as Answer);
    } catch (error) {
      // What has no memory left is passed on; what a broken connection has cut is no JSON.
      call.reject(error instanceof SyntaxError ? problem('UNREADABLE_REPLY', 'The answer could not be read.') : error);
    }
    this.#sendNext();
    if (this.#inFlight === 0) this.#whenSettled?.();
  }

  #settle({ resolve, reject }: Waiting, answer: Answer): void {
    if ('failure' in answer) {
      this.#onLateFailure?.(answer.failure.code);
      reject(new EaselError({ ...answer.failure, code: answer.failure.code as Problem['code'] }));
      return;
    }
    if (answer.status >= 400 && 'body' in answer)
      this.#onLateFailure?.(refusal(answer.status, answer.body as Record<string, unknown>).code);
    resolve(answer);
  }

  /** Resolves when no call is under way or waits. Failures from now on are told to `onFailure`. */
  async settled(onFailure: (failure: string) => void): Promise<void> {
    this.#onLateFailure = onFailure;
    while (this.#inFlight > 0)
      await new Promise<void>((resolve) => {
        this.#whenSettled = resolve;
      });
  }

  #ask(kind: CallKind, call: DataHead | FetchHead, body: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { callsMax, callCharsMax } = this.#bounds;
      if (this.#asked >= callsMax) throw problem('TOO_MANY_CALLS', `A script may make at most ${callsMax} calls.`);
      const head = stringify(call);
      if (head.length + body.length > callCharsMax) throw problem('CALL_TOO_LARGE', `A call may have at most ${callCharsMax} characters.`);
      this.#asked += 1;
      this.#waiting[this.#asked] = { kind, head, body, resolve, reject };
      this.#sendNext();
    });
  }

  #sendNext(): void {
    while (this.#inFlight < this.#bounds.callsInFlightMax && this.#next <= this.#asked) {
      const id = this.#next;
      const call = this.#waiting[id];
      delete this.#waiting[id];
      this.#next += 1;
      if (call === undefined) continue;
      this.#sent[id] = call;
      this.#inFlight += 1;
      this.#natives.send(id, call.kind, call.head, call.body);
    }
  }
}

function queryText(query: NonNullable<Request['query']>): string {
  let text = '';
  for (const name of keys(query)) {
    const value = query[name];
    if (value !== undefined) text += `${text === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`;
  }
  return text;
}

function problem(code: OwnCode, message: string): EaselError {
  return new EaselError({ code: code as Problem['code'], status: 0, message });
}

function refusal(status: number, body: Record<string, unknown> | null | undefined): EaselError {
  if (typeof body?.code !== 'string') return problem('UNREADABLE_REPLY', `The answer (status ${status}) could not be read.`);
  const { code, error, hint, param, request_id: requestId } = body as Record<string, string>;
  return new EaselError({ code: code as Problem['code'], status, message: error ?? String(code), hint, param, requestId });
}
