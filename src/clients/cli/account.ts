/** login, logout, accounts, whoami, usage. */
import type { Command } from 'commander';
import type { Client } from '../sdk/client.ts';
import { ApiError } from '../sdk/client.ts';
import { deviceLogin } from './device-login.ts';
import { CliFailure } from './failures.ts';
import { accountText, forgetTokens, keepSignIn, readAccounts } from './kept-accounts.ts';
import { readSaved } from './saved.ts';
import type { OpenSession, Session } from './session.ts';
import { readText } from './standard-input.ts';
import { bytesText, countText, tableText } from './text.ts';

async function me(api: Client, signal: AbortSignal) {
  return (await api.accounts.me({ signal })).body;
}
type Me = Awaited<ReturnType<typeof me>>;

/** Whom a token speaks for: an account, or an agent of a workspace. */
function speakerOf({ user, token: { agent } }: Me): { readonly id: string; readonly name: string | null } {
  if (user !== null) return { id: user.id, name: user.name ?? user.username ?? user.email };
  return { id: agent?.id ?? '', name: agent?.name ?? null };
}

function whoText(session: Session, who: Me): string {
  const { id, name } = speakerOf(who);
  const workspace = who.user === null ? `, agent of ${who.workspaces[0]?.name}` : '';
  return `${name ? `${name} (${id})` : id} at ${session.url}${workspace}, tier ${who.tier}`;
}

function report(session: Session, who: Me, more: Readonly<Record<string, unknown>> = {}) {
  return { server: session.url, user: who.user, token: who.token, tier: who.tier, workspaces: who.workspaces, ...more };
}

async function keep(session: Session, token: string, created: boolean): Promise<void> {
  const who = await me(session.apiFor(token), session.shell.signal);
  const { id } = speakerOf(who);
  const name = who.user?.username ?? who.user?.email ?? id;
  const others = await keepSignIn(session.files, { server: session.url, user_id: id, name, token });
  const lines = [`${created ? 'Created an account and signed in' : 'Signed in'}: ${whoText(session, who)}.`];
  lines.push(`The token is saved in ${session.files.credentials}.`);
  if (others.length > 0)
    lines.push(`${countText(others.length, 'other account')} saved in ${session.files.accounts}: "easel accounts" lists them.`);
  if (session.tokenFrom === 'EASEL_TOKEN') lines.push('EASEL_TOKEN is set and takes precedence: unset it to use the saved token.');
  if (created) lines.push('It is the only key to this account: keep a copy. Next: easel publish my-folder');
  session.answer(report(session, who, { created, credentials: session.files.credentials }), lines.join('\n'));
}

/** The account of the current token, or undefined if the token is missing or no longer valid. */
async function present(session: Session): Promise<Me | undefined> {
  if (session.token === undefined) return undefined;
  return me(session.api, session.shell.signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) return undefined;
    throw error;
  });
}

interface LoginOptions {
  readonly token?: string;
  readonly new?: boolean;
  readonly headless?: boolean;
  readonly email?: string;
  /** False with --no-browser. */
  readonly browser: boolean;
}

async function login(session: Session, options: LoginOptions): Promise<void> {
  if (options.headless && options.token !== undefined) {
    throw new CliFailure('usage', 'INVALID_USAGE', '--headless makes a new account and cannot be combined with --token.');
  }
  if (session.account !== undefined) {
    if (options.token === undefined && !options.new && !options.headless) return keep(session, session.account.token, false);
    throw new CliFailure('usage', 'INVALID_USAGE', '--account cannot be combined with --token, --new or --headless.');
  }
  if (options.token !== undefined) {
    const token = (options.token === '-' ? await readText(session.shell.stdin) : options.token).trim();
    if (!/^sot?_/.test(token))
      throw new CliFailure('usage', 'INVALID_TOKEN', 'The text given as --token is not a token.', 'A token begins with so_ or sot_.');
    return keep(session, token, false);
  }
  const who = options.new ? undefined : await present(session);
  if (who) {
    session.answer(report(session, who, { created: false }), `Already signed in: ${whoText(session, who)}.`);
    return;
  }
  if (options.headless) {
    const made = await session.apiFor(undefined).accounts.create({ signal: session.shell.signal });
    return keep(session, made.body.token, true);
  }
  const { token, warn } = await deviceLogin(session, { email: options.email, opensBrowser: options.browser });
  if (warn !== undefined) session.remark(`Note: ${warn}`);
  return keep(session, token, false);
}

