/** What a page's browser gives to the SDK. */
import { waitFor } from '../wait.ts';
import type { Keeper } from './comments.ts';
import type { ConnectionSurroundings } from './connection.ts';
import type { DocSurroundings } from './docs.ts';
import type { FeedSurroundings } from './feed.ts';

export interface PageSurroundings extends FeedSurroundings, ConnectionSurroundings, DocSurroundings, Keeper {}

const HIDDEN_MS = 20_000;

/** A page's own files may have the short names. */
const OWN_FOLDER = '/_easel';

export function browser(baseUrl = ''): PageSurroundings {
  const folder = baseUrl === '' ? OWN_FOLDER : baseUrl;
  return {
    fetch: (input, init) => fetch(input, init),
    wait: waitFor,
    random: Math.random,
    openStream: typeof EventSource === 'undefined' ? undefined : (url) => new EventSource(url),
    openSocket: (url) => new WebSocket(new URL(url, document.baseURI).href.replace(/^http/, 'ws')),
    loadSharedDocs: () => import(`${folder}/sdk-doc.mjs`),
    // There must not be two of it: where the page says what its own scripts get, that is taken.
    loadYjs: () => import('yjs').catch(() => import(`${folder}/sdk-yjs.mjs`)),
    // Throws where the browser keeps nothing for anybody.
    kept: (name) => quietly(() => localStorage.getItem(name)),
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

function quietly<T>(run: () => T): T | null {
  try {
    return run();
  } catch {
    return null;
  }
}
