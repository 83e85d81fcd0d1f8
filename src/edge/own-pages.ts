/** Tells requests that a page of the API's own host makes from those of pages of other origins. */

interface HeaderSource {
  /** `name` is lowercase. Empty when the header is absent. */
  get(name: string): string;
}

export class OwnPages {
  /** The API's address uses TLS. */
  readonly isSecure: boolean;
  readonly #origin: string;

  constructor(baseUrl: string) {
    this.#origin = new URL(baseUrl).origin;
    this.isSecure = this.#origin.startsWith('https:');
  }

  /** Whether it surely comes from a page of this host: what a cookie authorises must. */
  isOwn(headers: HeaderSource): boolean {
    const origin = headers.get('origin');
    if (origin === '') return headers.get('sec-fetch-site') === 'same-origin';
    // Without TLS the service is reached under several names (localhost, 127.0.0.1), each with cookies of its own.
    return origin === this.#origin || (!this.isSecure && origin === `http://${headers.get('host')}`);
  }

  /** Whether it surely comes from a page of another origin. Programs that are no browsers say nothing of the kind. */
  isFromElsewhere(headers: HeaderSource): boolean {
    if (headers.get('origin') !== '') return !this.isOwn(headers);
    const site = headers.get('sec-fetch-site');
    return site === 'same-site' || site === 'cross-site';
  }

  /** Whether a read counts with the cookie. One that a page of another origin makes does not; following its link does. */
  mayRead(headers: HeaderSource): boolean {
    if (headers.get('origin') !== '') return this.isOwn(headers);
    const site = headers.get('sec-fetch-site');
    return site === '' || site === 'same-origin' || site === 'none' || headers.get('sec-fetch-mode') === 'navigate';
  }
}
