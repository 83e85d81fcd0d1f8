/** sessions, end-session, link. */
import type { Command } from 'commander';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

async function list(session: Session, { limit }: { limit: number }): Promise<void> {
  const { signal } = session.shell;
  const { items: sessions, hasMore } = await collect(limit, async (query) => {
    const { body } = await session.api.sessions.list({ query, signal });
    return { items: body.sessions, next: body.next_cursor };
  });
  const rows = sessions.map(({ id, device, address, last_used_at }) => [id, device, address, timeText(last_used_at)]);
  const text = rows.length === 0 ? 'No browser is signed in.' : tableText(['ID', 'DEVICE', 'ADDRESS', 'LAST USED'], rows);
  session.answer({ sessions, has_more: hasMore }, text);
  if (hasMore) session.remark(`There are more: easel sessions --limit ${limit * 2}`);
}

async function end(session: Session, id: string | undefined, options: { all?: boolean }): Promise<void> {
  if ((id === undefined) === (options.all !== true)) {
    throw new CliFailure('usage', 'INVALID_USAGE', 'Give the id of one session, or --all.', '"easel sessions" lists them.');
  }
  const { signal } = session.shell;
  if (id === undefined) await session.api.sessions.revokeOthers({ signal });
  else await session.api.sessions.revoke({ params: { id }, signal });
  session.answer({ success: true }, id === undefined ? 'All browsers are signed out.' : 'That browser is signed out.');
}

async function link(session: Session, email: string | undefined, options: { code?: string }): Promise<void> {
  const { signal } = session.shell;
  if (email === undefined) {
    if (options.code !== undefined) throw new CliFailure('usage', 'INVALID_USAGE', '--code needs the address that it was mailed to.');
    const { body } = await session.api.linkedAccounts.list({ signal });
    const rows = body.accounts.map((one) => [one.primary ? '*' : '', one.id, one.provider ?? 'tokens only', one.email ?? '']);
    session.answer(body, tableText(['', 'ID', 'SIGN-IN', 'ADDRESS'], rows));
  } else if (options.code === undefined) {
    const { body } = await session.api.linkedAccounts.emailStart({ body: { email }, signal });
    session.answer(body, `A code was mailed to ${email}. Next: easel link ${email} --code <code>`);
  } else {
    const { body } = await session.api.linkedAccounts.emailVerify({ body: { email, code: options.code }, signal });
    session.answer(body, `${body.email} signs in to this account now, in any browser at ${session.url}.`);
  }
}

export function addSessionCommands(program: Command, open: OpenSession): void {
  program
    .command('sessions')
    .summary('list the browsers that are signed in')
    .description('Lists the browsers that are signed in to your account, the newest first.')
    .addOption(limitOption())
    .addHelpText('after', '\nExamples:\n  easel sessions\n  easel sessions --json')
    .action(async (options, command) => list(await open(command), options));
  program
    .command('end-session')
    .argument('[id]', 'the session')
    .summary('sign a browser out')
    .description('Signs a browser out at once, or all of them with --all. Tokens stay valid.')
    .option('--all', 'all browsers')
    .addHelpText('after', '\nExamples:\n  easel end-session ses_yfk3vq7m2xw5tz4ndh6b2crp\n  easel end-session --all')
    .action(async (id, options, command) => end(await open(command), id, options));
  program
    .command('link')
    .argument('[address]', 'an e-mail address of yours')
    .summary('add an e-mail address to an account that only has tokens')
    .description(
      'Mails a code to the address; with --code the address becomes a way to sign in, and if it has an account already, both become one person. Without an address it lists the linked accounts. Other sign-ins are linked in the browser.',
    )
    .option('--code <code>', 'the code of the mail')
    .addHelpText('after', '\nExamples:\n  easel link\n  easel link ada@example.com\n  easel link ada@example.com --code 804116')
    .action(async (email, options, command) => link(await open(command), email, options));
}