async function logout(session: Session, options: { yes?: boolean; all?: boolean; revoke?: boolean }): Promise<void> {
  const kept = await readAccounts(session.files, session.url);
  if (options.all && !options.yes) {
    throw new CliFailure(
      'usage',
      'CONFIRM',
      `This deletes the tokens of ${countText(kept.length, 'account')} on this machine.`,
      'Add --yes. "easel accounts" lists them.',
    );
  }
  const isKept = session.tokenFrom === 'credentials file' || session.tokenFrom === 'accounts file';
  const who = isKept && !options.yes ? await present(session) : undefined;
  if (who?.user?.email === null) {
    throw new CliFailure(
      'usage',
      'ONLY_KEY',
      'The token is the only key to this account, which has no e-mail address. Signing out would delete it from this machine.',
      'Keep a copy ("easel whoami --show-token"), then run "easel logout --yes".',
    );
  }
  if (options.revoke && options.all)
    throw new CliFailure('usage', 'INVALID_USAGE', '--revoke ends one token and cannot be combined with --all.');
  if (options.revoke && isKept) await revokeOwn(session);
  const one = isKept ? session.token : (await readSaved(session.files)).token;
  const forgotten = options.all ? kept.map(({ token }) => token) : one === undefined ? [] : [one];
  const left = await forgetTokens(session.files, session.url, forgotten);
  const lines = [`Signed out.${session.tokenFrom === 'EASEL_TOKEN' ? ' EASEL_TOKEN is still set.' : ''}`];
  const [next] = left;
  if (next !== undefined) lines.push(`Still saved: ${left.map(accountText).join(', ')}. To use one: easel login --account ${next.name}`);
  session.answer({ success: true, credentials: session.files.credentials, kept: left.map(accountText) }, lines.join('\n'));
}

/** Ends the session's token on the server. A token that counts no more is as good as revoked. */
async function revokeOwn({ api, shell: { signal } }: Session): Promise<void> {
  try {
    for (let cursor: string | undefined, more = true; more; ) {
      const { body } = await api.tokens.list({ query: { limit: 100, cursor }, signal });
      const own = body.tokens.find(({ current }) => current);
      if (own !== undefined) return void (await api.tokens.revoke({ params: { id: own.id }, signal }));
      cursor = body.next_cursor ?? undefined;
      more = body.has_more;
    }
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  }
}

async function accounts(session: Session): Promise<void> {
  const { token } = await readSaved(session.files);
  const kept = (await readAccounts(session.files, session.url)).map((each) => ({ ...each, present: each.token === token }));
  const rows = kept.map(({ name, server, user_id, present: isPresent }) => [isPresent ? '*' : '', name, server, user_id ?? '']);
  const text =
    rows.length === 0 ? 'No account is saved on this machine. Begin with: easel login' : tableText(['', 'NAME', 'SERVER', 'ID'], rows);
  // The tokens are left out, because output often ends up in logs.
  const document = kept.map(({ name, server, user_id, present: isPresent }) => ({ name, server, user_id, present: isPresent }));
  session.answer({ accounts: document, file: session.files.accounts }, text);
}

function tokenSource({ tokenFrom, files }: Session): string {
  if (tokenFrom === 'EASEL_TOKEN') return tokenFrom;
  return tokenFrom === 'accounts file' ? files.accounts : files.credentials;
}

