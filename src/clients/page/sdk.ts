/** The SDK of a published page: the build makes /sdk.js of it, which the server completes with the artifact's id. */

import { waitFor } from '../wait.ts';
import type * as api from './api.ts';
import { blobsOf } from './blobs.ts';
import { EaselError } from './errors.ts';
import { ChangeFeed, type FeedSurroundings } from './feed.ts';
import { jsonKeys } from './json.ts';
import { tell } from './listeners.ts';
import { tableOf } from './table.ts';
import { Transport } from './transport.ts';

type Listeners = { [K in keyof api.EaselEvents]: Set<(detail: api.EaselEvents[K]) => void> };

export function createEasel(site: api.EaselOptions, around: FeedSurroundings): api.Easel {
  const listeners: Listeners = { state: new Set(), retry: new Set(), error: new Set() };
  const emit = <K extends keyof api.EaselEvents>(event: K, detail: api.EaselEvents[K]) => {
    for (const listener of [...listeners[event]]) tell(listener, detail);
  };
  const transport = new Transport(site, around, (waitMs, error) => emit('retry', { waitMs, error }));
  const feed = new ChangeFeed(
    transport,
    around,
    (state) => emit('state', state),
    (error) => emit('error', error),
  );
  return {
    artifactId: site.artifactId,
    get state() {
      return feed.state;
    },
    json: jsonKeys(transport, feed),
    table: (name) => tableOf(transport, feed, name),
    blobs: blobsOf(transport),
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
  return createEasel({ ...site, artifactId: script?.dataset.artifact ?? site.artifactId }, browser());
}

const HIDDEN_MS = 20_000;

function browser(): FeedSurroundings {
  return {
    fetch: (input, init) => fetch(input, init),
    wait: waitFor,
    random: Math.random,
    openStream: typeof EventSource === 'undefined' ? undefined : (url) => new EventSource(url),
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
