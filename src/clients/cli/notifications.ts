/** notifications: the bell of whoever is signed in. */
import type { Command } from 'commander';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { countText, tableText, timeText } from './text.ts';

async function list(session: Session, options: { readonly limit: number; readonly unread?: boolean }): Promise<void> {
  let unread_count = 0;
  const { items, hasMore } = await collect(options.limit, async (page) => {
    const query = { ...page, ...(options.unread && { unread: 'true' as const }) };
    const { body } = await session.api.notifications.list({ query, signal: session.shell.signal });
    unread_count = body.unread_count;
    return { items: body.notifications, next: body.next_cursor };
  });
  const rows = items.map(({ created_at, read_at, title, body, id }) => [
    read_at === null ? '*' : '',
    timeText(created_at),
    lineOf(title),
    lineOf(body),
    id,
  ]);
  const text = rows.length === 0 ? 'Nothing here for you.' : tableText(['', 'WHEN', 'WHAT', 'DETAILS', 'ID'], rows);
  session.answer({ notifications: items, unread_count, has_more: hasMore }, text);
}

async function markRead(session: Session, ids: readonly string[]): Promise<void> {
  const body = ids.length === 0 ? { all: true as const } : { ids: [...ids] };
  const done = (await session.api.notifications.read({ body, signal: session.shell.signal })).body;
  session.answer(done, `${countText(done.read, 'notification')} marked as read, ${done.unread_count} unread.`);
}

/** What they tell about has names that others gave. */
function lineOf(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

export function addNotificationCommands(program: Command, open: OpenSession): void {
  const group = program
    .command('notifications')
    .summary('what the service has told you')
    .description('The bell: alerts, watches, paused jobs and other notices of the last 90 days.');
  group
    .command('list')
    .summary('list them')
    .description('Lists notifications, newest first. Unread ones have a *.')
    .option('--unread', 'only unread ones')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel notifications list --unread')
    .action(async (options, command) => list(await open(command), options));
  group
    .command('read')
    .summary('mark them as read')
    .description('Marks notifications as read: those that are named, or all.')
    .argument('[ids...]', 'default: all')
    .addHelpText('after', '\nExample:\n  easel notifications read')
    .action(async (ids, _options, command) => markRead(await open(command), ids));
}
