/** Entry of the page SDK. The build bundles it to /sdk.js, and the server inserts the artifact's id. */
import { askerOf } from './agent.ts';
import type * as api from './api.ts';
import { blobsOf } from './blobs.ts';
import { browser, type PageSurroundings } from './browser.ts';
import { ArtifactChannel } from './channel.ts';
import { chatOf } from './chat.ts';
import { commentsOf, guestOf } from './comments.ts';
import { Connection, type ConnectionUser } from './connection.ts';
import { datasetOf } from './dataset.ts';
import { docsOf } from './docs.ts';
import { EaselError } from './errors.ts';
import { ChangeFeed } from './feed.ts';
import { jsonKeys } from './json.ts';
import { tell } from './listeners.ts';
import { notifierOf } from './notify.ts';
import { ArtifactPresence } from './presence.ts';
import { StateBoard } from './state-board.ts';
import { tableOf } from './table.ts';
import { Transport } from './transport.ts';

type Listeners = { [K in keyof api.EaselEvents]: Set<(detail: api.EaselEvents[K]) => void> };

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
  const guest = guestOf(site.artifactId, around);
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
    dataset: (name) => datasetOf({ transport, channel, failed }, name),
    doc: docsOf({ around, connect, failed, token: () => site.token, became: (state) => board.set('docs', state) }),
    channel: () => channel,
    presence: new ArtifactPresence(channel, around),
    comments: commentsOf({ transport, channel, around, guest, failed }),
    notifyOwner: notifierOf(transport, around),
    chat: chatOf(site.artifactId, transport, around),
    proxy: (url, { signal } = {}) =>
      transport.pass({ method: 'GET', path: '/proxy', query: { url: String(url) }, signal }, ({ headers }) => headers.has('x-proxy-cache')),
    agent: { ask: askerOf(transport) },
    me: ({ signal } = {}) => transport.call<api.Me>({ method: 'GET', path: '/viewer', signal }),
    signIn(to) {
      if (around.goToSignIn !== undefined) return around.goToSignIn(to);
      const hint = 'Open the page at its own address.';
      throw new EaselError({ code: 'FORBIDDEN', status: 0, message: 'Visitors sign in on the page’s own address only.', hint });
    },
    on(event, listener) {
      listeners[event].add(listener);
      return () => void listeners[event].delete(listener);
    },
    connect: (options) => createEasel({ baseUrl: site.baseUrl, ...options }, around),
    EaselError,
  };
}

/** Called by the served script. A page on another site names the artifact on the script element: `data-artifact="art_…"`. */
export function start(site: api.EaselOptions): api.Easel {
  const script = document.currentScript;
  return createEasel({ ...site, artifactId: script?.dataset.artifact ?? site.artifactId }, browser(site.baseUrl));
}
