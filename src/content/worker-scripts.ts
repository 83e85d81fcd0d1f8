/**
 * Answers to a browser that asks for the script of a service worker. A worker outlives its page: it may come from an artifact that had this
 * slug before, from an earlier version, or from a time when the visitor had access, and it answers for the page from what it has stored.
 * Browsers ask for its script again with each visit, bypass the worker and their cache for that, and keep the worker where the answer is a
 * failure. So every request for a script that this page does not have is answered with a worker that removes itself.
 */
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { ContentReply } from './types.ts';

const SCRIPT_TYPE = /^(?:text|application)\/(?:javascript|ecmascript|x-javascript)\b/i;

/** Takes the place of the worker, empties what it has stored, ends itself and reloads the pages that it served. */
const ENDING_WORKER = `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil((async () => {
  const pages = await self.clients.matchAll({ type: 'window' });
  const names = await self.caches.keys();
  await Promise.all(names.map((name) => self.caches.delete(name)));
  await self.registration.unregister();
  await Promise.all(pages.map((page) => page.navigate(page.url).catch(() => undefined)));
})()));
`;

/** A script in the browser's cache would be used for the next check of the worker, so it is never stored. */
function reply(type: string, body: Uint8Array | string): ContentReply {
  return {
    status: 200,
    headers: [
      ['Content-Type', type],
      ['Cache-Control', 'no-store'],
      ['X-Content-Type-Options', 'nosniff'],
    ],
    body,
  };
}

export const WORKER_ENDS = reply('text/javascript; charset=utf-8', ENDING_WORKER);

export function isScript(mime: string): boolean {
  return SCRIPT_TYPE.test(mime);
}

/** The page's own worker. Its last line makes the bytes differ from those of another artifact, because a browser keeps a worker whose bytes are the same. */
export function ownWorker(script: Uint8Array, mime: string, artifactId: ArtifactId): ContentReply {
  return reply(mime, Buffer.concat([script, Buffer.from(`\n// the worker of ${artifactId}\n`)]));
}
