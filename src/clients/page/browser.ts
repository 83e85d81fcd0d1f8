/** The browser functions that the SDK uses. */
import { waitFor } from '../sdk/wait.ts';
import type { Keeper } from './comments.ts';
import type { ConnectionSurroundings } from './connection.ts';
import type { DocSurroundings } from './docs.ts';
import type { FeedSurroundings } from './feed.ts';

export interface PageSurroundings extends FeedSurroundings, ConnectionSurroundings, DocSurroundings, Keeper {
  /** Leads to the sign-in and back to `to`, a path of the page; by default to the current one. Absent on other sites than the page's own. */
  readonly goToSignIn?: ((to: string | undefined) => void) | undefined;
}

export type CommentsSurroundings = Omit<PageSurroundings, 'openStream' | 'loadSharedDocs' | 'loadYjs' | 'goToSignIn'>;

const HIDDEN_MS = 20_000;
/** Set beside the cookie of who is signed in here, which scripts cannot read. */
const SIGNED_IN = /(?:^|; )easel_signed_in=1(?:;|$)/;

/** Reserved for the service on every page's origin; /sdk.js itself may be a file of the page. */
const OWN_FOLDER = '/_easel';

export function browser(baseUrl = ''): PageSurroundings {
  const folder = baseUrl === '' ? OWN_FOLDER : baseUrl;
  return {
    ...commentsBrowser(),
    openStream: typeof EventSource === 'undefined' ? undefined : (url) => new EventSource(url),
    loadSharedDocs: () => import(`${folder}/sdk-doc.mjs`),
    // Two copies of Yjs do not work together, so the page's own copy (through its import map) is preferred.
    loadYjs: () => import('yjs').catch(() => import(`${folder}/sdk-yjs.mjs`)),
    goToSignIn: baseUrl === '' ? (to) => location.assign(signInPath(to)) : undefined,
  };
}

/** What comments need of it. */
export function commentsBrowser(): CommentsSurroundings {
  return {
    fetch: (input, init) => fetch(input, init),
    wait: waitFor,
    random: Math.random,
    openSocket: (url) => new WebSocket(new URL(url, document.baseURI).href.replace(/^http/, 'ws')),
    // localStorage throws where the browser blocks storage.
    kept: (name) => quietly(() => localStorage.getItem(name)),
    isSignedIn: () => quietly(() => SIGNED_IN.test(document.cookie)) === true,
    forgetSignIn: () =>
      void quietly(() => {
        // biome-ignore lint/suspicious/noDocumentCookie: browsers without cookieStore have only this.
        document.cookie = 'easel_signed_in=; Path=/; Max-Age=0';
      }),
    keep: (name, text) => void quietly(() => (text === undefined ? localStorage.removeItem(name) : localStorage.setItem(name, text))),
    onWake: (run) => {
      addEventListener('online', run);
      addEventListener('pageshow', ({ persisted }) => persisted && run());
      document.addEventListener('visibilitychange', () => document.hidden || run());
    },
    onSleep: (run) => {
      let timer: ReturnType<typeof setTimeout>;
      document.addEventListener('visibilitychange', () => {
        clearTimeout(timer);
        if (document.hidden) timer = setTimeout(run, HIDDEN_MS);
      });
    },
  };
}

/** The address of the page's origin that signs in. */
export function signInPath(to = `${location.pathname}${location.search}`): string {
  return `${OWN_FOLDER}/view?to=${encodeURIComponent(to)}`;
}

function quietly<T>(run: () => T): T | null {
  try {
    return run();
  } catch {
    return null;
  }
}
