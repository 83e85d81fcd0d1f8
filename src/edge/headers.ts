/** The headers of one request, copied because uWebSockets' request is invalid after the first await. */
import type { HttpRequest } from 'uWebSockets.js';
import { Failure } from '../../protocol/core/errors.ts';

/** Reasons why a request cannot be read safely. Each is a way to smuggle a request past a proxy. */
export type Malformation = 'host' | 'length' | 'transfer-encoding';

const LENGTH = /^\d{1,15}$/;

export class RequestHeaders {
  host = '';
  authorization = '';
  cookie = '';
  /** Bytes of the body, 0 when there is none. */
  contentLength = 0;
  malformed: Malformation | undefined;
  // Name, value, name, value …: a request has few headers, so a scan is faster than a map.
  readonly #others: string[] = [];

  constructor(request: HttpRequest) {
    let hosts = 0;
    let lengths = 0;
    request.forEach((name, value) => {
      switch (name) {
        case 'host':
          hosts += 1;
          this.host = value;
          break;
        case 'authorization':
          this.authorization = value;
          break;
        case 'cookie':
          this.cookie = this.cookie === '' ? value : `${this.cookie}; ${value}`;
          break;
        case 'content-length':
          lengths += 1;
          if (LENGTH.test(value)) this.contentLength = Number(value);
          else this.malformed = 'length';
          break;
        case 'transfer-encoding':
          // The parser treats any coding as `chunked` and misreads chunk extensions and trailers, so none is accepted.
          this.malformed = 'transfer-encoding';
          break;
        default:
          this.#others.push(name, value);
      }
    });
    if (hosts !== 1) this.malformed ??= 'host';
    if (lengths > 1) this.malformed ??= 'length';
  }

  /** A header by its lowercase name: the first where it is repeated, empty where it is absent. */
  get(name: string): string {
    const others = this.#others;
    for (let at = 0; at < others.length; at += 2) {
      if (others[at] === name) return others[at + 1] ?? '';
    }
    if (name === 'host') return this.host;
    if (name === 'authorization') return this.authorization;
    if (name === 'cookie') return this.cookie;
    return '';
  }

  /** Name, value, name, value …: all of them but `x-request-id`. */
  all(): string[] {
    const list: string[] = [];
    if (this.host !== '') list.push('host', this.host);
    if (this.authorization !== '') list.push('authorization', this.authorization);
    if (this.cookie !== '') list.push('cookie', this.cookie);
    if (this.contentLength > 0) list.push('content-length', String(this.contentLength));
    const others = this.#others;
    for (let at = 0; at < others.length; at += 2) if (others[at] !== 'x-request-id') list.push(others[at] ?? '', others[at + 1] ?? '');
    return list;
  }

  /** The same, or undefined where it is absent or empty. */
  optional(name: string): string | undefined {
    return this.get(name) || undefined;
  }
}

/** How a request with malformed headers is refused. */
export function refusalOf(malformation: Malformation): Failure {
  switch (malformation) {
    case 'host':
      return new Failure('INVALID_REQUEST', { message: 'The request needs exactly one valid Host header.', param: 'Host' });
    case 'length':
      return new Failure('INVALID_REQUEST', { message: 'Content-Length must be one whole number.', param: 'Content-Length' });
    case 'transfer-encoding':
      return new Failure('LENGTH_REQUIRED', { param: 'Transfer-Encoding' });
    default:
      return malformation satisfies never;
  }
}
