/** inbox: comments of all pages that concern whoever is signed in. */
import { type Command, Option } from 'commander';
import { INBOX_FILTERS } from '../../../protocol/data/inbox.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

interface InboxOptions {
  readonly limit: number;
  readonly filter: (typeof INBOX_FILTERS)[number];
  readonly unread?: boolean;
  readonly resolved?: boolean;
}

async function list(session: Session, options: InboxOptions): Promise<void> {
  const { signal } = session.shell;
  const { items: comments, hasMore } = await collect(options.limit, async (page) => {
    const query = {
      ...page,
      filter: options.filter,
      resolved: options.resolved ? ('true' as const) : ('false' as const),
      ...(options.unread && { unread: 'true' as const }),
    };
    const { body } = await session.api.inbox.list({ query, signal });
    return { items: body.comments, next: body.next_cursor };
  });
  const rows = comments.map(({ artifact, comment, reasons, unread }) => [
    unread ? '*' : '',
    timeText(comment.created_at),
    artifact.slug,
    reasons.join(', '),
    plain(comment.author_name ?? 'Somebody'),
    plain(comment.excerpt),
  ]);
  const text = rows.length === 0 ? 'Nothing here for you.' : tableText(['', 'WRITTEN', 'PAGE', 'WHY', 'BY', 'COMMENT'], rows);
  session.answer({ comments, has_more: hasMore }, text);
  if (hasMore) session.remark(`There are more: easel inbox --limit ${options.limit * 2}`);
}

/** Anybody may have written the text, so control characters must not reach the terminal. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}

export function addInboxCommand(program: Command, open: OpenSession): void {
  program
    .command('inbox')
    .summary('comments for you, of all pages')
    .description(
      'Lists open comments that mention you, are assigned to you or are on pages of yours, newest first. Unread ones have a *; answer with "easel comments add --reply".',
    )
    .addOption(new Option('--filter <which>', 'which comments').choices(INBOX_FILTERS).default('all'))
    .option('--unread', 'only unread ones')
    .option('--resolved', 'resolved ones in place of open ones')
    .addOption(limitOption())
    .addHelpText('after', '\nExamples:\n  easel inbox\n  easel inbox --filter assigned\n  easel inbox --unread --json')
    .action(async (options, command) => list(await open(command), options));
}
