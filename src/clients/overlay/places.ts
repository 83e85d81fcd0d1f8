/** Which page a comment is about. A context is a path of a page, or any name. */
import type { Comment } from '../page/wire.ts';

/** What is about nothing of its own is about every page. `page`: path of the file that is shown. */
export function isOnPage(contextId: string | null, page: string): boolean {
  if (contextId === null) return true;
  const path = pathOf(contextId);
  return [path, `${path}.html`, path === '' ? 'index.html' : `${path}/index.html`].includes(page);
}

/** Where a thread can be seen; undefined where its context is no path of a page. `hash` goes before its id. */
export function addressOf({ id, contextId }: Comment, hash: string): string | undefined {
  const path = pathOf(contextId ?? '');
  if (!/^(?:[\w.~-]+\/)*[\w.~-]+\.html?$/.test(path)) return undefined;
  return `/${path}${hash}${id}`;
}

function pathOf(contextId: string): string {
  return (contextId.split(/[?#]/)[0] ?? '').replace(/^\/+|\/+$/g, '');
}
