/** The endpoints of the bell. */

import type { z } from 'zod';
import type { notification } from '../../../../protocol/automation/notifications.ts';
import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { viewerOf } from '../../artifacts/artifacts/lists.ts';
import type { ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import type { BellStreams } from './bell-streams.ts';
import { countNotices, listNotices, markRead, type NoticeRow } from './rows.ts';

type Ids = 'notifications.list' | 'notifications.follow' | 'notifications.read';

export const NOTICES_KEPT_MS = RETENTION.notices.keptMs;

export interface NotificationDeps extends Pick<ServiceDeps, 'sql' | 'bus'> {
  readonly streams: BellStreams;
}

export function notificationHandlers({ sql, bus, streams }: NotificationDeps): Handlers<Ids> {
  return {
    'notifications.list': async ({ principal, query, nowMs }) => {
      const bell = { viewer: viewerOf(principal), sinceMs: nowMs - NOTICES_KEPT_MS, unread: query.unread };
      const rows = await listNotices(sql, bell, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, ({ created_at_ms, id }) => ({ number: created_at_ms, id }));
      const unread_count = await countNotices(sql, { ...bell, unread: true });
      const total = query.count ? { total: query.unread ? unread_count : await countNotices(sql, bell) } : {};
      return { reply: 'ok', body: { notifications: items.map(presentNotice), unread_count, ...page, ...total } };
    },
    'notifications.follow': ({ principal, address, user }) => ({
      reply: 'stream',
      body: '',
      stream: streams.open({ principal, address, userId: user }),
      type: 'text/event-stream',
      // Tells proxies such as nginx not to buffer the stream, which would delay events.
      headers: { 'X-Accel-Buffering': 'no' },
    }),
    'notifications.read': async ({ principal, body, nowMs }) => {
      const accounts = accountsOf(principal);
      const read = await markRead(sql, accounts, body.ids ?? null, nowMs);
      if (read > 0) bus.tell({ kind: 'notices.changed', userIds: accounts });
      const bell = { viewer: viewerOf(principal), sinceMs: nowMs - NOTICES_KEPT_MS, unread: true };
      return { reply: 'ok', body: { read, unread_count: await countNotices(sql, bell) } };
    },
  };
}

function presentNotice({ created_at_ms, read_at_ms, ...row }: NoticeRow): z.input<typeof notification> {
  return { ...row, created_at: dateTime(created_at_ms), read_at: read_at_ms === null ? null : dateTime(read_at_ms) };
}
