/** Tells the API's host from the content hosts. `{slug}.{contentHost}` is a page's own origin; every other host is the API. */

export type HostKind = { readonly kind: 'api' } | { readonly kind: 'content'; readonly slug: string } | { readonly kind: 'invalid' };

const API = { kind: 'api' } as const;
const INVALID = { kind: 'invalid' } as const;
/** A name, IPv4 or bracketed IPv6 address, with an optional port. A proxy could read anything else differently. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9_.-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;
/** Hosts cached; beyond it the cache is emptied, because every page has a host of its own. */
const REMEMBERED_MAX = 4096;

export class Hosts {
  readonly #suffix: string;
  readonly #known = new Map<string, HostKind>();

  /** `contentHost` with its port, as in the URLs of pages. */
  constructor(contentHost: string) {
    this.#suffix = `.${contentHost.toLowerCase()}`;
  }

  classify(host: string): HostKind {
    const known = this.#known.get(host);
    if (known !== undefined) return known;
    const kind = this.#decide(host);
    if (this.#known.size >= REMEMBERED_MAX) this.#known.clear();
    this.#known.set(host, kind);
    return kind;
  }

  /** The slug of a page's own origin (`http://{slug}.{contentHost}`), or undefined for any other origin. */
  slugOfOrigin(origin: string): string | undefined {
    const host = /^https?:\/\/([^/]+)$/.exec(origin)?.[1];
    const kind = host === undefined ? INVALID : this.classify(host);
    return kind.kind === 'content' ? kind.slug : undefined;
  }

  #decide(host: string): HostKind {
    if (!HOST.test(host)) return INVALID;
    const lower = host.toLowerCase();
    return lower.endsWith(this.#suffix) ? { kind: 'content', slug: lower.slice(0, -this.#suffix.length) } : API;
  }
}
