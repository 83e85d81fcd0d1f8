/** People who are signed in on a page's own origin, by a cookie that counts for this one page. The API's cookie never comes here. */
import { randomBytes } from 'node:crypto';
import type { UserPrincipal } from '../../actors/access/access.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { RATE_LIMITS } from '../../protocol/core/rate-limits.ts';
import { networkOf } from '../edge/address.ts';
import type { Limiter } from '../edge/limits.ts';
import { mayReadAsViewer } from '../edge/page-caller.ts';
import { BEGIN_PATH, challengeOf, OPEN_PATH, type PageSignIns, pagePath, SECRET_FORM } from '../edge/page-entry.ts';
import { cookieValue, HOST_PREFIX, hostCookie } from '../edge/session-cookies.ts';
import { type Config, pageUrl } from '../platform/config.ts';
import { NO_PAGE, notEntered, tooManyEntries } from './pages.ts';
import type { ContentReply, ContentRequest } from './types.ts';

/** The browser keeps the cookie longer than it counts, so that we know it again and send it for a new ticket by itself. */
const COOKIE_S = LIMITS.sessionTtlMs / 1000;
const MARK_S = LIMITS.pageChallengeTtlMs / 1000;
/** Tells scripts that somebody is signed in, so that pages without such visitors make no call for their name. It proves nothing. */
const HINT_NAME = 'easel_signed_in';

export interface ViewersDeps {
  readonly config: Config;
  readonly signIns: PageSignIns;
  readonly limiter: Limiter;
}

export class Viewers {
  readonly #deps: ViewersDeps;

  constructor(deps: ViewersDeps) {
    this.#deps = deps;
  }

  /** Who is signed in on the page of this artifact, by the cookies of its host. */
  find(artifactId: ArtifactId, cookies: string): UserPrincipal | null | Promise<UserPrincipal | null> {
    const secret = cookies === '' ? '' : cookieValue(cookies, this.#name('viewer'));
    return secret === '' ? null : this.#deps.signIns.find(secret, artifactId);
  }

  /** The same for a request for a file of the page. */
  of(artifactId: ArtifactId, slug: string, request: ContentRequest): UserPrincipal | null | Promise<UserPrincipal | null> {
    const viewer = this.find(artifactId, request.header('cookie'));
    if (viewer === null) return null;
    const isOfPage = request.header('origin') === pageUrl(this.#deps.config, slug);
    return mayReadAsViewer({ get: (name) => request.header(name) }, isOfPage) ? viewer : null;
  }

  /** The page that strangers get. Somebody whose sign-in here has ended is sent for a new one, whether or not there is such a page. */
  noPage(request: ContentRequest): ContentReply {
    const isBack = request.method === 'GET' && cookieValue(request.header('cookie'), this.#name('viewer')) !== '' && isVisit(request);
    // What has ended is removed, so that it is not tried again and again.
    return isBack ? this.begin(request, [this.#cookie('viewer', '', 0)]) : NO_PAGE;
  }

  /** Marks the browser and sends it to the app. It says nothing of the page, and the same for every host. */
  begin(request: ContentRequest, cookies: readonly string[] = []): ContentReply {
    // Several windows come back at once after a restart of the browser: they share the mark.
    const held = cookieValue(request.header('cookie'), this.#name('mark'));
    const mark = SECRET_FORM.test(held) ? held : randomBytes(32).toString('base64url');
    const query = new URLSearchParams({ slug: request.slug.toLowerCase(), challenge: challengeOf(mark) });
    const to = wantedPath(request);
    const longer = new URLSearchParams([...query, ['return', to]]);
    const isShort = `${OPEN_PATH}?${longer}`.length <= LIMITS.returnToCharsMax;
    return this.#goTo(`${this.#deps.config.baseUrl}${OPEN_PATH}?${isShort ? longer : query}`, [
      this.#cookie('mark', mark, MARK_S),
      ...cookies,
    ]);
  }

  /** `artifactId`: null where there is no page, which is answered like a ticket that does not count. */
  async enter(request: ContentRequest, artifactId: ArtifactId | null): Promise<ContentReply> {
    const { limiter, signIns } = this.#deps;
    const query = new URLSearchParams(request.query);
    const to = pagePath(query.get('to') ?? undefined);
    const again = `${BEGIN_PATH}?${new URLSearchParams({ to })}`;
    const mark = cookieValue(request.header('cookie'), this.#name('mark'));
    const ticket = query.get('ticket') ?? '';
    if (!SECRET_FORM.test(mark) || !SECRET_FORM.test(ticket)) return notEntered(again);
    const { accepted, retryAfterS } = await limiter.spend(RATE_LIMITS.pageEntries, networkOf(request.address));
    if (!accepted) return tooManyEntries(retryAfterS);
    const secret = artifactId === null ? null : await signIns.redeem(ticket, challengeOf(mark), artifactId);
    if (secret === null) return notEntered(again);
    const { isSecure } = this;
    return this.#goTo(to, [
      this.#cookie('viewer', secret, COOKIE_S),
      `${HINT_NAME}=1; Path=/; Max-Age=${COOKIE_S}; SameSite=Lax${isSecure ? '; Secure' : ''}`,
    ]);
  }

  get isSecure(): boolean {
    return this.#deps.config.baseUrl.startsWith('https:');
  }

  #name(kind: 'viewer' | 'mark'): string {
    return `${this.isSecure ? HOST_PREFIX : ''}easel_${kind}`;
  }

  #cookie(kind: 'viewer' | 'mark', value: string, maxAgeS: number): string {
    return hostCookie(this.#name(kind), value, maxAgeS, this.isSecure);
  }

  #goTo(location: string, cookies: readonly string[]): ContentReply {
    return {
      status: 302,
      headers: [
        ['Location', location],
        ...cookies.map((cookie) => ['Set-Cookie', cookie] as const),
        ['Cache-Control', 'private, no-store'],
        ['Referrer-Policy', 'no-referrer'],
      ],
      body: null,
    };
  }
}

/** Whether a person opens it in a window, as against what a page loads. */
function isVisit(request: ContentRequest): boolean {
  const dest = request.header('sec-fetch-dest');
  if (dest !== '' || request.header('sec-fetch-mode') !== '') return dest === 'document';
  return request.header('accept').includes('text/html');
}

/** The address that is opened, the one that a link names, or the page on which the link was. */
function wantedPath(request: ContentRequest): string {
  if (request.path !== BEGIN_PATH) return pagePath(request.query === '' ? request.path : `${request.path}?${request.query}`);
  const named = new URLSearchParams(request.query).get('to');
  if (named !== null) return pagePath(named);
  const referrer = request.header('referer');
  if (!URL.canParse(referrer)) return '/';
  const { host, pathname, search } = new URL(referrer);
  return host === request.header('host').toLowerCase() ? pagePath(`${pathname}${search}`) : '/';
}
