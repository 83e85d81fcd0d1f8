/** The SDK of a published page: the build makes /sdk.js of it, which the server completes with the artifact's id. */

import { waitFor } from '../wait.ts';
import type * as api from './api.ts';
import { blobsOf } from './blobs.ts';
import { ArtifactChannel } from './channel.ts';
import { commentsOf, Guest } from './comments.ts';
import { Connection, type ConnectionSurroundings, type ConnectionUser } from './connection.ts';
import { type DocSurroundings, docsOf } from './docs.ts';
import { EaselError } from './errors.ts';
import { ChangeFeed, type FeedSurroundings } from './feed.ts';
import { jsonKeys } from './json.ts';
import { tell } from './listeners.ts';
import { ArtifactPresence } from './presence.ts';
import { StateBoard } from './state-board.ts';
import { tableOf } from './table.ts';
import { Transport } from './transport.ts';

type Listeners = { [K in keyof api.EaselEvents]: Set<(detail: api.EaselEvents[K]) => void> };

export interface PageSurroundings extends FeedSurroundings, ConnectionSurroundings, DocSurroundings {
  /** What this browser keeps under a name; null where it has nothing. */
  readonly kept: (name: string) => string | null;
  /** Undefined forgets it. */
  readonly keep: (name: string, text: string | undefined) => void;
}

export function createEasel(site: api.EaselOptions, around: PageSurroundings): api.Easel {
  const listeners: Listeners = { state: new Set(), retry: new Set(), error: new Set() };
  const emit = <K extends keyof api.EaselEvents>(event: K, detail: api.EaselEvents[K]) => {
    for (const listener of [...listeners[event]]) tell(listener, detail);
  };
  const failed = (error: EaselError) => emit('error', error);
  const board = new StateBoard((state) => emit('state', state));
  const transport = new Transport(site, around, (waitMs, error) => emit('retry', { waitMs, error }));
  const connect = (user: ConnectionUser) => new Connection(transport, around, user);
  const feed = new ChangeFeed(transport, around, (state) => board.set('feed', state), failed);
  const guestName = `easel-guest-${site.artifactId}`;
  const guest = new Guest(around.kept(guestName) ?? undefined, (token) => around.keep(guestName, token));
  const channel = new ArtifactChannel({
    around,
    connect,
    failed,
    token: () => guest.token ?? site.token,
    became: (state) => board.set('channel', state),
    retries: (error) => guest.isOver(error),
  });
  return {
    artifactId: site.artifactId,
    get state() {
      return board.state;
    },
    json: jsonKeys(transport, feed),
    table: (name) => tableOf(transport, feed, name),
    blobs: blobsOf(transport),
    doc: docsOf({ around, connect, failed, token: () => site.token, became: (state) => board.set('docs', state) }),
    channel: () => channel,
    presence: new ArtifactPresence(channel, around),
    comments: commentsOf({ transport, channel, around, guest, failed }),
    on(event, listener) {
      listeners[event].add(listener);
      return () => void listeners[event].delete(listener);
    },
    connect: (options) => createEasel({ baseUrl: site.baseUrl, ...options }, around),
    EaselError,
  };
}

/** Called by the served script. A page elsewhere names the artifact on its script element: `data-artifact="art_…"`. */
export function start(site: api.EaselOptions): api.Easel {
  const script = document.currentScript;
  return createEasel({ ...site, artifactId: script?.dataset.artifact ?? site.artifactId }, browser(site.baseUrl));
}

const HIDDEN_MS = 20_000;

/** A page's own files may have the short names. */
const OWN_FOLDER = '/_easel';

function browser(baseUrl = ''): PageSurroundings {
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
