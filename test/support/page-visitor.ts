/** A person's browser, without the browser, as it goes between the app and the origins of pages: each host has cookies of its own. */
import type { TestEasel } from './easel.ts';
import { type WireAnswer, wire } from './page-requests.ts';
import { type Answer, WebPerson } from './web-person.ts';

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** `again`: the same person, newly signed in, in a browser without any cookie. */
export type SignedInVisitor = PageVisitor & { readonly userId: string; readonly again: () => Promise<SignedInVisitor> };

export class PageVisitor {
  readonly easel: TestEasel;
  /** Their cookies of the app's host. */
  readonly app: WebPerson;
  readonly #cookies = new Map<string, Map<string, string>>();

  constructor(easel: TestEasel, app = new WebPerson(easel)) {
    this.easel = easel;
    this.app = app;
  }

  static async signedIn(easel: TestEasel, email: string): Promise<SignedInVisitor> {
    const app = await WebPerson.signedIn(easel, email);
    const again = () => PageVisitor.signedIn(easel, email);
    return Object.assign(new PageVisitor(easel, app), { userId: app.userId, again });
  }

  hostOf(slug: string): string {
    return new URL(this.easel.contentUrl(slug)).host;
  }

  /** The cookies that this browser has of a page's host. */
  cookiesOf(slug: string): Map<string, string> {
    const known = this.#cookies.get(slug) ?? new Map<string, string>();
    this.#cookies.set(slug, known);
    return known;
  }

  cookieHeader(slug: string): string {
    return [...this.cookiesOf(slug)].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** A request to the page's host, as a window of this browser sends it. */
  async on(slug: string, path: string, sent: Sent = {}): Promise<WireAnswer & { readonly text: string }> {
    const body = sent.body === undefined ? undefined : JSON.stringify(sent.body);
    const cookie = this.cookieHeader(slug);
    const headers = {
      accept: 'text/html',
      ...(cookie !== '' && { cookie }),
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
      ...sent.headers,
    };
    const answer = await wire(this.easel.port, this.hostOf(slug), path, {
      method: sent.method ?? 'GET',
      headers,
      ...(body !== undefined && { body }),
    });
    this.#keep(slug, answer);
    return Object.assign(answer, { text: answer.body.toString('utf8') });
  }

  /** The same for the data of the page's artifact, as a script of the page sends it. */
  data(page: { readonly slug: string; readonly id: string }, method: string, path: string, body?: unknown) {
    const headers = { 'sec-fetch-site': 'same-origin', ...(method !== 'GET' && { origin: this.easel.contentUrl(page.slug) }) };
    return this.on(page.slug, `/v1/data/${page.id}${path}`, { method, headers, body });
  }

  /** From the page's origin to the app, where it answers. */
  async begin(slug: string, to = '/'): Promise<Answer> {
    const begun = await this.on(slug, `/_easel/view?${new URLSearchParams({ to })}`);
    return this.app.open(pathOf(locationOf(begun)));
  }

  /** What the app sends to the page's origin: the path there, with the ticket. */
  async ticketPath(slug: string, to = '/'): Promise<string> {
    return pathOf(goesTo(await this.begin(slug, to)));
  }

  /** The whole way onto the page; answers what its origin does with the ticket. */
  async enter(slug: string, to = '/'): Promise<WireAnswer & { readonly text: string }> {
    return this.on(slug, await this.ticketPath(slug, to));
  }

  #keep(slug: string, { headers }: WireAnswer): void {
    const jar = this.cookiesOf(slug);
    for (const line of [headers['set-cookie'] ?? []].flat()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0\b/i.test(line)) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
  }
}

export function locationOf(answer: WireAnswer): string {
  const { location } = answer.headers;
  if (typeof location !== 'string') throw new Error(`leads nowhere: ${answer.status} ${answer.body}`);
  return location;
}

/** Where a page of the app sends its browser by itself. */
export function goesTo({ text, status }: Answer): string {
  const url = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(text)?.[1];
  if (url === undefined) throw new Error(`goes nowhere: ${status} ${text}`);
  return url.replaceAll('&amp;', '&').replaceAll('&#38;', '&');
}

export function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
