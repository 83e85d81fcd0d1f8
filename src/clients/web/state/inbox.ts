/** Comments of all pages that concern this person. */
import { api, type InboxItem } from '../api/client.ts';
import { words } from '../words/words.ts';
import { type PageOf, usePages } from './pages.ts';
import { changed, showAtOnce } from './store.ts';
import { optimistic, tell, tellProblem } from './toasts.ts';

export type InboxFilter = 'all' | 'mentions' | 'assigned';

const ITEMS_A_PAGE = 50;

export function useInbox(filter: InboxFilter, resolved: boolean) {
  return usePages<InboxItem>(`inbox:list:${filter}:${resolved}`, async (cursor) => {
    const query = { filter, resolved: resolved ? ('true' as const) : ('false' as const), cursor, limit: ITEMS_A_PAGE };
    const { comments, has_more, next_cursor } = (await api.inbox.list({ query })).body;
    return { items: comments, next: has_more ? next_cursor : null };
  });
}

/** Whatever shows comments of this page. */
export function commentsChanged(artifactId: string): void {
  changed(`comments:${artifactId}`, 'inbox:');
}

export async function resolveThread({ artifact, comment }: InboxItem, resolved: boolean): Promise<void> {
  const isOfThread = (item: InboxItem) => item.artifact.id === artifact.id && item.comment.thread_id === comment.thread_id;
  const undo = showAtOnce<PageOf<InboxItem>>('inbox:list:', (page) => ({
    ...page,
    items: page.items.map((item) => (isOfThread(item) ? { ...item, comment: { ...item.comment, resolved } } : item)),
  }));
  const params = { artifactId: artifact.id, commentId: comment.thread_id };
  const done = await optimistic(undo, () => api.comments.resolve({ params, body: { resolved } }));
  commentsChanged(artifact.id);
  if (done === undefined) return;
  const { inbox, app } = words.value;
  tell(resolved ? inbox.resolved : inbox.reopened, {
    label: app.undo,
    run: () => void resolveThread({ artifact, comment, reasons: [], unread: false, can_resolve: true }, !resolved),
  });
}

/** Marks these pages as read. What is not read yet counts for the person, by whichever account. */
export async function markRead(artifactIds: Iterable<string>): Promise<void> {
  try {
    await Promise.all([...new Set(artifactIds)].map((artifactId) => api.comments.markRead({ params: { artifactId }, body: {} })));
  } catch (error) {
    tellProblem(error);
  }
  changed('inbox:');
}
