/** The headers of one request, copied once: uWebSockets' request is gone after the first await. */
import type { HttpRequest } from 'uWebSockets.js';

/** Why a request cannot be read safely; each is how requests are smuggled past a proxy. */
export type Malformation = 'host' | 'length' | 'transfer-encoding';

const LENGTH = /^\d{1,15}$/;

export class RequestHeaders {
  host = '';
  authorization = '';
  /** Bytes of the body, 0 when there is none. */
  contentLength = 0;
  malformed: Malformation | undefined;
  // Name, value, name, value …: for the handful that a request has, a scan beats a map.
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
        case 'content-length':
          lengths += 1;
          if (LENGTH.test(value)) this.contentLength = Number(value);
          else this.malformed = 'length';
          break;
        case 'transfer-encoding':
          // The parser takes any coding for `chunked` and misreads chunk extensions and trailers: none is let through.
          this.malformed = 'transfer-encoding';
          break;
        default:
          this.#others.push(name, value);
      }
    });
    if (hosts !== 1) this.malformed ??= 'host';
    if (lengths > 1) this.malformed ??= 'length';
  }

  /** A header by its lowercase name; the first where it came twice, empty when it did not come. */
  get(name: string): string {
    const others = this.#others;
    for (let at = 0; at < others.length; at += 2) {
      if (others[at] === name) return others[at + 1] ?? '';
    }
    if (name === 'host') return this.host;
    if (name === 'authorization') return this.authorization;
    return '';
  }

  /** The same, or undefined when it did not come or came empty. */
  optional(name: string): string | undefined {
    return this.get(name) || undefined;
  }
}
