/** What the service has told this person: how much of it is unread, live, and the list. */
import { signal } from '@preact/signals';
import { api, type Notification } from '../api/client.ts';
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

/** Follows the bell until the returned function is called. The browser connects again by itself, unless it is refused. */
export function followBell(): () => void {
  const stream = new EventSource('/v1/notifications/stream');
  stream.addEventListener('unread', ({ data }) => {
    const count: unknown = JSON.parse(data).unread_count;
    if (typeof count !== 'number') return;
    const isFirst = unreadNotices.peek() === undefined;
    unreadNotices.value = count;
    if (!isFirst) changed('bell:');
  });
  return () => stream.close();
}
