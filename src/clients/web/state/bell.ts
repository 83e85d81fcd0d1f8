/** What the service has told this person: how much of it is unread, live, and the list. The same stream tells the banner. */
import { signal } from '@preact/signals';
import { api, type Notification } from '../api/client.ts';
import { bannerIn, bannerTold } from './banner.ts';
import { type PageOf, pageOf, usePages } from './pages.ts';
import { changed, showAtOnce } from './store.ts';
import { undoing } from './toasts.ts';

/** Undefined until the server has said it. */
export const unreadNotices = signal<number | undefined>(undefined);

export function useNotices(isUnread: boolean) {
  return usePages<Notification>(`bell:${isUnread}`, async (cursor) => {
    const { body } = await api.notifications.list({ query: { cursor, ...(isUnread && { unread: 'true' as const }) } });
    unreadNotices.value = body.unread_count;
    return pageOf(body.notifications, body);
  });
}

/** `ids`: null for all. */
export async function readNotices(ids: readonly string[] | null): Promise<void> {
  const at = new Date().toISOString();
  const undo = showAtOnce<PageOf<Notification>>('bell:', (page) => ({
    ...page,
    items: page.items.map((notice) => (ids === null || ids.includes(notice.id) ? { ...notice, read_at: notice.read_at ?? at } : notice)),
  }));
  const { body } = await undoing(undo, api.notifications.read({ body: ids === null ? { all: true } : { ids: [...ids] } }));
  unreadNotices.value = body.unread_count;
  changed('bell:');
}

const AGAIN_MS = 60_000;

/** Follows the bell until the returned function is called. The browser connects again by itself; where it was refused, we do after a while. */
export function followBell(): () => void {
  let stream = listen();
  const timer = setInterval(() => {
    if (stream.readyState !== EventSource.CLOSED || document.visibilityState !== 'visible') return;
    stream = listen();
  }, AGAIN_MS);
  return () => {
    clearInterval(timer);
    stream.close();
  };
}

function listen(): EventSource {
  const stream = new EventSource('/v1/notifications/stream');
  stream.addEventListener('banner', ({ data }) => bannerTold(bannerIn(data)));
  stream.addEventListener('unread', ({ data }) => {
    const count: unknown = JSON.parse(data).unread_count;
    if (typeof count !== 'number') return;
    const isFirst = unreadNotices.peek() === undefined;
    unreadNotices.value = count;
    // What is told may be about a ticket that is looked at.
    if (!isFirst) changed('bell:', 'ticket');
  });
  return stream;
}
