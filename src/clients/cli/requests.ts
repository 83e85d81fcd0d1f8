/** requests: list, ask, sent, approve, deny. */
import type { Command } from 'commander';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

async function list(session: Session, options: { limit: number }): Promise<void> {
  const { signal } = session.shell;
  const { items: requests, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.accessRequests.incoming({ query, signal });
    return { items: body.requests, next: body.next_cursor };
  });
  const rows = requests.map((one) => [
    one.artifact_slug,
    one.requester_name ?? '-',
    one.requester_email ?? '-',
    timeText(one.created_at),
    one.id,
    one.message ?? '',
  ]);
  const text = rows.length === 0 ? 'Nobody waits for you.' : tableText(['ARTIFACT', 'NAME', 'E-MAIL', 'ASKED', 'ID', 'MESSAGE'], rows);
  session.answer({ requests, has_more: hasMore }, text);
  if (hasMore) session.remark(`There are more: easel requests list --limit ${options.limit * 2}`);
}

async function sent(session: Session, options: { limit: number }): Promise<void> {
  const { signal } = session.shell;
  const { items: requests, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.accessRequests.outgoing({ query, signal });
    return { items: body.requests, next: body.next_cursor };
  });
  const rows = requests.map((one) => [one.artifact_slug ?? one.artifact_id, one.status, timeText(one.created_at), one.message ?? '']);
  const text = rows.length === 0 ? 'You have asked for nothing.' : tableText(['ARTIFACT', 'STATUS', 'ASKED', 'MESSAGE'], rows);
  session.answer({ requests, has_more: hasMore }, text);
  if (hasMore) session.remark(`There are more: easel requests sent --limit ${options.limit * 2}`);
}

async function ask(session: Session, artifact: string, options: { message?: string }): Promise<void> {
  const named = artifact.startsWith('art_') ? { artifact_id: artifact } : { slug: artifact };
  const body = { ...named, message: options.message };
  const done = (await session.api.accessRequests.create({ body, signal: session.shell.signal })).body;
  const text =
    done.status === 'created' ? `Asked the owner of ${artifact}.` : `You have asked for ${artifact} already; its owner has not decided.`;
  session.answer(done, text);
}

async function decide(session: Session, requestId: string, action: 'approve' | 'deny'): Promise<void> {
  if (!requestId.startsWith('req_')) {
    throw new CliFailure('usage', 'INVALID_USAGE', `"${requestId}" is not the id of a request.`, '"easel requests list" shows the ids.');
  }
  const done = (await session.api.accessRequests.decide({ params: { requestId }, body: { action }, signal: session.shell.signal })).body;
  session.answer(done, action === 'approve' ? 'They can see it now.' : 'Declined.');
}

export function addRequestCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Share');
  const REQUEST = ['<id>', 'as "easel requests list" shows it'] as const;
  const group = program
    .command('requests')
    .summary('requests for access')
    .description('Requests for access: those that wait for you, and your own.');
  group
    .command('list')
    .summary('list what waits for you')
    .description('Lists the requests for your artifacts, and for those of workspaces that you run, newest first.')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel requests list')
    .action(async (options, command) => list(await open(command), options));
  group
    .command('approve')
    .summary('let somebody see it')
    .description('Approves a request: who has asked becomes a viewer and is told by mail.')
    .argument(...REQUEST)
    .addHelpText('after', '\nExample:\n  easel requests approve req_h6b2crpyfk3vq7m2xw5tz4nd')
    .action(async (id, _options, command) => decide(await open(command), id, 'approve'));
  group
    .command('deny')
    .summary('decline')
    .description('Denies a request; who has asked is told by mail.')
    .argument(...REQUEST)
    .addHelpText('after', '\nExample:\n  easel requests deny req_h6b2crpyfk3vq7m2xw5tz4nd')
    .action(async (id, _options, command) => decide(await open(command), id, 'deny'));
  group
    .command('ask')
    .summary('ask for access')
    .description('Asks the owner of a page to let you see it.')
    .argument('<artifact>', 'slug or id')
    .option('--message <text>', 'words for the owner')
    .addHelpText('after', '\nExample:\n  easel requests ask their-page --message "May I see it?"')
    .action(async (artifact, options, command) => ask(await open(command), artifact, options));
  group
    .command('sent')
    .summary('list what you have asked for')
    .description('Lists your own requests and what became of them, newest first.')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel requests sent')
    .action(async (options, command) => sent(await open(command), options));
}