async function whoami(session: Session, options: { showToken?: boolean }): Promise<void> {
  const who = await me(session.api, session.shell.signal);
  const secret = options.showToken ? { secret: session.token } : {};
  const lines = [whoText(session, who), `Token: ${who.token.kind}, from ${tokenSource(session)}`];
  if (options.showToken) lines.push(session.token ?? '');
  session.answer(report(session, who, secret), lines.join('\n'));
}

async function usage(session: Session): Promise<void> {
  const account = (await session.api.accounts.account({ signal: session.shell.signal })).body;
  const { bytes, bytes_max, artifacts, artifacts_max } = account.usage;
  const lines = [
    `Stored: ${bytesText(bytes)} of ${bytesText(bytes_max)} (${percentText(bytes, bytes_max)})`,
    `Pages:  ${artifacts} of ${artifacts_max}, the trash included`,
    `Tier:   ${account.tier}`,
  ];
  session.answer(account, lines.join('\n'));
  // Deleting is the remedy, and this is where people look when something did not fit.
  if (bytes * 10 >= bytes_max * 9)
    session.remark('Nearly full: "easel versions" lists drafts and old versions, "easel delete-version" deletes them.');
}

function percentText(part: number, whole: number): string {
  const percent = (100 * part) / whole;
  return percent > 0 && percent < 1 ? 'under 1 %' : `${Math.round(percent)} %`;
}

export function addAccountCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Account');
  program
    .command('login')
    .summary('sign in with the browser')
    .description(
      'Signs in, unless you are signed in already. It opens the browser, or prints an address and a code that you approve in a browser on any machine. Earlier accounts stay saved; --account switches back to one.',
    )
    .option('--headless', 'create an account without an e-mail address, for machines that nobody sits at')
    .option('--token <so_…>', 'sign in with this token; "-" reads it from standard input')
    .option('--email <address>', 'the address that is expected to sign in')
    .option('--no-browser', 'print the address and the code, and open nothing')
    .option('--new', 'sign in to another account even if you are signed in')
    .addHelpText(
      'after',
      '\nExamples:\n  easel login\n  easel login --url https://easel.example.com --email ada@example.com\n  easel login --headless\n  easel login --token - < token.txt\n  easel login --account ada',
    )
    .action(async (options, command) => login(await open(command), options));
  program
    .command('logout')
    .summary('delete the token from this machine')
    .description(
      'Deletes the token of the current account, or of --account, from this machine. Other accounts stay saved. The token itself stays valid unless you add --revoke.',
    )
    .option('--all', 'delete the tokens of all accounts')
    .option('--revoke', 'end the token on the server too')
    .option('--yes', 'confirm, even if the token is the only key to the account')
    .addHelpText('after', '\nExamples:\n  easel logout\n  easel logout --account ada\n  easel logout --all --yes')
    .action(async (options, command) => logout(await open(command), options));
  program
    .command('accounts')
    .summary('list the accounts saved on this machine')
    .description('Lists the accounts saved on this machine; * marks the current one. Every command takes --account to use another one.')
    .addHelpText('after', '\nExamples:\n  easel accounts\n  easel ls --account ada\n  easel login --account ada@easel.example.com')
    .action(async (_options, command) => accounts(await open(command)));
  program
    .command('whoami')
    .summary('show who you are and on which server')
    .description('Shows the account, its tier and the server.')
    .option('--show-token', 'also print the token')
    .addHelpText('after', '\nExamples:\n  easel whoami\n  easel whoami --json')
    .action(async (options, command) => whoami(await open(command), options));
  program
    .command('usage')
    .summary('show how much you store and how much you may')
    .description(
      'Shows how many bytes and pages the account has, and how many it may have. Drafts, old versions, blobs and unfinished uploads count; what is in the trash counts until it is purged.',
    )
    .addHelpText('after', '\nExamples:\n  easel usage\n  easel usage --json')
    .action(async (_options, command) => usage(await open(command)));
}
