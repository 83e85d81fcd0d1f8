/** Which page a comment is about. A context is a path of a page, or any name. */
import type { Comment } from '../page/wire.ts';

/** True if the comment belongs to this page. A comment without a context belongs to every page. `page`: path of the current file. */
export function isOnPage(contextId: string | null, page: string): boolean {
  if (contextId === null) return true;
  const path = pathOf(contextId);
  return [path, `${path}.html`, path === '' ? 'index.html' : `${path}/index.html`].includes(page);
}

/** The address that shows a thread; undefined if its context is not a path. `hash` is the prefix of its id. */
export function addressOf({ id, contextId }: Comment, hash: string): string | undefined {
  const path = pathOf(contextId ?? '');
  if (!/^(?:[\w.~-]+\/)*[\w.~-]+\.html?$/.test(path)) return undefined;
  return `/${path}${hash}${id}`;
}

function pathOf(contextId: string): string {
  return (contextId.split(/[?#]/)[0] ?? '').replace(/^\/+|\/+$/g, '');
}
