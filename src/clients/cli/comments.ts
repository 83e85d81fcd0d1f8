/** comments list, add, resolve: the comments of a page. */
import type { Command } from 'commander';
import type { PublicComment } from '../../../protocol/data/comments.ts';
import { artifactIdOf, artifactOption } from './artifact-name.ts';
import { addInboxCommand } from './inbox.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { readText } from './standard-input.ts';
import { countText, timeText } from './text.ts';

interface Named {
  readonly artifact?: string;
}

/** One comment on a few lines; replies are indented. */
function commentLines(comment: PublicComment): string {
  const by = comment.authorName ?? 'Somebody';
  const marks = [comment.resolved ? 'resolved' : '', comment.outdated ? 'outdated' : ''].filter((mark) => mark !== '').join(', ');
  const about = comment.quote === null ? '' : `\n  "${comment.quote.exact}"`;
  const head = `${comment.id}  ${timeText(comment.createdAt)}  ${by}${marks === '' ? '' : `  (${marks})`}${about}\n${comment.content}`;
  // Anybody may have written the text, so control characters must not reach the terminal.
  const plain = head.replace(/[^\P{Cc}\n]/gu, ' ');
  return comment.parentId === null ? plain : plain.replace(/^/gm, '    ');
}

/** Orders comments by thread: each root followed by those of its replies that are in the list. */
function inThreads(comments: readonly PublicComment[]): PublicComment[] {
  const below = new Map<string | null, PublicComment[]>();
  const known = new Set(comments.map(({ id }) => id));
  for (const comment of comments) {
    const parent = comment.parentId !== null && known.has(comment.parentId) ? comment.parentId : null;
    below.set(parent, [...(below.get(parent) ?? []), comment]);
  }
  const inOrder = (id: string | null): PublicComment[] => (below.get(id) ?? []).flatMap((comment) => [comment, ...inOrder(comment.id)]);
  return inOrder(null);
}

async function list(session: Session, options: Named & { limit: number; open?: boolean; context?: string }): Promise<void> {
  const artifactId = await artifactIdOf(session, options.artifact);
  let count = 0;
  const { items, hasMore } = await collect(options.limit, async (page) => {
    const query = { ...page, contextId: options.context, ...(options.open && { resolved: 'false' as const }) };
    const { data } = (await session.api.comments.list({ params: { artifactId }, query, signal: session.shell.signal })).body;
    count = data.count;
    return { items: data.comments, next: data.nextCursor };
  });
  const text = inThreads(items).map(commentLines).join('\n\n');
  session.answer({ artifact_id: artifactId, comments: items, count, hasMore }, text === '' ? 'No comments.' : text);
  if (hasMore) session.remark(`${countText(count, 'comment')} in all: easel comments list --limit ${count}`);
}

async function add(session: Session, text: string, options: Named & { reply?: string; context?: string; quote?: string }): Promise<void> {
  const artifactId = await artifactIdOf(session, options.artifact);
  const content = text === '-' ? (await readText(session.shell.stdin)).trimEnd() : text;
  const body = {
    content,
    parentId: options.reply,
    contextId: options.context,
    ...(options.quote !== undefined && { quote: { exact: options.quote } }),
  };
  const { data } = (await session.api.comments.create({ params: { artifactId }, body, signal: session.shell.signal })).body;
  session.answer(data, `Commented: ${data.id}`);
}

async function resolve(session: Session, commentId: string, options: Named & { reopen?: boolean }): Promise<void> {
  const artifactId = await artifactIdOf(session, options.artifact);
  const { data } = (
    await session.api.comments.resolve({
      params: { artifactId, commentId },
      body: { resolved: options.reopen !== true },
      signal: session.shell.signal,
    })
  ).body;
  session.answer(data, `${data.resolved ? 'Resolved' : 'Reopened'}: ${data.id}`);
}

export function addCommentCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Data');
  addInboxCommand(program, open);
  const comments = program
    .command('comments')
    .summary('read and write comments on a page')
    .description('Reads and writes the comments of a page.')
    .addHelpText('after', '\nExamples:\n  easel comments list --open\n  easel comments add "Looks good."');
  comments
    .command('list')
    .summary('list the comments by thread')
    .description('Lists the comments, oldest thread first, each with its replies.')
    .addOption(limitOption())
    .option('--open', 'only unresolved ones')
    .option('--context <path>', 'only those about this page of the site')
    .addOption(artifactOption())
    .addHelpText('after', '\nExamples:\n  easel comments list\n  easel comments list --open --limit 200 -a my-site')
    .action(async (options, command) => list(await open(command), options));
  comments
    .command('add')
    .summary('write a comment or a reply')
    .description('Writes a comment, or with --reply a reply. @username mentions somebody.')
    .argument('<text>', 'the text ("-": standard input)')
    .option('--reply <id>', 'the comment to reply to')
    .option('--context <path>', 'the page of the site that it is about')
    .option('--quote <text>', 'the text of the page that it is about')
    .addOption(artifactOption())
    .addHelpText(
      'after',
      '\nExamples:\n  easel comments add "Looks good."\n  easel comments add "Which year?" --quote "last year" -a my-site',
    )
    .action(async (text, options, command) => add(await open(command), text, options));
  comments
    .command('resolve')
    .summary('resolve a comment, or reopen it')
    .description('Resolves a comment, or reopens it.')
    .argument('<id>')
    .option('--reopen', 'open it again')
    .addOption(artifactOption())
    .addHelpText('after', `\nExamples:\n  easel comments resolve cmt_…\n  easel comments resolve cmt_… --reopen`)
    .action(async (id, options, command) => resolve(await open(command), id, options));
}
